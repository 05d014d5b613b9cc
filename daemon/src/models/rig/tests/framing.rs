//! From bytes to records: the same however a body is cut, and the same that a parser by others sees.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use futures::StreamExt;
use rand::{SeedableRng, rngs::StdRng};
use rig_core::http_client::{
    HttpClientExt, Request,
    framing::{NdjsonFramer, SseFramer},
};
use ropewalk_protocol::Provider;
use sha2::{Digest, Sha256};

use crate::models::{
    replay::{LARGE_BYTES, SHAPES, SPLITS, cases_of, content_type, pieces, random_offsets, read},
    rig::{
        ProviderModel, Sender,
        scan::Framing,
        transport::{Transport, Watch},
    },
    testing::{FixedClock, connection},
};

/// What the decoder is given of a body that comes in these pieces: records, as text.
async fn records(shape: Provider, pieces: Arc<[Bytes]>) -> Vec<String> {
    let mut connection = connection(Arc::new(FixedClock), shape, "http://127.0.0.1/v1");
    connection.http = Sender::Canned { content_type: content_type(shape), pieces };
    let framing = connection.shape.framing();
    let transport = Transport::new(&ProviderModel::new(connection).connection, Arc::<Watch>::default());
    let answer =
        transport.send_streaming(Request::post("http://127.0.0.1/v1").body(Bytes::new()).unwrap()).await.unwrap();
    let mut body = answer.into_body();
    let (mut events, mut lines) = (SseFramer::new(), NdjsonFramer::new());
    let mut records = Vec::new();
    while let Some(chunk) = body.next().await {
        match framing {
            Framing::Events => records.extend(events.push(&chunk.unwrap()).map(|event| event.data)),
            Framing::Lines => records.extend(lines.push(&chunk.unwrap()).map(|line| String::from_utf8(line).unwrap())),
        }
    }
    records.extend(lines.finish().map(|line| String::from_utf8(line).unwrap()));
    records
}

/// What a model says depends on a body's records alone, so for the large bodies it is enough to look at those.
#[tokio::test]
async fn large_bodies_come_to_the_same_records_however_they_are_cut() {
    let mut random = StdRng::seed_from_u64(9);
    let mut found = 0;
    for shape in SHAPES {
        for case in cases_of(shape).iter().filter(|case| case.body.len() > LARGE_BYTES) {
            found += 1;
            let body = case.body.as_bytes();
            let whole = records(shape, pieces(body, &[])).await;
            assert!(whole.len() > 1, "{}", case.name);
            for split in 0..SPLITS {
                let offsets = random_offsets(&mut random, body.len());
                assert!(records(shape, pieces(body, &offsets)).await == whole, "{}, split {split}", case.name);
            }
        }
    }
    assert!(found >= 28, "{found}");
}

/// `events.json` is written by an SSE parser of others, which the tests of `conformance/npm` run.
#[test]
fn every_body_has_the_events_that_another_parser_sees() {
    let mut expected: BTreeMap<String, String> = serde_json::from_str(&read("events.json")).unwrap();
    for case in SHAPES.into_iter().filter(|shape| *shape != Provider::Ollama).flat_map(cases_of) {
        let (mut digest, mut count) = (Sha256::new(), 0);
        // The last event counts when nothing closes it too.
        for event in SseFramer::new().push(format!("{}\n\n", case.body).as_bytes()) {
            digest.update(serde_json::to_string(&(event.event, event.data)).unwrap() + "\n");
            count += 1;
        }
        let digest: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(Some(format!("{count} {digest}")), expected.remove(&case.name), "{}", case.name);
    }
    assert!(expected.is_empty(), "{expected:?}");
}
