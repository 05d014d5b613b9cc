//! Endpoints and the verdict on one, as a person reads them.

use ropewalk_protocol::{Endpoint, EndpointTested};

use super::advice::next_step;
use crate::cli::{
    text::table,
    words::{spelled, wire},
};

/// All of them, a line each.
pub(super) fn listed(endpoints: &[Endpoint]) -> String {
    let row = |endpoint: &Endpoint| {
        vec![
            endpoint.name.clone(),
            spelled(&endpoint.provider),
            endpoint.model.clone(),
            endpoint.base_url.clone().unwrap_or_else(|| "-".to_owned()),
            notes(endpoint).join(", "),
        ]
    };
    table(&endpoints.iter().map(row).collect::<Vec<_>>()).trim_end().to_owned()
}

/// What is worth knowing of an endpoint beside its model and its place.
fn notes(endpoint: &Endpoint) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |applies: bool, text: &str| {
        if applies {
            notes.push(text.to_owned());
        }
    };
    note(endpoint.is_default, "default");
    note(!endpoint.enabled, "switched off");
    note(endpoint.has_credential, "has a key");
    note(endpoint.builtin, "built in, no model: does what the lines of a message say");
    if let Some(tokens) = endpoint.context_tokens {
        notes.push(format!("window of {tokens} tokens"));
    }
    if let Some(tokens) = endpoint.max_output_tokens {
        notes.push(format!("answers up to {tokens} tokens"));
    }
    if !endpoint.headers.is_empty() {
        let names: Vec<_> = endpoint.headers.keys().map(String::as_str).collect();
        notes.push(format!("sends {}", names.join(" and ")));
    }
    if let Some(proxy) = &endpoint.proxy_url {
        notes.push(format!("through {proxy}"));
    }
    notes
}

/// Whether it answered, and what to do if not.
pub(super) fn verdict(endpoint: &Endpoint, tested: &EndpointTested, program: &str) -> String {
    let name = &endpoint.name;
    match &tested.error {
        None if tested.ok => format!("{name} answered within {} ms.", tested.latency_ms),
        None => format!("{name} did not answer as it should."),
        Some(error) => {
            let next = next_step(endpoint, error, program);
            format!("{name} does not work ({}): {}\nNext: {next}", wire(&error.kind), error.message)
        }
    }
}
