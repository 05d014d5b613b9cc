//! What a declaration may hold up.

use std::pin::pin;

use futures::poll;
use serde_json::json;

use super::*;

#[tokio::test]
async fn while_a_large_set_of_tools_is_checked_others_go_on() {
    let properties: serde_json::Map<_, _> = (0..2_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let tool = |n: u32| {
        let schema = json!({"type": "object", "properties": properties});
        serde_json::from_value(json!({"name": format!("t{n}"), "description": "A tool.", "inputSchema": schema}))
            .unwrap()
    };
    let mut checking = pin!(checked((0..8).map(tool).collect(), Limits::default(), 1_800_000));
    assert!(poll!(&mut checking).is_pending(), "it does not keep the thread it is asked on");
    assert_eq!(checking.await.unwrap().len(), 8);
}
