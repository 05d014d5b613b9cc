//! What can be made to go wrong with an answer on its way.

use std::{io, pin::Pin};

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode},
    response::Response,
};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};

/// What goes wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// After so many bytes of the body nothing more comes.
    Stall {
        /// How many bytes.
        after_bytes: usize,
    },
    /// After so many bytes of the body the connection breaks.
    Cut {
        /// How many bytes.
        after_bytes: usize,
    },
    /// After so many bytes of the body it ends, as if it were complete.
    End {
        /// How many bytes.
        after_bytes: usize,
    },
    /// The body comes in chunks of this many bytes, wherever that cuts it.
    Chunks {
        /// How many bytes, at least 1.
        bytes: usize,
    },
    /// This comes instead of the answer.
    Reply {
        /// The status.
        status: u16,
        /// The headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
}

pub(super) fn reply(status: u16, headers: &[(String, String)], body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

type Chunks = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The body with its fault, until the server ends.
pub(super) fn apply(body: Body, fault: Option<Fault>, ended: impl Future<Output = ()> + Send + 'static) -> Body {
    let body = body.into_data_stream().map(|chunk| chunk.map_err(io::Error::other));
    let body: Chunks = match fault {
        None | Some(Fault::Reply { .. }) => body.boxed(),
        Some(Fault::Chunks { bytes }) => rechunked(body, bytes.max(1)).boxed(),
        Some(Fault::End { after_bytes }) => first(body, after_bytes).boxed(),
        Some(Fault::Stall { after_bytes }) => first(body, after_bytes).chain(stream::pending()).boxed(),
        Some(Fault::Cut { after_bytes }) => first(body, after_bytes).chain(stream::once(cut())).boxed(),
    };
    Body::from_stream(body.take_until(ended))
}

/// The end of a body that breaks. The wait lets what was sent before it reach the other side.
pub(super) async fn cut() -> io::Result<Bytes> {
    tokio::task::yield_now().await;
    Err(io::Error::from(io::ErrorKind::ConnectionReset))
}

/// The first bytes of a body.
fn first(body: impl Stream<Item = io::Result<Bytes>>, bytes: usize) -> impl Stream<Item = io::Result<Bytes>> {
    body.scan(bytes, |left, chunk| {
        let chunk = chunk.map(|chunk| chunk.slice(..chunk.len().min(*left)));
        *left -= chunk.as_ref().map_or(0, Bytes::len);
        let over = chunk.as_ref().is_ok_and(Bytes::is_empty);
        async move { (!over).then_some(chunk) }
    })
}

fn rechunked(body: impl Stream<Item = io::Result<Bytes>>, bytes: usize) -> impl Stream<Item = io::Result<Bytes>> {
    body.flat_map(move |chunk| {
        let pieces = match chunk {
            Ok(chunk) => chunk.chunks(bytes).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(pieces)
    })
}
