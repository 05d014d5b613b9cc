//! Where code of the application runs: whatever it does ends as the answer to one request and nothing else.

use std::{any::Any, panic::AssertUnwindSafe};

use futures::FutureExt;

/// Runs a future of the application; a panic becomes its message.
pub(super) async fn fenced<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|payload| message(payload.as_ref()))
}

/// Runs a short function of the application; a panic becomes its message.
pub(super) fn guarded(work: impl FnOnce()) -> Result<(), String> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| message(payload.as_ref()))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
