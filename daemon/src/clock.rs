//! The clock seam: what time it is, waiting for it, and ids made of it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use rand::RngCore;
use ropewalk_protocol::Timestamp;
use tokio::sync::oneshot;
use uuid::Builder;

/// What time it is, and waiting until it is later.
pub trait Clock: Send + Sync + 'static {
    /// Now, as a label; order comes from sequence numbers.
    fn now(&self) -> Timestamp;

    /// Resolves `duration` from now. Unaffected by steps of the wall clock.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock that stands still until it is told to go on, for tests and simulations. Who sleeps by it wakes in the order of
/// their times, and of two with the same time in the order in which they lay down.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Manual>>);

#[derive(Debug)]
struct Manual {
    now_millis: i64,
    next: u64,
    sleepers: BTreeMap<(i64, u64), oneshot::Sender<()>>,
    /// How many sleepers there may be before those that were dropped are forgotten.
    sweep_at: usize,
}

/// The fewest sleepers of a manual clock that are looked through for those that were dropped.
const SWEEP: usize = 256;

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        let (now_millis, sleepers) = (now.as_millis(), BTreeMap::new());
        Self(Arc::new(Mutex::new(Manual { now_millis, next: 0, sleepers, sweep_at: SWEEP })))
    }

    /// Lets `duration` pass at once: everybody who has slept out wakes.
    pub fn advance(&self, duration: Duration) {
        let mut manual = self.lock();
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        manual.now_millis = manual.now_millis.saturating_add(millis);
        let first_later = (manual.now_millis.saturating_add(1), 0);
        let later = manual.sleepers.split_off(&first_later);
        for sleeper in std::mem::replace(&mut manual.sleepers, later).into_values() {
            // Whoever was dropped sleeps no more.
            let _ = sleeper.send(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Manual> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.lock().now_millis)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut manual = self.lock();
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        let wakes_at = manual.now_millis.saturating_add(millis);
        if wakes_at <= manual.now_millis {
            return Box::pin(std::future::ready(()));
        }
        if manual.sleepers.len() >= manual.sweep_at {
            manual.sleepers.retain(|_, sleeper| !sleeper.is_closed());
            manual.sweep_at = (manual.sleepers.len() * 2).max(SWEEP);
        }
        manual.next += 1;
        let (place, (sleeper, woken)) = ((wakes_at, manual.next), oneshot::channel());
        manual.sleepers.insert(place, sleeper);
        Box::pin(async move {
            // A clock that is gone never goes on: neither does who sleeps by it.
            if woken.await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// Makes ids: UUIDv7 whose time never goes backwards, whatever the clock does (ruling 21).
#[derive(Debug)]
pub struct Ids {
    latest_millis: AtomicI64,
    seeded: Option<Mutex<rand::rngs::StdRng>>,
}

impl Ids {
    /// Ids from the machine's randomness; the time in them is at least `latest`, the last one given out in this home.
    #[must_use]
    pub const fn new(latest: Timestamp) -> Self {
        Self { latest_millis: AtomicI64::new(latest.as_millis()), seeded: None }
    }

    /// Ids that a test can repeat.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        use rand::SeedableRng;
        Self { latest_millis: AtomicI64::new(0), seeded: Some(Mutex::new(rand::rngs::StdRng::seed_from_u64(seed))) }
    }

    /// The time in new ids is at least `latest` from now on.
    pub fn not_before(&self, latest: Timestamp) {
        self.latest_millis.fetch_max(latest.as_millis(), Ordering::Relaxed);
    }

    /// A new id as text.
    pub fn next(&self, now: Timestamp) -> String {
        let now = now.as_millis().max(0);
        let millis = self.latest_millis.fetch_max(now, Ordering::Relaxed).max(now);
        let mut random = [0_u8; 10];
        match &self.seeded {
            Some(seeded) => seeded.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut random),
            None => rand::rng().fill_bytes(&mut random),
        }
        Builder::from_unix_timestamp_millis(millis.cast_unsigned(), &random).into_uuid().to_string()
    }
}
