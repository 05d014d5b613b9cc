//! Figures from repeated measurements.

use std::{
    io,
    time::{Duration, Instant},
};

/// How often floor and figure are measured in turns.
pub(crate) const ROUNDS: usize = 9;

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Microseconds.
pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Microseconds that each of `count` took since `since`.
pub(crate) fn micros_each(since: Instant, count: usize) -> f64 {
    micros(since.elapsed()) / count as f64
}

/// How often something that is written to disk is measured in turns with its floor: the disk of a busy machine is far
/// from even, so the turns are short and many.
pub(crate) const DISK_ROUNDS: usize = 120;

/// Medians of a figure and its floor.
#[derive(Default)]
pub(crate) struct Pair {
    figures: Vec<f64>,
    floors: Vec<f64>,
}

impl Pair {
    pub(crate) fn add(&mut self, figure: f64, floor: f64) {
        self.figures.push(figure);
        self.floors.push(floor);
    }

    pub(crate) fn figure(&self) -> f64 {
        median(self.figures.clone())
    }

    pub(crate) fn floor(&self) -> f64 {
        median(self.floors.clone())
    }
}

/// What `work` does for every number below `count`, all at once; how many of them were done each second.
pub(crate) async fn rate<W, F>(count: usize, each: usize, work: W) -> io::Result<f64>
where
    W: Fn(usize) -> F,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let since = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..count {
        tasks.spawn(work(number));
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(io::Error::other)??;
    }
    Ok((count * each) as f64 / since.elapsed().as_secs_f64())
}
