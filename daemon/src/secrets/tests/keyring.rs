//! The keyring and the file together: which is chosen, what moves, and what a keyring that is gone leaves behind.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use keyring_core::{CredentialStore, Error, mock};

use super::{PLANTED, keeps_secrets};
use crate::secrets::{
    FileSecrets, HomeSecrets, SecretChoice, SecretError, Secrets,
    keyring::{Keyring, KeyringSystem, Person},
};
use ropewalk_protocol::SecretStore;

/// A keyring in memory, which can be locked, gone, or silent until somebody lets it speak.
struct FakeSystem {
    store: Arc<CredentialStore>,
    locked: AtomicBool,
    gone: AtomicBool,
    silent: Mutex<()>,
    opened: AtomicUsize,
}

impl FakeSystem {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            store: mock::Store::new().unwrap(),
            locked: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            silent: Mutex::new(()),
            opened: AtomicUsize::new(0),
        })
    }
}

impl KeyringSystem for FakeSystem {
    fn check(&self) -> Result<(), String> {
        self.open().map_err(|_| "there is no session bus".to_owned())?;
        if self.locked.load(Ordering::SeqCst) { Err("it is locked".to_owned()) } else { Ok(()) }
    }

    fn open(&self) -> Result<Arc<CredentialStore>, Error> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        drop(self.silent.lock().unwrap());
        if self.gone.load(Ordering::SeqCst) {
            return Err(Error::NoStorageAccess("there is no session bus".into()));
        }
        Ok(self.store.clone())
    }
}

fn open(home: &Path, choice: SecretChoice, system: &Arc<FakeSystem>) -> Result<HomeSecrets, SecretError> {
    let system = system.clone();
    HomeSecrets::open_with(home, choice, move |home_id| Keyring::new(system, home_id))
}

fn auto(home: &Path, system: &Arc<FakeSystem>) -> HomeSecrets {
    open(home, SecretChoice::Auto, system).unwrap()
}

fn file_of(home: &Path) -> String {
    std::fs::read_to_string(home.join("secrets")).unwrap()
}

#[test]
fn a_keyring_that_answers_keeps_the_secrets_and_the_file_has_none() {
    let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
    let secrets = auto(home.path(), &system);
    assert_eq!((secrets.kind(), secrets.reason()), (SecretStore::Keyring, None));
    keeps_secrets(&secrets, SecretStore::Keyring);
    secrets.set("endpoint-3", PLANTED).unwrap();
    assert!(!file_of(home.path()).contains(PLANTED) && !file_of(home.path()).contains("other"));
    let again = auto(home.path(), &system);
    assert_eq!(again.get("endpoint-3").unwrap().as_deref(), Some(PLANTED));
    assert_eq!(again.operation_key(), secrets.operation_key());
    assert!(!format!("{again:?}").contains(PLANTED));
}

#[test]
fn without_a_keyring_the_file_keeps_them_and_the_reason_is_said() {
    for (locked, gone, reason) in [
        (true, false, "no keyring can be used: it is locked"),
        (false, true, "no keyring can be used: there is no session bus"),
    ] {
        let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
        system.locked.store(locked, Ordering::SeqCst);
        system.gone.store(gone, Ordering::SeqCst);
        let secrets = auto(home.path(), &system);
        assert_eq!((secrets.kind(), secrets.reason().as_deref()), (SecretStore::File, Some(reason)));
        keeps_secrets(&secrets, SecretStore::File);
        let refused = open(home.path(), SecretChoice::Keyring, &system).unwrap_err();
        assert!(refused.to_string().contains("--secret-store auto"), "{refused}");
    }
}

#[test]
fn the_file_alone_is_used_when_that_was_chosen_and_the_keyring_is_never_asked() {
    let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
    let secrets = open(home.path(), SecretChoice::File, &system).unwrap();
    keeps_secrets(&secrets, SecretStore::File);
    assert_eq!(secrets.reason().unwrap(), "the daemon was started with `--secret-store file`");
    assert_eq!(system.opened.load(Ordering::SeqCst), 0);
}

#[test]
fn keys_of_the_file_move_to_a_keyring_that_appears_once_they_can_be_read_there() {
    let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
    let file = FileSecrets::open(home.path()).unwrap();
    file.set("endpoint/a", PLANTED).unwrap();
    file.set("endpoint/b", "sk-b").unwrap();
    drop(file);
    let secrets = auto(home.path(), &system);
    assert_eq!(secrets.get("endpoint/a").unwrap().as_deref(), Some(PLANTED));
    assert_eq!(secrets.get("endpoint/b").unwrap().as_deref(), Some("sk-b"));
    let left = file_of(home.path());
    assert!(!left.contains(PLANTED) && !left.contains("sk-b") && left.contains("endpoint/a"), "{left}");
}

#[test]
fn a_key_the_keyring_refuses_stays_in_the_file_and_works_from_there() {
    let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
    let file = FileSecrets::open(home.path()).unwrap();
    file.set("endpoint/a", PLANTED).unwrap();
    let user = format!("{}/endpoint/a", file.home_id());
    let entry = system.store.build("ropewalk", &user, None).unwrap();
    let credential: &mock::Cred = entry.as_any().downcast_ref().unwrap();
    credential.set_error(Error::NoStorageAccess("the disk is full".into()));
    let secrets = auto(home.path(), &system);
    assert_eq!(secrets.get("endpoint/a").unwrap().as_deref(), Some(PLANTED));
    assert!(file_of(home.path()).contains(PLANTED));
    let reason = secrets.reason().unwrap();
    assert_eq!(reason, "1 of the keys are still in the file, as the keyring refused them: the disk is full");
}

#[test]
fn a_keyring_that_is_gone_is_named_for_each_key_it_has_and_a_new_key_goes_to_the_file() {
    let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
    let before = auto(home.path(), &system);
    before.set("endpoint/a", PLANTED).unwrap();
    before.set("endpoint/b", "sk-b").unwrap();
    drop(before);
    system.gone.store(true, Ordering::SeqCst);
    let secrets = auto(home.path(), &system);
    assert_eq!(secrets.out_of_reach(), ["endpoint/a", "endpoint/b"]);
    let error = secrets.get("endpoint/a").unwrap_err().to_string();
    assert!(error.contains("there is no session bus") && error.contains("store the key anew"), "{error}");
    secrets.remove("endpoint/a").unwrap_err();
    assert_eq!(secrets.get("endpoint/unknown").unwrap(), None);
    secrets.set("endpoint/a", "sk-new").unwrap();
    assert_eq!(secrets.get("endpoint/a").unwrap().as_deref(), Some("sk-new"));
    assert_eq!(secrets.out_of_reach(), ["endpoint/b"]);
    // The newer key wins over what the keyring still has when it comes back.
    system.gone.store(false, Ordering::SeqCst);
    let after = auto(home.path(), &system);
    assert_eq!(after.get("endpoint/a").unwrap().as_deref(), Some("sk-new"));
    assert_eq!(auto(home.path(), &system).get("endpoint/a").unwrap().as_deref(), Some("sk-new"));
}

#[test]
fn a_keyring_that_was_locked_at_the_start_is_read_once_it_is_unlocked() {
    let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
    auto(home.path(), &system).set("endpoint/a", PLANTED).unwrap();
    system.locked.store(true, Ordering::SeqCst);
    let secrets = auto(home.path(), &system);
    let error = secrets.get("endpoint/a").unwrap_err().to_string();
    assert!(error.contains("it is locked"), "{error}");
    system.locked.store(false, Ordering::SeqCst);
    assert_eq!(secrets.get("endpoint/a").unwrap().as_deref(), Some(PLANTED));
    assert!(secrets.out_of_reach().is_empty());
    // What was read is known for the life of the daemon.
    system.gone.store(true, Ordering::SeqCst);
    assert_eq!(secrets.get("endpoint/a").unwrap().as_deref(), Some(PLANTED));
}

#[test]
fn an_entry_somebody_removed_from_the_keyring_is_missed_aloud() {
    let (home, system) = (tempfile::tempdir().unwrap(), FakeSystem::new());
    auto(home.path(), &system).set("endpoint/a", PLANTED).unwrap();
    let home_id = FileSecrets::open(home.path()).unwrap().home_id();
    system.store.build("ropewalk", &format!("{home_id}/endpoint/a"), None).unwrap().delete_credential().unwrap();
    let secrets = auto(home.path(), &system);
    let error = secrets.get("endpoint/a").unwrap_err().to_string();
    assert!(error.contains("no such entry any more"), "{error}");
    assert!(secrets.remove("endpoint/a").unwrap(), "the list had it");
    assert_eq!(secrets.get("endpoint/a").unwrap(), None);
}

#[test]
fn two_homes_on_one_keyring_do_not_mix() {
    let system = FakeSystem::new();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, second) = (auto(one.path(), &system), auto(two.path(), &system));
    first.set("endpoint/a", PLANTED).unwrap();
    assert_eq!(second.get("endpoint/a").unwrap(), None);
    second.set("endpoint/a", "sk-2").unwrap();
    assert_eq!(auto(one.path(), &system).get("endpoint/a").unwrap().as_deref(), Some(PLANTED));
}

#[test]
fn a_file_from_before_there_were_keyrings_gets_a_home_id_that_stays() {
    let home = tempfile::tempdir().unwrap();
    let key = serde_json::to_string(&[7; 32]).unwrap();
    let old = format!("{{\"version\":1,\"operationKey\":{key},\"secrets\":{{\"endpoint/a\":\"{PLANTED}\"}}}}");
    std::fs::write(home.path().join("secrets"), old).unwrap();
    let first = FileSecrets::open(home.path()).unwrap();
    assert_eq!(first.home_id().len(), 32);
    assert_eq!(FileSecrets::open(home.path()).unwrap().home_id(), first.home_id());
    assert_eq!(first.get("endpoint/a").unwrap().as_deref(), Some(PLANTED));
    assert_eq!(first.operation_key(), [7; 32]);
}

#[test]
fn a_call_that_hangs_ends_by_its_deadline_and_holds_up_no_other() {
    let system = FakeSystem::new();
    let keyring = Arc::new(Keyring::new(system.clone(), "home".to_owned()));
    keyring.set("a", "before", 60_000).unwrap();
    let silence = system.silent.lock().unwrap();
    let error = keyring.set("a", PLANTED, 10).unwrap_err();
    assert_eq!(error, "it did not answer within 10 ms");
    // Calls that nobody waits for are bounded too.
    let refused =
        (0..20).map(|_| keyring.set("b", "x", 1).unwrap_err()).find(|error| error.contains("have not been answered"));
    assert!(refused.is_some(), "20 calls are too many");
    drop(silence);
    // The calls that hung leave one after another, so a later one may still be refused for those before it.
    let answered = |name| loop {
        match keyring.get(name, Person::MayBeAsked) {
            Ok(secret) => break secret,
            Err(error) => assert!(error.contains("have not been answered"), "{error}"),
        }
        thread::yield_now();
    };
    // Who was told that it failed does not find it done later.
    assert_eq!(answered("a").as_deref(), Some("before"));
    assert_eq!(answered("b"), None);
}
