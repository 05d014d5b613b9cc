//! The clock seam: what time it is, waiting for it, and ids made of it.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use rand::RngCore;
use ropewalk_protocol::Timestamp;
use tokio::sync::watch;
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

/// A clock that stands still until it is told to go on, for tests and simulations.
#[derive(Clone, Debug)]
pub struct ManualClock(watch::Sender<i64>);

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(watch::Sender::new(now.as_millis()))
    }

    /// Lets `duration` pass at once: everybody who has slept out wakes.
    pub fn advance(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.0.send_modify(|now| *now = now.saturating_add(millis));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(*self.0.borrow())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut time = self.0.subscribe();
        let wakes_at = self.now().plus_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        Box::pin(async move {
            // A clock that is gone never goes on: neither does who sleeps by it.
            if time.wait_for(|now| *now >= wakes_at.as_millis()).await.is_err() {
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

    /// A new id as text.
    pub fn next(&self, now: Timestamp) -> String {
        let now = now.as_millis().max(0);
        let millis = self.latest_millis.fetch_max(now, Ordering::Relaxed).max(now);
        let mut random = [0_u8; 10];
        match &self.seeded {
            Some(seeded) => seeded.lock().unwrap_or_else(std::sync::PoisonError::into_inner).fill_bytes(&mut random),
            None => rand::rng().fill_bytes(&mut random),
        }
        Builder::from_unix_timestamp_millis(millis.cast_unsigned(), &random).into_uuid().to_string()
    }
}
