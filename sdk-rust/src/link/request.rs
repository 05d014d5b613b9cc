//! One request, made so that it can be sent again: what may be repeated, under which operation, and what is left of its
//! own waiting.

use std::{borrow::Cow, time::Duration};

use ropewalk_protocol::{
    DaemonBackup, DaemonCheck, DaemonShutdown, Method, PolicySet, RunSubmit, RunWait, ThreadEvents, ThreadResume, find,
};
use serde::{Deserialize, Deserializer};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use super::unreadable;
use crate::{Error, ids};

/// What the wire says a wait takes when its length is not given.
const DEFAULT_WAIT_MS: u64 = 60_000;
/// How long a backup or a check may take beyond the patience: they read everything there is.
const UPKEEP_MS: u64 = 3_600_000;
/// The shortest wait of a run that the wire takes.
const SHORTEST_WAIT_MS: u64 = 1_000;

/// A request on its way.
pub(super) struct Request<'a> {
    method: &'a str,
    params: Cow<'a, RawValue>,
    /// Whether sending it twice is as good as sending it once.
    repeatable: bool,
    wait: Option<Wait>,
}

/// The waiting a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    /// The parameter that says how long, where it may be made shorter.
    field: Option<&'static str>,
    ms: u64,
}

/// What is looked at in parameters.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Peek {
    wait: bool,
    wait_ms: u64,
    wait_timeout_ms: Option<u64>,
    timeout_ms: Option<u64>,
    grace_ms: u64,
}

/// Whether parameters name an operation; `null` is what an absent one may look like.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Named {
    #[serde(deserialize_with = "present")]
    operation_id: Option<Value>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl<'a> Request<'a> {
    /// Makes a request of what a caller gave. One that changes something and has no operation id gets one.
    ///
    /// # Errors
    /// [`Error::Unreadable`], when parameters are no object although the method changes something.
    pub(super) fn new(method: &'a str, params: &'a RawValue) -> Result<Self, Error> {
        let peek: Peek = serde_json::from_str(params.get()).unwrap_or_default();
        let named: Named = serde_json::from_str(params.get()).unwrap_or_default();
        let has_id = named.operation_id.as_ref().is_some_and(|id| !id.is_null());
        let (repeatable, needs_id) = match find(method) {
            // Attaching twice is attaching once; under an operation the second time would not attach at all.
            _ if method == ThreadResume::NAME => (true, false),
            _ if method == DaemonShutdown::NAME => (false, false),
            Some(entry) => (true, entry.mutates && !has_id),
            // Every method that changes something takes one; a test of the protocol holds it. What this build does not know
            // may change something too.
            None => (has_id, false),
        };
        let params = match (needs_id, named.operation_id) {
            (false, _) => Cow::Borrowed(params),
            (true, None) => Cow::Owned(with_operation(method, params)?),
            (true, Some(_)) => Cow::Owned(with_field(method, params, "operationId", ids::fresh().into())?),
        };
        Ok(Self { method, params, repeatable, wait: Wait::of(method, &peek) })
    }

    /// How long the answer may take because the request asks for it, which comes on top of the patience.
    pub(super) fn wait(&self) -> Duration {
        Duration::from_millis(self.wait.map_or(0, |wait| wait.ms))
    }

    /// Whether it may be sent again although it may have been carried out.
    pub(super) const fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    /// Bytes of the parameters.
    pub(super) fn length(&self) -> u64 {
        self.params.get().len() as u64
    }

    /// The parameters for a request that is sent `waited` after the first one: what it waits for is made shorter by that.
    pub(super) fn params(&self, waited: Duration) -> Result<Cow<'_, RawValue>, Error> {
        let Some(Wait { field: Some(field), ms }) = self.wait.filter(|_| !waited.is_zero()) else {
            return Ok(Cow::Borrowed(&self.params));
        };
        let shortest = if self.method == ThreadEvents::NAME { 0 } else { SHORTEST_WAIT_MS };
        let left = ms.saturating_sub(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX)).max(shortest.min(ms));
        with_field(self.method, &self.params, field, left.into()).map(Cow::Owned)
    }
}

impl Wait {
    fn of(method: &str, peek: &Peek) -> Option<Self> {
        let ends = |field, ms: Option<u64>| Some(Self { field: Some(field), ms: ms.unwrap_or(DEFAULT_WAIT_MS) });
        match method {
            RunSubmit::NAME if peek.wait => ends("waitTimeoutMs", peek.wait_timeout_ms),
            RunWait::NAME => ends("timeoutMs", peek.timeout_ms),
            ThreadEvents::NAME if peek.wait_ms > 0 => ends("waitMs", Some(peek.wait_ms)),
            DaemonBackup::NAME | DaemonCheck::NAME => Some(Self { field: None, ms: UPKEEP_MS }),
            // In a rule `timeoutMs` is what the rule says, not how long to wait.
            RunSubmit::NAME | PolicySet::NAME => None,
            _ => {
                let ms = peek.wait_ms.max(peek.timeout_ms.unwrap_or(0)).max(peek.grace_ms);
                (ms > 0).then_some(Self { field: None, ms })
            }
        }
    }
}

/// The same parameters with another value of one field.
fn with_field(method: &str, params: &RawValue, field: &str, value: Value) -> Result<Box<RawValue>, Error> {
    let mut object: Map<String, Value> =
        serde_json::from_str(params.get()).map_err(|error| unreadable(method, &error))?;
    object.insert(field.to_owned(), value);
    to_raw_value(&object).map_err(|error| unreadable(method, &error))
}

/// The same parameters with a fresh operation id in front.
fn with_operation(method: &str, params: &RawValue) -> Result<Box<RawValue>, Error> {
    let not_an_object =
        || Error::Unreadable { method: method.to_owned(), reason: "its parameters are no object".to_owned() };
    let rest = match params.get().trim_start() {
        "null" => "}",
        text => text.strip_prefix('{').ok_or_else(not_an_object)?,
    };
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    let text = format!("{{\"operationId\":\"{}\"{comma}{rest}", ids::fresh());
    RawValue::from_string(text).map_err(|error| unreadable(method, &error))
}

#[cfg(test)]
mod tests;
