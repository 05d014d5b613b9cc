//! What to do about an endpoint that does not answer, for each kind of failure. `docs/endpoints.md` says the same at length.

use ropewalk_protocol::{Endpoint, Provider, RunError, RunErrorKind};

use crate::cli::text::duration;

/// What rustls says of an answer that is no TLS, as that of a server of plain HTTP.
const NO_TLS: &str = "InvalidContentType";

/// The next step, as one sentence with a command where there is one.
pub(crate) fn next_step(endpoint: &Endpoint, error: &RunError, program: &str) -> String {
    let name = &endpoint.name;
    match error.kind {
        // The message says whether it was refused or cannot be read.
        RunErrorKind::Auth if endpoint.has_credential => {
            format!("`{program} endpoint key {name}` stores another key; check that it is for this provider.")
        }
        RunErrorKind::Auth => format!("`{program} endpoint key {name}` stores its key."),
        RunErrorKind::ModelNotFound => {
            let pull = match endpoint.provider {
                Provider::Ollama => format!(", or `ollama pull {}` gets it", endpoint.model),
                _ => String::new(),
            };
            format!("`{program} endpoint set {name} --model MODEL` names a model it knows{pull}.")
        }
        RunErrorKind::Unreachable => unreachable(endpoint, error, program),
        RunErrorKind::RateLimited | RunErrorKind::Overloaded => match error.retry_after_ms {
            Some(ms) => format!("try again in {}; runs wait and ask again by themselves.", duration(Some(ms))),
            None => "try again in a while; runs wait and ask again by themselves.".to_owned(),
        },
        RunErrorKind::Quota => {
            "the account has nothing left: look at its credit and limits with the provider.".to_owned()
        }
        RunErrorKind::Stalled => format!(
            "it took the request and fell silent: a model that is still being loaded needs a second try; \
             `{program} endpoint set {name} --url URL` corrects an address that something else answers at."
        ),
        RunErrorKind::ContextWindow => format!(
            "even a short request is too long for it: `{program} endpoint set {name} --context-tokens N \
             --max-output-tokens N` tells its limits."
        ),
        RunErrorKind::BadRequest => format!(
            "it refused the request itself: check `--url`, `--provider`, `--model`, `--header` and `--max-output-tokens` \
             with `{program} endpoint list`, and correct them with `{program} endpoint set {name}`."
        ),
        RunErrorKind::BadResponse | RunErrorKind::CutOff => format!(
            "what answers there may not speak what the endpoint says. `{program} endpoint set {name} --provider PROVIDER \
             --url URL` corrects it; the address ends before `/chat/completions` or its like."
        ),
        RunErrorKind::NoEndpoint => format!("`{program} endpoint list` shows what there is."),
        _ => "docs/endpoints.md says what can go wrong.".to_owned(),
    }
}

fn unreachable(endpoint: &Endpoint, error: &RunError, program: &str) -> String {
    let name = &endpoint.name;
    if error.message.contains(NO_TLS) {
        return format!(
            "what listens there speaks no TLS: `{program} endpoint set {name} --url http://…` if it is on this machine."
        );
    }
    if let Some(proxy) = &endpoint.proxy_url {
        return format!(
            "check that {proxy} is up and lets it through; `{program} endpoint set {name} --proxy none` leaves it out."
        );
    }
    match &endpoint.base_url {
        Some(url) => format!(
            "check that something listens at {url}; `{program} endpoint set {name} --url URL` names another address, \
             `--proxy URL` a way to it."
        ),
        None => format!(
            "check the network of this machine; `{program} endpoint set {name} --proxy URL` names a proxy if one is needed."
        ),
    }
}
