//! The names, shapes, errors and limits of Ropewalk's wire. No input or output happens here.
//!
//! In the order in which a message meets them: [`rpc`](RequestId) envelopes, the [`Method`]s and
//! [`Notification`]s by noun, the objects they speak of, [`Event`]s, [`RpcError`]s and [`limits`]. [`METHODS`] and
//! [`NOTIFICATIONS`] list everything there is; from them comes the [`bundle`], and from that the documentation and the
//! TypeScript types.

mod catalogue;
mod closed;
mod content;
mod error;
mod event;
mod ids;
pub mod limits;
mod methods;
mod objects;
mod patch;
mod rpc;
mod schema;
mod time;

pub use catalogue::*;
pub use content::*;
pub use error::*;
pub use event::*;
pub use ids::*;
pub use limits::Limits;
pub use methods::*;
pub use objects::*;
pub use patch::*;
pub use rpc::*;
use schema::NULL_CLEARS;
pub use schema::{bundle, schema_hash};
pub use time::*;

/// The one version of the protocol this build speaks.
pub const PROTOCOL_VERSION: u32 = 1;
