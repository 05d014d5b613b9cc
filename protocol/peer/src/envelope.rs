//! Tells requests, notifications and answers apart, leaving parameters and results as raw text.

use std::fmt;

use ropewalk_protocol::RequestId;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// What a JSON value is as a message.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: RequestId,
        method: String,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: String,
        params: Option<&'a RawValue>,
    },
    /// `id` is absent when it cannot be one of ours.
    Answer {
        id: Option<i64>,
        outcome: Answer<'a>,
    },
    Invalid {
        id: RequestId,
        reason: &'static str,
    },
}

/// What an answer says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    Result(&'a RawValue),
    Error(&'a RawValue),
    Both,
}

/// A line that is JSON.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    One(Message<'a>),
    /// The raw members, of which no more were kept than asked for, and their number.
    Batch(Vec<&'a RawValue>, usize),
}

/// Reads a line. At most `max_batch` members of a batch are kept.
pub(crate) fn read(text: &str, max_batch: usize) -> serde_json::Result<Line<'_>> {
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => Ok(Line::One(message_of(serde_json::from_str(text)?))),
        Some(b'[') => {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            let (members, count) = deserializer.deserialize_seq(Members { max_batch })?;
            deserializer.end()?;
            Ok(Line::Batch(members, count))
        }
        _ => {
            serde_json::from_str::<serde::de::IgnoredAny>(text)?;
            Ok(Line::One(Message::Invalid { id: RequestId::Null, reason: "not_an_object" }))
        }
    }
}

/// Reads a member of a batch, which is known to be JSON.
pub(crate) fn read_member(member: &RawValue) -> Message<'_> {
    serde_json::from_str(member.get())
        .map_or(Message::Invalid { id: RequestId::Null, reason: "not_an_object" }, message_of)
}

/// The id that stands in `text`, or why it is none.
pub(crate) fn read_id(text: &str) -> Result<RequestId, &'static str> {
    match text.as_bytes().first() {
        Some(b'n') => Ok(RequestId::Null),
        Some(b'"') => serde_json::from_str(text).map(RequestId::Text).map_err(|_| "id_not_representable"),
        Some(b'-' | b'0'..=b'9') => match text.parse() {
            Ok(number) => Ok(RequestId::Number(number)),
            Err(_) if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => Err("id_is_a_fraction"),
            Err(_) => Err("id_out_of_range"),
        },
        _ => Err("id_has_the_wrong_type"),
    }
}

fn message_of(envelope: Envelope<'_>) -> Message<'_> {
    if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) {
        return answer_of(&envelope);
    }
    let id = envelope.id.map(|raw| read_id(raw.get()));
    let invalid = |reason| Message::Invalid {
        id: match &id {
            Some(Ok(id)) if !envelope.repeated => id.clone(),
            _ => RequestId::Null,
        },
        reason,
    };
    if envelope.repeated {
        return invalid("repeated_member");
    }
    if let Some(Err(reason)) = &id {
        return invalid(reason);
    }
    if envelope.jsonrpc.is_none_or(|raw| raw.get() != "\"2.0\"") {
        return invalid("jsonrpc_is_not_2_0");
    }
    if envelope.result.is_some() || envelope.error.is_some() {
        return invalid("both_request_and_answer");
    }
    let Some(method) = envelope.method else { return invalid("method_missing") };
    let Ok(method) = serde_json::from_str::<String>(method.get()) else { return invalid("method_is_not_a_string") };
    let params = match envelope.params.map(|raw| (raw, raw.get().as_bytes()[0])) {
        None | Some((_, b'n')) => None,
        Some((raw, b'{' | b'[')) => Some(raw),
        Some(_) => return invalid("params_not_structured"),
    };
    match id {
        Some(Ok(id)) => Message::Request { id, method, params },
        _ => Message::Notification { method, params },
    }
}

fn answer_of<'a>(envelope: &Envelope<'a>) -> Message<'a> {
    let id = match envelope.id.map(|raw| read_id(raw.get())) {
        Some(Ok(RequestId::Number(id))) if !envelope.repeated => Some(id),
        _ => None,
    };
    let outcome = match (envelope.result, envelope.error) {
        (Some(result), None) => Answer::Result(result),
        // `"error": null` beside a result is how JSON-RPC 1.0 says that all went well.
        (Some(result), Some(error)) if error.get() == "null" => Answer::Result(result),
        (None, Some(error)) => Answer::Error(error),
        _ => Answer::Both,
    };
    Message::Answer { id, outcome }
}

/// The members of JSON-RPC. Each is raw, so that `null` is told from absent.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    repeated: bool,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(member) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            let field = match member {
                Member::Jsonrpc => &mut envelope.jsonrpc,
                Member::Id => &mut envelope.id,
                Member::Method => &mut envelope.method,
                Member::Params => &mut envelope.params,
                Member::Result => &mut envelope.result,
                Member::Error => &mut envelope.error,
                Member::Other => continue,
            };
            envelope.repeated |= field.replace(value).is_some();
        }
        Ok(envelope)
    }
}

struct Members {
    max_batch: usize,
}

impl<'de> Visitor<'de> for Members {
    type Value = (Vec<&'de RawValue>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        let mut count = 0;
        while let Some(member) = seq.next_element::<&RawValue>()? {
            count += 1;
            if members.len() < self.max_batch {
                members.push(member);
            }
        }
        Ok((members, count))
    }
}
