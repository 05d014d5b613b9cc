//! The files of payloads: modes, races, what a crash or a bad disk leaves of them, and logs of the version before them.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    sync::{Arc, Barrier},
};

use super::super::blobs::Keeper;
use crate::store::{
    Store as _, StoreError,
    blobs::blob_id,
    tests::support::{OnDisk, Subject as _, blob_path, events, put, thread, within},
};

fn long() -> String {
    "p".repeat(20_000)
}

#[tokio::test]
async fn a_payload_is_a_file_under_its_digest_that_nobody_else_can_read() {
    let disk = OnDisk::new();
    put(&disk.store, &thread("aa01"), 1, &[&long()]).await.unwrap();
    let path = blob_path(disk.home.path(), &blob_id(long().as_bytes()));
    assert_eq!(fs::read_to_string(&path).unwrap(), long());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let line = fs::read_to_string(disk.log_path(&thread("aa01"))).unwrap();
    assert!(line.len() < 1_000, "{line}");
}

#[tokio::test]
async fn a_payload_that_others_have_changed_is_lost_until_it_is_put_again() {
    for harm in [b"".as_slice(), &[b'q'; 20_000], &[b'p'; 19_999], &[b'p'; 30_000]] {
        let disk = OnDisk::new();
        let log = thread("aa01");
        put(&disk.store, &log, 1, &["a"]).await.unwrap();
        put(&disk.store, &log, 2, &[&long()]).await.unwrap();
        fs::write(blob_path(disk.home.path(), &blob_id(long().as_bytes())), harm).unwrap();
        let lost = within(disk.store.read(&log, 2, usize::MAX)).await;
        assert!(matches!(lost, Err(StoreError::Damaged { .. })), "{lost:?}");
        let said = disk.store.degraded().unwrap();
        assert!(said.starts_with("the log of thread aa01 is damaged at byte ") && said.contains("payload"), "{said}");
        put(&disk.store, &thread("aa02"), 1, &[&long()]).await.unwrap();
        assert_eq!(events(&disk.store, &thread("aa02"), 1).await, [long()], "the file is what it should be again");
        let again = OnDisk::open(disk.image());
        assert_eq!(events(&again.store, &log, 1).await, ["a".to_owned(), long()], "and a start finds all of it");
        assert_eq!(again.store.degraded(), None);
        put(&again.store, &log, 3, &["c"]).await.unwrap();
    }
}

#[tokio::test]
async fn while_a_log_is_damaged_no_payload_is_swept() {
    let disk = OnDisk::new();
    let (damaged, gone) = (thread("aa01"), thread("aa02"));
    for n in 1..=3 {
        put(&disk.store, &damaged, n, &[if n == 3 { "last" } else { "x" }]).await.unwrap();
    }
    put(&disk.store, &damaged, 4, &[&long()]).await.unwrap();
    put(&disk.store, &gone, 1, &["of the other alone, and long enough to be out of line: ", &"g".repeat(17_000)])
        .await
        .unwrap();
    disk.damage(&damaged, 2, 1);
    let disk = disk.crash_without_index();
    within(disk.store.release_blobs(&gone)).await.unwrap();
    let path = blob_path(disk.home.path(), &blob_id(long().as_bytes()));
    assert!(path.exists(), "the damaged log names it where nobody can read that");
}

#[tokio::test]
async fn what_a_killed_daemon_left_half_written_is_removed_by_the_next_start() {
    let disk = OnDisk::new();
    put(&disk.store, &thread("aa01"), 1, &[&long()]).await.unwrap();
    let home = disk.image();
    let orphan = blob_path(home.path(), &blob_id(b"orphan"));
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    let unfinished = orphan.with_extension("new");
    fs::write(&orphan, b"orphan").unwrap();
    fs::write(&unfinished, b"orp").unwrap();
    let disk = OnDisk::open(home);
    within(async {
        while orphan.exists() || unfinished.exists() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(blob_path(disk.home.path(), &blob_id(long().as_bytes())).exists());
}

#[test]
fn puts_and_removals_of_one_payload_at_once_leave_it_for_whoever_has_a_pin() {
    let home = tempfile::tempdir().unwrap();
    let keeper = Arc::new(Keeper::new(home.path().to_owned()));
    let id = blob_id(long().as_bytes());
    for _ in 0..50 {
        let together = Barrier::new(6);
        std::thread::scope(|scope| {
            for remover in [true, false, true, false, true, false] {
                let (together, keeper, id, root) = (&together, &keeper, &id, home.path());
                scope.spawn(move || {
                    together.wait();
                    if remover {
                        keeper.remove(id, || false).unwrap();
                    } else {
                        let _pin = keeper.put(long().as_bytes()).unwrap();
                        let read = super::super::blobs::read(root, id, 20_000);
                        assert_eq!(read.unwrap(), long().as_bytes());
                    }
                });
            }
        });
        keeper.remove(&id, || false).unwrap();
        assert!(keeper.all().unwrap().is_empty());
    }
}
