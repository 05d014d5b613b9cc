//! Both stores under the same random commands, compared after each.

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

use super::support::{InMemory, OnDisk, Subject, all_rows, commit_of, record, thread, within};
use crate::store::{FailPoint, LogName, Store};

const LOGS: [&str; 3] = ["aa01", "aa02", "ab01"];

#[tokio::test]
async fn both_stores_do_the_same_under_random_commands() {
    for seed in 0..6 {
        run(seed).await;
    }
}

async fn run(seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut memory, mut disk) = (InMemory::new(), OnDisk::new());
    let mut next = [1_u64; 4];
    for step in 0..120 {
        let at = random.random_range(0..4);
        let log = LOGS.get(at).map_or(LogName::Daemon, |id| thread(id));
        match random.random_range(0..20) {
            0 => (memory, disk) = (memory.crash(), disk.crash()),
            1 => (memory, disk) = (memory.crash_without_index(), disk.crash_without_index()),
            2 => {
                use FailPoint::{Append, Blob, Full, FullButForReserve, Index, Sync};
                let points = [Append, Sync, Full, FullButForReserve, Index, Blob];
                let point = points[random.random_range(0..points.len())];
                memory.fail_next(point);
                disk.fail_next(point);
            }
            3..6 => {
                let from = random.random_range(1..=next[at] + 1);
                let bound = random.random_range(1..60_000);
                let both = (read(memory.store(), &log, from, bound).await, read(disk.store(), &log, from, bound).await);
                assert_eq!(both.0, both.1, "seed {seed}, step {step}, from {from}, bound {bound}");
            }
            _ => {
                let text = "yz".repeat(random.random_range(0..24) * 500);
                let events = vec![text.as_str(); random.random_range(0..3)];
                let records = vec![record(next[at], &events)];
                let committed = within(memory.store().commit(commit_of(memory.store(), &log, records.clone()))).await;
                let on_disk = within(disk.store().commit(commit_of(disk.store(), &log, records))).await;
                assert_eq!(committed.is_ok(), on_disk.is_ok(), "seed {seed}, step {step}: {committed:?}, {on_disk:?}");
                if committed.is_ok() {
                    next[at] += events.len() as u64;
                }
            }
        }
        assert_eq!(rows(memory.store()), rows(disk.store()), "seed {seed}, step {step}");
    }
}

/// The rows with values short enough to be read when a comparison fails.
fn rows(store: &dyn Store) -> Vec<(String, usize, u32)> {
    let short = |(key, value): (crate::store::Key, Vec<u8>)| {
        (String::from_utf8_lossy(&key.0).into_owned(), value.len(), crc32c::crc32c(&value))
    };
    all_rows(store).into_iter().map(short).collect()
}

async fn read(store: &dyn Store, log: &LogName, from: u64, bound: usize) -> Vec<(u64, Vec<String>)> {
    let records = within(store.read(log, from, bound)).await.unwrap();
    let texts = |record: &crate::store::Record| record.events.iter().map(|event| event.get().to_owned()).collect();
    records.iter().map(|record| (record.n, texts(record))).collect()
}
