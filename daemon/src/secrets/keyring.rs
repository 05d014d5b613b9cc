//! A keyring, asked on threads of its own: it may wait for a person for as long as that person likes, and a call that
//! hangs must hold up no other.

mod system;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use keyring_core::{CredentialStore, Entry, Error};

/// How long a call may take: a person may be typing the word that unlocks the keyring.
pub(super) const CALL_MS: u64 = 25_000;

/// How long a call may take while the daemon starts: whoever started it waits.
pub(super) const START_MS: u64 = 3_000;

/// Calls under way at once, those that nobody waits for any more included.
const CALLS: usize = 16;

/// What our entries are filed under, beside the home and the name.
const SERVICE: &str = "ropewalk";

/// The keyring of a system, as far as it has to be known.
pub(super) trait KeyringSystem: Send + Sync + 'static {
    /// Whether it is there and unlocked. Never asks a person anything.
    fn check(&self) -> Result<(), String>;

    /// A new connection to it, so that calls do not wait for each other.
    fn open(&self) -> Result<Arc<CredentialStore>, Error>;
}

/// A keyring, and the home whose entries are looked at.
pub(super) struct Keyring {
    system: Arc<dyn KeyringSystem>,
    home_id: String,
    under_way: Arc<AtomicUsize>,
}

/// Whether a call may ask a person to unlock the keyring.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Person {
    MayBeAsked,
    MayNotBeAsked,
}

impl Keyring {
    /// The keyring of this system.
    pub(super) fn of_system(home_id: String) -> Self {
        Self::new(Arc::new(system::Native), home_id)
    }

    /// A keyring of a test's choosing.
    pub(super) fn new(system: Arc<dyn KeyringSystem>, home_id: String) -> Self {
        Self { system, home_id, under_way: Arc::default() }
    }

    /// Whether it can be used without a person.
    pub(super) fn check(&self) -> Result<(), String> {
        let system = self.system.clone();
        self.call(START_MS, move |_| system.check())
    }

    /// Reads a secret.
    pub(super) fn get(&self, name: &str, person: Person) -> Result<Option<String>, String> {
        let (system, user) = (self.system.clone(), self.user(name));
        self.call(CALL_MS, move |_| {
            if person == Person::MayNotBeAsked {
                system.check()?;
            }
            read(&entry(&*system, &user)?)
        })
    }

    /// Writes a secret, and reads it back before anybody relies on it.
    pub(super) fn set(&self, name: &str, secret: &str, within_ms: u64) -> Result<(), String> {
        let (system, user, secret) = (self.system.clone(), self.user(name), secret.to_owned());
        self.call(within_ms, move |is_given_up| {
            let entry = entry(&*system, &user)?;
            // Reading waits for the person, if there is one to wait for. A caller who has been told that it failed must not
            // find it done later.
            let before = read(&entry)?;
            if is_given_up.load(Ordering::SeqCst) {
                return Err("nobody waits for it any more".to_owned());
            }
            if before.as_ref() != Some(&secret) {
                entry.set_password(&secret).map_err(|error| in_words(&error))?;
            }
            match read(&entry)? {
                Some(kept) if kept == secret => Ok(()),
                _ => Err("what it gives back is not what it was given".to_owned()),
            }
        })
    }

    /// Forgets a secret, and says whether it was there.
    pub(super) fn remove(&self, name: &str) -> Result<bool, String> {
        let (system, user) = (self.system.clone(), self.user(name));
        self.call(CALL_MS, move |_| match entry(&*system, &user)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(in_words(&error)),
        })
    }

    fn user(&self, name: &str) -> String {
        format!("{}/{name}", self.home_id)
    }

    /// Does some work on a thread of its own and waits for it, but no longer than this.
    fn call<T: Send + 'static>(
        &self,
        within_ms: u64,
        work: impl FnOnce(&AtomicBool) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let ticket = Ticket::take(&self.under_way)?;
        let is_given_up = Arc::new(AtomicBool::new(false));
        let (done, answer) = mpsc::sync_channel(1);
        let given_up = is_given_up.clone();
        let spawned = thread::Builder::new().name("keyring".to_owned()).spawn(move || {
            let _ticket = ticket;
            // Nobody is there to hear it after the deadline.
            let _ = done.send(work(&given_up));
        });
        spawned.map_err(|error| format!("no thread can be started: {error}"))?;
        match answer.recv_timeout(Duration::from_millis(within_ms)) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => {
                is_given_up.store(true, Ordering::SeqCst);
                Err(format!("it did not answer within {within_ms} ms"))
            }
            Err(RecvTimeoutError::Disconnected) => Err("asking it broke down".to_owned()),
        }
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("under_way", &self.under_way).finish_non_exhaustive()
    }
}

/// The right to one call. Its thread holds it for as long as the keyring takes, however long that is.
struct Ticket(Arc<AtomicUsize>);

impl Ticket {
    fn take(under_way: &Arc<AtomicUsize>) -> Result<Self, String> {
        let ticket = Self(under_way.clone());
        if ticket.0.fetch_add(1, Ordering::SeqCst) >= CALLS {
            return Err(format!("{CALLS} earlier calls to it have not been answered"));
        }
        Ok(ticket)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn entry(system: &dyn KeyringSystem, user: &str) -> Result<Entry, String> {
    let store = system.open().map_err(|error| in_words(&error))?;
    store.build(SERVICE, user, None).map_err(|error| in_words(&error))
}

fn read(entry: &Entry) -> Result<Option<String>, String> {
    match entry.get_password() {
        Ok(secret) => Ok(Some(secret)),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(in_words(&error)),
    }
}

/// What went wrong, without the data some of these errors carry.
fn in_words(error: &Error) -> String {
    match error {
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => cause.to_string(),
        Error::NoEntry => "it has nowhere to keep it".to_owned(),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "what it has there is none of ours".to_owned(),
        Error::Ambiguous(entries) => format!("it has {} entries of that name", entries.len()),
        other => other.to_string(),
    }
}
