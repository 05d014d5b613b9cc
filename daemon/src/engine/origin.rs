//! On whose behalf a thread is asked to do something. It is noted where a request or an answer of a client comes in, and every
//! job that is made on the way has it: whoever shows lists may then leave out what it did itself.

use ropewalk_protocol::InstanceId;

tokio::task_local! {
    static ORIGIN: Option<InstanceId>;
}

/// Does something on behalf of a client instance, or of nobody.
pub async fn on_behalf_of<T>(origin: Option<InstanceId>, work: impl Future<Output = T>) -> T {
    ORIGIN.scope(origin, work).await
}

/// The client instance on whose behalf something is done here. What the daemon does by itself has none.
#[must_use]
pub fn origin() -> Option<InstanceId> {
    ORIGIN.try_with(Clone::clone).ok().flatten()
}
