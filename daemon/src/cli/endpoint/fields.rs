//! What `endpoint add` and `endpoint set` say about an endpoint.

use std::collections::BTreeMap;

use clap::Args;
use ropewalk_protocol::{EndpointSetParams, Patch, Provider};

use crate::cli::{key::KeyArgs, words::words};

const PROVIDERS: &[&str] = &["openai-compatible", "openai-responses", "anthropic", "gemini", "ollama"];

/// A new endpoint.
#[derive(Args, Clone, Debug)]
pub(super) struct AddArgs {
    /// What it is called
    pub(super) name: String,
    /// What it speaks
    #[arg(long, default_value = "openai-compatible", value_name = "PROVIDER", value_parser = words::<Provider>(PROVIDERS))]
    provider: Provider,
    /// Its address, as far as before `/chat/completions` or its like; most providers have one of their own
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// What the model is called there
    #[arg(long, value_name = "MODEL")]
    model: String,
    #[command(flatten)]
    rest: RestArgs,
    #[command(flatten)]
    pub(super) key: KeyArgs,
    /// Make it the default; the first one is in any case
    #[arg(long)]
    pub(super) default: bool,
}

/// A change of an endpoint.
#[derive(Args, Clone, Debug)]
pub(super) struct ChangeArgs {
    /// Its name or id
    pub(super) name: String,
    /// A new name
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    /// What it speaks
    #[arg(long, value_name = "PROVIDER", value_parser = words::<Provider>(PROVIDERS))]
    provider: Option<Provider>,
    /// Its address, or `none` for the provider's own
    #[arg(long, value_name = "URL|none", value_parser = text_or_none)]
    url: Option<Patch<String>>,
    /// What the model is called there
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    rest: RestArgs,
    /// Whether runs may use it
    #[arg(long, value_name = "true|false")]
    enabled: Option<bool>,
    #[command(flatten)]
    pub(super) key: KeyArgs,
}

/// What both take.
#[derive(Args, Clone, Debug)]
struct RestArgs {
    /// How many tokens its context has, or `none` for what is known of the model
    #[arg(long, value_name = "N|none", value_parser = number_or_none)]
    context_tokens: Option<Patch<u64>>,
    /// How many tokens one answer may have, or `none` for what the provider does by itself
    #[arg(long, value_name = "N|none", value_parser = number_or_none)]
    max_output_tokens: Option<Patch<u64>>,
    /// A header sent with every request; given once for each. Keys are no headers
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = header, conflicts_with = "no_headers")]
    headers: Vec<(String, String)>,
    /// Send no headers of yours
    #[arg(long)]
    no_headers: bool,
    /// The proxy it is reached through, `http://…`, `https://…` or `socks5://…`, or `none`
    #[arg(long, value_name = "URL|none", value_parser = text_or_none)]
    proxy: Option<Patch<String>>,
    /// What it is good for, in words, or `none`
    #[arg(long, value_name = "TEXT|none", value_parser = text_or_none)]
    good_for: Option<Patch<String>>,
    /// How able it is, from 1 to 5, or `none`
    #[arg(long, value_name = "1-5|none", value_parser = level_or_none)]
    capability: Option<Patch<u8>>,
    /// Whether subtasks may use it
    #[arg(long, value_name = "true|false")]
    for_subtasks: Option<bool>,
}

impl AddArgs {
    /// The parameters of the method, without what is said about the default.
    pub(super) fn params(self) -> EndpointSetParams {
        EndpointSetParams {
            name: Some(self.name),
            provider: Some(self.provider),
            base_url: self.url.map_or(Patch::Keep, Patch::Set),
            model: Some(self.model),
            ..self.rest.params()
        }
    }
}

impl ChangeArgs {
    /// The parameters of the method, without which endpoint it is.
    pub(super) fn params(self) -> EndpointSetParams {
        EndpointSetParams {
            name: self.rename,
            provider: self.provider,
            base_url: self.url.unwrap_or_default(),
            model: self.model,
            enabled: self.enabled,
            ..self.rest.params()
        }
    }
}

impl RestArgs {
    fn params(self) -> EndpointSetParams {
        let headers: BTreeMap<_, _> = self.headers.into_iter().collect();
        EndpointSetParams {
            context_tokens: self.context_tokens.unwrap_or_default(),
            max_output_tokens: self.max_output_tokens.unwrap_or_default(),
            headers: match (self.no_headers, headers.is_empty()) {
                (true, _) => Patch::Clear,
                (false, true) => Patch::Keep,
                (false, false) => Patch::Set(headers),
            },
            proxy_url: self.proxy.unwrap_or_default(),
            good_for: self.good_for.unwrap_or_default(),
            capability: self.capability.unwrap_or_default(),
            for_subtasks: self.for_subtasks,
            ..EndpointSetParams::default()
        }
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a header is written NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn text_or_none(text: &str) -> Result<Patch<String>, String> {
    Ok(if text == "none" { Patch::Clear } else { Patch::Set(text.to_owned()) })
}

fn number_or_none(text: &str) -> Result<Patch<u64>, String> {
    or_none(text, "a whole number, or `none`")
}

fn level_or_none(text: &str) -> Result<Patch<u8>, String> {
    or_none(text, "a number from 1 to 5, or `none`")
}

fn or_none<T: std::str::FromStr>(text: &str, expected: &str) -> Result<Patch<T>, String> {
    match text {
        "none" => Ok(Patch::Clear),
        _ => text.parse().map(Patch::Set).map_err(|_| expected.to_owned()),
    }
}
