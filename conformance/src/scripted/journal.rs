//! What was asked, for a test to look at.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use axum::http::HeaderMap;
use serde_json::Value;

use super::{refusal::Refusal, shape::Shape};

/// How many requests are kept.
const KEPT: usize = 4_096;
/// How many refusals are kept, longer than their requests.
const REFUSALS: usize = 64;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// In which shape it came.
    pub shape: Shape,
    /// Its headers, names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// Its body; null when it was no JSON.
    pub body: Value,
    /// Why it was refused, if it was.
    pub refused: Option<String>,
}

#[derive(Default)]
pub(super) struct Journal {
    requests: Mutex<VecDeque<RecordedRequest>>,
    refusals: Mutex<Vec<String>>,
}

impl Journal {
    pub(super) fn record(&self, shape: Shape, headers: &HeaderMap, body: &Value, refusal: Option<&Refusal>) {
        let text = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = headers.iter().map(text).collect();
        let refused = refusal.map(|refusal| refusal.message.clone());
        if let Some(refusal) = refusal {
            let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
            if refusals.len() < REFUSALS {
                refusals.push(format!("{}: {body}", refusal.message));
            }
        }
        let request = RecordedRequest { shape, headers, body: body.clone(), refused };
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() == KEPT {
            requests.pop_front();
        }
        requests.push_back(request);
    }

    pub(super) fn requests(&self) -> Vec<RecordedRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(super) fn refusals(&self) -> Vec<String> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
