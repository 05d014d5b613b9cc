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
