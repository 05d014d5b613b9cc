//! Each rule lets through what a daemon says that keeps it, and names what breaks it.

use serde_json::{Value, json};

use super::{Broken, Rules, Schemas};

/// What came and what was sent, in order; a message to the daemon is a pair whose first part is `→`.
fn hear(messages: &[(char, Value)]) -> Result<(), Broken> {
    let mut rules = Rules::new(Schemas::shared());
    for (direction, message) in messages {
        match direction {
            '→' => rules.sends(message),
            _ => rules.came(&rules.read(message.to_string().as_bytes())?)?,
        }
    }
    Ok(())
}

fn broken(messages: &[(char, Value)]) -> &'static str {
    hear(messages).unwrap_err().rule
}

fn asks(id: Value, method: &str, params: Value) -> (char, Value) {
    ('→', json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn answers(id: Value, result: Value) -> (char, Value) {
    ('←', json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn refuses(code: i64, data: Value) -> (char, Value) {
    ('←', json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "No.", "data": data}}))
}

fn event(seq: u64, event: Value) -> (char, Value) {
    let params = json!({"threadId": "t", "seq": seq, "at": "2026-11-30T10:00:00Z", "event": event});
    ('←', json!({"jsonrpc": "2.0", "method": "thread/event", "params": params}))
}

fn delta(offset: u64, text: &str) -> (char, Value) {
    let event = json!({"type": "itemDelta", "itemId": "i", "offset": offset, "text": text});
    let params = json!({"threadId": "t", "after": 3, "at": "2026-11-30T10:00:00Z", "event": event});
    ('←', json!({"jsonrpc": "2.0", "method": "thread/event", "params": params}))
}

fn offer(id: u64, attempt: u64) -> (char, Value) {
    let params = json!({
        "interactionId": "x", "threadId": "t", "runId": "r", "callId": "c", "attempt": attempt, "tool": "look",
        "arguments": {}, "silenceMs": 1000,
    });
    ('←', json!({"jsonrpc": "2.0", "id": id, "method": "tool/call", "params": params}))
}

fn settled() -> Value {
    json!({"interactionId": "x", "outcome": "answered", "by": {"kind": "deadline"}})
}

fn deleted(branch: &str) -> Value {
    json!({"type": "branchDeleted", "branchId": branch})
}

fn subscribed() -> [(char, Value); 2] {
    [asks(json!(1), "thread/subscribe", json!({"threadId": "t", "after": 4})), answers(json!(1), json!({"seq": 9}))]
}

#[test]
fn each_request_is_answered_once_by_what_an_answer_is() {
    let ask = || asks(json!(1), "thread/unsubscribe", json!({"threadId": "t"}));
    assert_eq!(hear(&[ask(), answers(json!(1), json!({}))]), Ok(()));
    assert_eq!(broken(&[ask(), answers(json!(1), json!({})), answers(json!(1), json!({}))]), "answer");
    assert_eq!(broken(&[ask(), answers(json!("1"), json!({}))]), "answer");
    assert_eq!(broken(&[ask(), ('←', json!({"jsonrpc": "2.0", "id": 1}))]), "answer");
    assert_eq!(broken(&[ask(), ('←', json!({"id": 1, "result": {}}))]), "line");
    let data = json!({"kind": "notFound", "retryable": false, "noun": "thread", "id": "t"});
    assert_eq!(hear(&[ask(), refuses(-32005, data.clone())]), Ok(()));
    assert_eq!(broken(&[ask(), refuses(-32601, data)]), "answer");
    assert_eq!(broken(&[ask(), refuses(-32005, json!({"kind": "gone", "retryable": false}))]), "answer");
    assert_eq!(broken(&[ask(), refuses(-32005, Value::Null)]), "answer");
}

#[test]
fn who_sends_what_is_no_request_is_answered_under_no_id_and_no_more_often() {
    let refused = || {
        let data = json!({"kind": "invalidRequest", "retryable": false, "reason": "no_object"});
        let error = json!({"code": -32600, "message": "No.", "data": data});
        ('←', json!({"jsonrpc": "2.0", "id": null, "error": error}))
    };
    assert_eq!(hear(&[('→', json!(7)), refused()]), Ok(()));
    assert_eq!(hear(&[('→', json!([])), refused()]), Ok(()));
    assert_eq!(broken(&[('→', json!(7)), refused(), refused()]), "answer");
    assert_eq!(broken(&[('→', json!({"jsonrpc": "2.0", "method": "no/such"})), refused()]), "answer");
}

#[test]
fn results_and_parameters_are_what_the_schema_says() {
    let status = asks(json!(1), "thread/subscribe", json!({"threadId": "t"}));
    assert_eq!(broken(&[status.clone(), answers(json!(1), json!({"seq": "9"}))]), "schema");
    assert_eq!(hear(&[status, answers(json!(1), json!({"seq": 9, "later": true}))]), Ok(()), "there may be more");
    assert_eq!(broken(&[event(1, json!({"type": "branchDeleted"}))]), "schema");
    let later = json!({"jsonrpc": "2.0", "method": "later/told", "params": {}});
    assert_eq!(hear(&[('←', later)]), Ok(()), "a notification that nobody knows may be a later one's");
}

#[test]
fn events_of_a_thread_have_no_gap_and_no_repeat_from_where_it_is_followed() {
    let [ask, answer] = subscribed();
    let heard = |seqs: &[u64]| {
        let events = seqs.iter().map(|seq| event(*seq, deleted("b")));
        hear(&[ask.clone(), answer.clone()].into_iter().chain(events).collect::<Vec<_>>())
    };
    assert_eq!(heard(&[5, 6, 7]), Ok(()));
    for wrong in [&[6][..], &[5, 7], &[5, 5], &[5, 4]] {
        assert_eq!(heard(wrong).unwrap_err().rule, "seq", "{wrong:?}");
    }
    let [again, answer_again] = subscribed();
    let moved = [ask, answer, event(5, deleted("b")), again, answer_again, event(5, deleted("b"))];
    assert_eq!(hear(&moved), Ok(()), "who subscribes again moves its cursor");
}

#[test]
fn deltas_of_an_item_make_up_its_text() {
    assert_eq!(hear(&[delta(0, "grün"), delta(5, " und")]), Ok(()));
    assert_eq!(broken(&[delta(0, "a"), delta(0, "a")]), "delta");
    assert_eq!(broken(&[delta(3, "a")]), "delta");
}

#[test]
fn an_interaction_is_settled_once_and_not_offered_afterwards() {
    let told = || {
        let mut params = settled();
        params["at"] = json!("2026-11-30T10:00:00Z");
        ('←', json!({"jsonrpc": "2.0", "method": "interaction/settled", "params": params}))
    };
    assert_eq!(hear(&[offer(1, 1), offer(2, 2), told()]), Ok(()));
    assert_eq!(broken(&[offer(1, 1), offer(2, 1)]), "offer");
    assert_eq!(broken(&[offer(1, 1), offer(1, 2)]), "offer");
    assert_eq!(broken(&[offer(1, 1), told(), offer(2, 2)]), "offer");
    let mut once = settled();
    once["type"] = json!("interactionSettled");
    assert_eq!(broken(&[event(1, once.clone()), event(2, once)]), "closing");
}
