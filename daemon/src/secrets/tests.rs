//! Both places for secrets, and that nothing leaks out of them.

mod keyring;

use std::{fs, os::unix::fs::PermissionsExt as _};

use ropewalk_protocol::EndpointId;

use super::*;

const PLANTED: &str = "sk-planted-7f3a";

fn id() -> EndpointId {
    "endpoint-1".into()
}

fn keeps_secrets(secrets: &dyn Secrets, kind: SecretStore) {
    assert_eq!(secrets.get(&id()).unwrap(), None);
    assert!(!secrets.remove(&id()).unwrap());
    secrets.set(&id(), PLANTED).unwrap();
    secrets.set("endpoint-2", "other").unwrap();
    assert_eq!(secrets.get(&id()).unwrap().as_deref(), Some(PLANTED));
    assert_eq!(secrets.kind(), kind);
    assert_eq!(secrets.operation_key(), secrets.operation_key());
    assert_ne!(secrets.operation_key(), [0; 32]);
    assert!(!format!("{secrets:?}").contains(PLANTED));
    assert!(!format!("{secrets:?}").contains(&format!("{:?}", secrets.operation_key())));
    assert!(secrets.remove(&id()).unwrap());
    assert_eq!(secrets.get(&id()).unwrap(), None);
    assert_eq!(secrets.get("endpoint-2").unwrap().as_deref(), Some("other"));
}

#[test]
fn secrets_in_memory_are_kept() {
    keeps_secrets(&MemorySecrets::new(), SecretStore::File);
}

#[test]
fn secrets_in_a_file_are_kept_over_a_restart_and_no_one_else_can_read_them() {
    let home = tempfile::tempdir().unwrap();
    let secrets = FileSecrets::open(home.path()).unwrap();
    keeps_secrets(&secrets, SecretStore::File);
    let again = FileSecrets::open(home.path()).unwrap();
    assert_eq!(again.operation_key(), secrets.operation_key());
    assert_eq!(again.get("endpoint-2").unwrap().as_deref(), Some("other"));
    let mode = fs::metadata(home.path().join("secrets")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn what_is_no_file_is_refused_and_never_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("secrets");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
    let refused = FileSecrets::open(home.path()).unwrap_err();
    assert!(refused.to_string().contains("it is no file"), "{refused}");
}

#[test]
fn a_file_that_others_could_read_is_closed_to_them() {
    let home = tempfile::tempdir().unwrap();
    drop(FileSecrets::open(home.path()).unwrap());
    let path = home.path().join("secrets");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(FileSecrets::open(home.path()).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_error_names_the_place_and_no_secret() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("secrets");
    let key = serde_json::to_string(&[7; 32]).unwrap();
    for text in [
        format!("{{\"version\":1,\"operationKey\":\"{PLANTED}\",\"secrets\":{{}}}}"),
        format!("{{\"version\":\"{PLANTED}\"}}"),
        format!("{{\"version\":1,\"operationKey\":{key},\"secrets\":\"{PLANTED}\"}}"),
        PLANTED.to_owned(),
    ] {
        fs::write(&path, text).unwrap();
        let error = FileSecrets::open(home.path()).unwrap_err();
        assert!(matches!(error, SecretError::Malformed { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains(PLANTED), "{error:?}");
    }
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("secrets"), br#"{"version":2,"vault":true}"#).unwrap();
    let error = FileSecrets::open(home.path()).unwrap_err().to_string();
    assert!(error.ends_with("has format version 2, and this build knows up to 1"), "{error}");
}

#[test]
fn a_change_that_cannot_be_written_is_not_made() {
    let home = tempfile::tempdir().unwrap();
    let secrets = FileSecrets::open(home.path()).unwrap();
    secrets.set(&id(), PLANTED).unwrap();
    let home_path = home.path().to_owned();
    drop(home);
    assert!(!home_path.exists());
    let error = secrets.set(&id(), "sk-another").unwrap_err();
    assert!(!format!("{error:?}").contains("sk-another"));
    secrets.remove(&id()).unwrap_err();
    assert_eq!(secrets.get(&id()).unwrap().as_deref(), Some(PLANTED));
}
