//! What a whole endpoint must be like, whichever of its fields a change named.

use ropewalk_protocol::{Endpoint, Provider};

use super::{
    Refusal,
    address::{check_address, check_proxy},
    endpoint_headers::check_headers,
    rules::{self, MAX_INTEGER},
};

/// Longest name of a model or currency, in characters.
const WORD_CHARACTERS: usize = 256;

/// Longest text on what an endpoint is good for, in characters.
const GOOD_FOR_CHARACTERS: usize = 2_048;

/// Checks an endpoint as it would be stored.
///
/// # Errors
/// [`Refusal::Invalid`] with the place of the first thing that does not fit.
pub(super) fn check(endpoint: &Endpoint) -> Result<(), Refusal> {
    rules::name("/name", &endpoint.name)?;
    rules::line("/model", &endpoint.model, WORD_CHARACTERS)?;
    check_base_url(endpoint)?;
    check_way(endpoint)?;
    check_tokens(endpoint)?;
    if let Some(capability) = endpoint.capability {
        rules::within("/capability", capability.into(), 1..=5)?;
    }
    rules::text("/goodFor", endpoint.good_for.as_deref().unwrap_or_default(), GOOD_FOR_CHARACTERS)?;
    check_prices(endpoint)
}

fn check_base_url(endpoint: &Endpoint) -> Result<(), Refusal> {
    match (endpoint.provider, &endpoint.base_url) {
        (Provider::OpenaiCompatible, None) => {
            let message = "An openaiCompatible endpoint needs a baseUrl.";
            Err(Refusal::invalid("/baseUrl", "required_for_provider", message))
        }
        (Provider::Scripted, Some(_)) => {
            let message = "A scripted endpoint has no address. Leave baseUrl out or set it to null.";
            Err(Refusal::invalid("/baseUrl", "not_for_provider", message))
        }
        (_, Some(base_url)) => check_address("/baseUrl", base_url),
        (_, None) => Ok(()),
    }
}

/// How it is reached beside its address. The scripted endpoint sends nothing, so nothing can go with what it sends.
fn check_way(endpoint: &Endpoint) -> Result<(), Refusal> {
    if endpoint.provider == Provider::Scripted {
        let given = [("/headers", !endpoint.headers.is_empty()), ("/proxyUrl", endpoint.proxy_url.is_some())];
        if let Some((path, _)) = given.into_iter().find(|(_, given)| *given) {
            let message = "A scripted endpoint sends no requests. Leave this out or set it to null.";
            return Err(Refusal::invalid(path, "not_for_provider", message));
        }
    }
    check_headers(&endpoint.headers)?;
    endpoint.proxy_url.as_deref().map_or(Ok(()), |proxy| check_proxy("/proxyUrl", proxy))
}

fn check_tokens(endpoint: &Endpoint) -> Result<(), Refusal> {
    if let Some(tokens) = endpoint.context_tokens {
        rules::within("/contextTokens", tokens, 1..=MAX_INTEGER)?;
    }
    let Some(most) = endpoint.max_output_tokens else { return Ok(()) };
    rules::within("/maxOutputTokens", most, 1..=MAX_INTEGER)?;
    match endpoint.context_tokens {
        Some(window) if most >= window => {
            let message = format!(
                "An answer of {most} tokens leaves no room for a question in a window of {window}. \
                 maxOutputTokens must be less than contextTokens."
            );
            Err(Refusal::invalid("/maxOutputTokens", "fills_the_window", message))
        }
        _ => Ok(()),
    }
}

fn check_prices(endpoint: &Endpoint) -> Result<(), Refusal> {
    let Some(prices) = &endpoint.prices else { return Ok(()) };
    rules::line("/prices/currency", &prices.currency, 16)?;
    rules::price("/prices/inputPerMillion", prices.input_per_million)?;
    rules::price("/prices/outputPerMillion", prices.output_per_million)?;
    rules::price("/prices/cachedInputPerMillion", prices.cached_input_per_million.unwrap_or_default())
}
