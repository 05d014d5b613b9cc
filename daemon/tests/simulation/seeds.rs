//! Running seeds: a few or thousands of them, on all cores, and saying how to repeat one that fails.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, Once,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use crate::{
    actions::{self, BETWEEN_LOGS},
    world::World,
};

/// Things that happen in a seed.
const STEPS: usize = 110;
/// Seeds from here on crash between two logs.
const BETWEEN_LOGS_FROM: u64 = 1_000_000;

/// What a seed is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whatever happens.
    Anything,
    /// The same, with a crash between two logs of one operation in the middle.
    BetweenLogs,
}

/// Seeds to run.
pub(crate) struct Seeds {
    pub(crate) kind: Kind,
    pub(crate) first: u64,
    /// How many, mostly.
    pub(crate) in_ci: u64,
    /// How many with `SLOW=1`.
    pub(crate) in_long: u64,
}

/// What came of seeds.
#[derive(Clone, Copy, Default)]
struct Came {
    crashes: u64,
    crashes_between: u64,
}

thread_local! {
    /// What has panicked on this thread, where a seed is run; a caught panic is one as well.
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

impl Seeds {
    /// Runs them; `SEEDS=n` says how many. `SEED=n` runs that one alone, in the test whose seeds it is among.
    #[allow(clippy::print_stderr, reason = "how many and how fast is what a long run is for")]
    pub(crate) fn run(&self) {
        let one = std::env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
        let is_long = std::env::var_os("SLOW").is_some();
        let asked = std::env::var("SEEDS").ok().map(|count| count.parse().expect("SEEDS is a number"));
        let count = asked.unwrap_or(if is_long { self.in_long } else { self.in_ci });
        let seeds = match one {
            Some(seed) if kind(seed) == self.kind => seed..seed + 1,
            Some(_) => return,
            None => self.first..self.first + count,
        };
        let (next, failed, came) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()), Mutex::new(Came::default()));
        let began = Instant::now();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| {
                    while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds.end) {
                        match play(seed) {
                            Ok((more, _)) => came.lock().unwrap().add(more),
                            Err(why) => failed.lock().unwrap().push(why),
                        }
                        if failed.lock().unwrap().len() >= 3 {
                            return;
                        }
                    }
                });
            }
        });
        let failed = failed.into_inner().unwrap();
        assert!(failed.is_empty(), "{}", failed.join("\n\n"));
        let Came { crashes, crashes_between } = came.into_inner().unwrap();
        let (count, took) = (seeds.end - seeds.start, began.elapsed());
        eprintln!("{count} seeds in {took:.1?}: {crashes} crashes, {crashes_between} of them between two logs");
        let expected = if self.kind == Kind::BetweenLogs { count } else { 0 };
        assert!(crashes_between >= expected, "each of these seeds crashes between two logs");
    }
}

impl Came {
    fn add(&mut self, more: Self) {
        self.crashes += more.crashes;
        self.crashes_between += more.crashes_between;
    }
}

/// The digest of everything that happens in a seed.
pub(crate) fn digest(seed: u64) -> u32 {
    play(seed).unwrap_or_else(|why| panic!("{why}")).1
}

fn kind(seed: u64) -> Kind {
    if seed < BETWEEN_LOGS_FROM { Kind::Anything } else { Kind::BetweenLogs }
}

/// Runs a seed; how it failed, and how to repeat that.
fn play(seed: u64) -> Result<(Came, u32), String> {
    hear_panics();
    PANICS.set(Some(Vec::new()));
    let mut trace = String::new();
    let played = catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new(seed);
        let ended = catch_unwind(AssertUnwindSafe(|| live(&mut world, kind(seed))));
        trace = world.trace.end();
        let came = Came { crashes: world.crashes.into(), crashes_between: world.crashes_between.into() };
        let digest = world.trace.digest();
        // Not while another panic goes on: what a daemon does at its end is no part of the failure.
        drop(world);
        ended.map(|()| (came, digest))
    }));
    let panics = PANICS.take().unwrap_or_default();
    match played {
        Ok(Ok(came)) if panics.is_empty() => Ok(came),
        _ => {
            let name = if kind(seed) == Kind::Anything { "whatever_happens" } else { "between_two_logs" };
            let repeat = format!("SEED={seed} cargo test -p ropewalk-daemon --test simulation {name}");
            Err(format!(
                "seed {seed} failed:\n{}\n\nrepeat it with\n    {repeat}\n\nwhat happened last {trace}",
                panics.join("\n")
            ))
        }
    }
}

fn live(world: &mut World, kind: Kind) {
    let drill_at = (kind == Kind::BetweenLogs).then(|| world.below(STEPS / 2));
    for begin in actions::BEGINNING {
        begin(world);
    }
    for step in 0..STEPS {
        let (name, action) = match drill_at {
            Some(at) if step == at => world.choose(BETWEEN_LOGS).unwrap(),
            _ => actions::next(world),
        };
        world.trace.note(&format!("-- {step}: {name}"));
        action(world);
        match world.below(10) {
            0..=1 => {}
            2..=5 => {
                let turns = world.below(60);
                world.turns(u32::try_from(turns).unwrap());
            }
            _ => world.settle(),
        }
        let is_buried = world.bury();
        if is_buried || step % 25 == 24 {
            world.audit(is_buried);
            world.bury();
        }
    }
    world.finish();
}

/// Has every panic noted on the thread it comes from, where a seed is run there.
fn hear_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let other = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let is_noted = PANICS.with_borrow_mut(|panics| match panics {
                Some(panics) => {
                    panics.push(info.to_string());
                    true
                }
                None => false,
            });
            if !is_noted {
                other(info);
            }
        }));
    });
}
