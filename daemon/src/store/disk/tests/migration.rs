//! Homes of older versions, of newer ones, and those that were being migrated when the daemon was killed.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::super::{
    home::Home,
    migrate::{Migration, Stage, find_old},
};
use crate::store::{
    LogName, Progress, Rows as _, Store as _, StoreError,
    header::LOG_VERSION,
    tests::support::{OnDisk, Subject as _, all_rows, copy, events, log_path, open, put, thread, within},
};

/// A home as the first version left it, without its index: real bytes of that daemon.
fn first_version() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/home-v1"), home.path());
    home
}

/// Every file below a directory.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut directories) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Facts and events of every record of a log that a line of text holds, as they are written.
fn told(lines: &[u8]) -> Vec<String> {
    let lines = std::str::from_utf8(lines).unwrap().lines().skip(1);
    lines
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            serde_json::json!([line["n"], line["at"], line.get("op"), line.get("facts"), line.get("events")])
                .to_string()
        })
        .collect()
}

/// The same of a log that a store reads.
async fn read(disk: &OnDisk, log: &LogName) -> Vec<String> {
    let (mut told, mut from) = (Vec::new(), 1);
    if *log == LogName::Daemon {
        let text = fs::read(disk.log_path(log)).unwrap();
        return self::told(&text);
    }
    loop {
        let records = within(disk.store.read(log, from, 1)).await.unwrap();
        let Some(record) = records.first() else { return told };
        let line = serde_json::to_value(&**record).unwrap();
        let of = [&line["n"], &line["at"]].map(Clone::clone).to_vec();
        let rest = ["op", "facts", "events"].map(|name| serde_json::json!(line.get(name)));
        told.push(serde_json::Value::from([of, rest.to_vec()].concat()).to_string());
        from = record.next_seq();
    }
}

fn logs_of(home: &Path) -> Vec<LogName> {
    let found = Home::lay_out(home).unwrap().find_logs().unwrap();
    found.into_iter().map(|found| found.log).collect()
}

/// Opens a home of the first version and holds it against the original.
async fn reads_the_same(home: TempDir) -> OnDisk {
    let original = first_version();
    let disk = OnDisk::open(home);
    for log in logs_of(original.path()) {
        let (was, is) = (log_path(original.path(), &log), disk.log_path(&log));
        let header = fs::read_to_string(is).unwrap().lines().next().unwrap().to_owned();
        assert!(header.contains(&format!("\"version\":{LOG_VERSION}")), "{header}");
        if log != LogName::Daemon {
            let (was, is) = (told(&fs::read(&was).unwrap()), read(&disk, &log).await);
            let normal =
                |records: &[String]| records.iter().map(|record| record.replace("null", "[]")).collect::<Vec<_>>();
            assert_eq!(normal(&is), normal(&was));
        }
        let kept = disk.home.path().join("backup/format-1").join(was.strip_prefix(original.path()).unwrap());
        assert_eq!(fs::read(kept).unwrap(), fs::read(was).unwrap(), "it is kept as it was");
    }
    let fresh = OnDisk::open({
        let image = disk.image();
        fs::remove_dir_all(image.path().join("index")).unwrap();
        image
    });
    assert_eq!(all_rows(&disk.store), all_rows(&fresh.store), "the index follows from the new logs");
    disk
}

#[tokio::test]
async fn k35_a_home_of_the_first_version_is_migrated_after_a_backup_and_reads_the_same() {
    let disk = reads_the_same(first_version()).await;
    let notices = disk.store.notices();
    assert!(notices.iter().any(|notice| notice.starts_with("3 logs were brought to format version ")), "{notices:?}");
    let again = OnDisk::open(disk.image());
    assert!(again.store.notices().is_empty(), "once is enough: {:?}", again.store.notices());
    let log = logs_of(disk.home.path()).pop().unwrap();
    let next = within(disk.store.read(&log, 1, usize::MAX)).await.unwrap().last().unwrap().next_seq();
    put(&disk.store, &log, next, &["more"]).await.unwrap();
    assert_eq!(events(&disk.store, &log, next).await, ["more"]);
}

#[tokio::test]
async fn k35_a_migration_that_is_killed_at_any_moment_leaves_old_or_new_and_goes_on() {
    let (home, images) = (first_version(), RefCell::new(Vec::new()));
    {
        let home = Home::lay_out(home.path()).unwrap();
        let mut logs = home.find_logs().unwrap();
        let old = find_old(&home, logs.iter().enumerate()).unwrap();
        let reached = |stage: Stage| {
            let image = tempfile::tempdir().unwrap();
            copy(home.root(), image.path());
            images.borrow_mut().push((stage, image));
            Ok(())
        };
        let migration =
            Migration { home: &home, known: &HashMap::new(), progress: &Progress::default(), reached: &reached };
        assert_eq!(migration.run(&old, &mut logs, &mut Vec::new()).unwrap(), 3);
    }
    assert_eq!(images.borrow().len(), 3 * 5);
    for (stage, image) in images.into_inner() {
        for (path, bytes) in files(&image.path().join("logs")) {
            let whole = bytes.ends_with(b"\n") || path.to_string_lossy().ends_with(".new");
            assert!(whole, "{stage:?}: {}", path.display());
        }
        let disk = reads_the_same(image).await;
        let left = files(&disk.home.path().join("logs"));
        assert!(left.keys().all(|path| path.extension().is_some_and(|ending| ending == "jsonl")), "{stage:?}");
    }
}

#[tokio::test]
async fn k38_a_disk_that_is_full_ends_a_migration_with_its_cause_and_every_log_whole() {
    for full_at in [Stage::Begun, Stage::Kept, Stage::Written, Stage::Synced] {
        let place = first_version();
        let home = Home::lay_out(place.path()).unwrap();
        let mut logs = home.find_logs().unwrap();
        let old = find_old(&home, logs.iter().enumerate()).unwrap();
        let reached = |stage| if stage == full_at { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) };
        let migration =
            Migration { home: &home, known: &HashMap::new(), progress: &Progress::default(), reached: &reached };
        let failed = migration.run(&old, &mut logs, &mut Vec::new()).unwrap_err();
        assert!(matches!(failed, StoreError::File { full: true, .. }), "{failed:?}");
        assert_eq!(files(&place.path().join("logs")), files(&first_version().path().join("logs")), "{full_at:?}");
        reads_the_same(place).await;
    }
}

#[tokio::test]
async fn k35_a_damaged_log_of_an_older_version_stays_as_it_is_and_is_named() {
    let home = first_version();
    let log = logs_of(home.path()).pop().unwrap();
    let path = log_path(home.path(), &log);
    let mut bytes = fs::read(&path).unwrap();
    let (all, third) =
        (told(&bytes).len(), bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(3).unwrap().0);
    bytes[third - 30] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut disk = OnDisk::open(home);
    assert!(
        disk.store.notices().iter().any(|notice| notice.contains("was not brought to")),
        "{:?}",
        disk.store.notices()
    );
    for _ in 0..2 {
        let good = within(disk.store.read(&log, 1, usize::MAX)).await.unwrap();
        assert!(!good.is_empty() && good.len() < all, "{} of {all}", good.len());
        let next = good.last().unwrap().next_seq();
        let refused = put(&disk.store, &log, next, &["x"]).await;
        assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
        assert_eq!(fs::read(disk.log_path(&log)).unwrap(), bytes);
        disk = OnDisk::open(disk.image());
    }
}

#[tokio::test]
async fn k35_what_was_torn_off_an_older_log_is_in_its_backup() {
    let home = first_version();
    let log = logs_of(home.path()).pop().unwrap();
    let path = log_path(home.path(), &log);
    let mut torn = fs::read(&path).unwrap();
    let whole = told(&torn).len();
    torn.extend_from_slice(b"{\"n\":99,\"at\":");
    fs::write(&path, &torn).unwrap();
    let inside = path.strip_prefix(home.path()).unwrap().to_owned();
    let disk = OnDisk::open(home);
    assert_eq!(within(disk.store.read(&log, 1, usize::MAX)).await.unwrap().len(), whole);
    assert_eq!(fs::read(disk.home.path().join("backup/format-1").join(inside)).unwrap(), torn);
}

/// Three records under an index that knows them, as an older daemon left them: of the same length, with another header.
async fn as_of_the_first_version() -> (TempDir, LogName) {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    for n in 1..=3 {
        put(&disk.store, &log, n, &[&n.to_string()]).await.unwrap();
    }
    within(disk.store.flush()).await.unwrap();
    let home = disk.image();
    let path = log_path(home.path(), &log);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(&format!("\"version\":{LOG_VERSION}"), "\"version\":1", 1)).unwrap();
    (home, log)
}

#[tokio::test]
async fn k35_an_index_that_knew_the_older_log_does_not_mistake_the_new_one_for_it() {
    let (home, log) = as_of_the_first_version().await;
    fs::remove_file(home.path().join("format")).unwrap();
    let disk = OnDisk::open(home);
    assert_eq!(events(&disk.store, &log, 1).await, ["1", "2", "3"]);
    put(&disk.store, &log, 4, &["4"]).await.unwrap();
    assert_eq!(events(&OnDisk::open(disk.image()).store, &log, 1).await, ["1", "2", "3", "4"]);
}

#[tokio::test]
async fn k35_an_older_log_that_is_put_into_a_home_of_this_version_is_migrated_too() {
    let (home, log) = as_of_the_first_version().await;
    let path = log_path(home.path(), &log);
    let disk = OnDisk::new();
    put(&disk.store, &thread("bb02"), 1, &["b"]).await.unwrap();
    within(disk.store.flush()).await.unwrap();
    let current = disk.image();
    fs::create_dir_all(log_path(current.path(), &log).parent().unwrap()).unwrap();
    fs::copy(path, log_path(current.path(), &log)).unwrap();
    let disk = OnDisk::open(current);
    assert!(
        disk.store.notices().iter().any(|notice| notice.starts_with("1 logs were brought")),
        "{:?}",
        disk.store.notices()
    );
    assert_eq!(events(&disk.store, &log, 1).await, ["1", "2", "3"]);
    assert_eq!(events(&disk.store, &thread("bb02"), 1).await, ["b"]);
    put(&disk.store, &log, 4, &["4"]).await.unwrap();
}

#[tokio::test]
async fn k35_a_home_of_a_newer_version_is_refused_by_name_before_anything_is_written() {
    let disk = OnDisk::new();
    put(&disk.store, &LogName::Daemon, 1, &["a"]).await.unwrap();
    put(&disk.store, &thread("aa01"), 1, &["a"]).await.unwrap();
    let said = format!("format version 9, and this build knows up to {LOG_VERSION}");

    let home = disk.image();
    fs::write(home.path().join("format"), br#"{"format":"ropewalk-home","version":9}"#).unwrap();
    fs::remove_dir_all(home.path().join("lost")).unwrap();
    let before = files(home.path());
    let refused = open(home.path()).unwrap_err().to_string();
    assert_eq!(refused, format!("the home {} has {said}", home.path().display()));
    assert_eq!(files(home.path()), before);
    assert!(!home.path().join("lost").exists());

    for log in [LogName::Daemon, thread("aa01")] {
        let home = disk.image();
        fs::remove_file(home.path().join("format")).unwrap();
        let path = log_path(home.path(), &log);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(&format!("\"version\":{LOG_VERSION}"), "\"version\":9", 1)).unwrap();
        let before = files(home.path());
        assert_eq!(open(home.path()).unwrap_err().to_string(), format!("the log {log} has {said}"));
        assert_eq!(files(home.path()), before);
    }
}

#[tokio::test]
async fn a_home_whose_format_is_noise_is_known_by_its_logs() {
    let disk = OnDisk::new();
    put(&disk.store, &thread("aa01"), 1, &["a"]).await.unwrap();
    let home = disk.image();
    fs::write(home.path().join("format"), b"noise").unwrap();
    let disk = OnDisk::open(home);
    assert_eq!(events(&disk.store, &thread("aa01"), 1).await, ["a"]);
    let said = fs::read_to_string(disk.home.path().join("format")).unwrap();
    assert_eq!(said, format!(r#"{{"format":"ropewalk-home","version":{LOG_VERSION}}}"#));
    assert!(disk.store.get(&crate::store::Key::of(&["count"])).is_ok());
}
