//! Plays a body to a model in pieces of every size, without a socket where a socket would add nothing but time.

use std::sync::Arc;

use bytes::Bytes;
use rand::{Rng, rngs::StdRng};
use ropewalk_protocol::Provider;

use crate::models::testing::{Heard, listen, model_that_hears, request, user};

/// The media type in which a provider of this shape answers.
pub(in crate::models) const fn content_type(shape: Provider) -> &'static str {
    match shape {
        Provider::Ollama => "application/x-ndjson",
        _ => "text/event-stream",
    }
}

/// What a model of this shape makes of a body that comes in pieces cut before these offsets.
pub(super) async fn hear(shape: Provider, body: &[u8], offsets: &[usize]) -> Heard {
    let model = model_that_hears(content_type(shape), pieces(body, offsets), shape);
    listen(&*model, request(vec![user("hi")], &["weather"])).await
}

/// A body cut before these offsets, which ascend and lie within it.
pub(in crate::models) fn pieces(body: &[u8], offsets: &[usize]) -> Arc<[Bytes]> {
    let body = Bytes::copy_from_slice(body);
    let starts = std::iter::once(0).chain(offsets.iter().copied());
    let ends = offsets.iter().copied().chain([body.len()]);
    starts.zip(ends).map(|(start, end)| body.slice(start..end)).collect()
}

/// Where a body is cut: few places or many, anywhere.
pub(in crate::models) fn random_offsets(random: &mut StdRng, length: usize) -> Vec<usize> {
    if length < 2 {
        return Vec::new();
    }
    let most = usize::min(60, length);
    let cuts = random.random_range(1..most);
    let mut offsets = (0..cuts).map(|_| random.random_range(1..length)).collect::<Vec<_>>();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}
