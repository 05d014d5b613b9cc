//! Addresses of endpoints: what may be one, and which of them count as the same place for a key.

use ropewalk_protocol::{Endpoint, Provider};
use url::{Origin, Url};

use super::{Refusal, rules};
use crate::domain::is_loopback;

/// Longest address, in characters.
const ADDRESS_CHARACTERS: usize = 2_048;

/// The schemes of proxies; with `socks5h` the proxy looks up the names.
const PROXY_SCHEMES: &[&str] = &["http", "https", "socks5", "socks5h"];

/// An address is `https`, or `http` on this machine, and has nothing but host, port and path: keys are stored
/// elsewhere, and a query or fragment would get lost when paths are appended.
pub(super) fn check_address(path: &'static str, address: &str) -> Result<(), Refusal> {
    rules::line(path, address, ADDRESS_CHARACTERS)?;
    let refused = |reason, message: &str| Err(Refusal::invalid(path, reason, message));
    let Ok(url) = Url::parse(address) else {
        return refused("not_an_address", "This is no address. Write it as https://host/path.");
    };
    if address.chars().any(char::is_whitespace) {
        return refused("not_an_address", "An address has no spaces.");
    }
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) => {}
        "http" => {
            return refused("not_https", "Only an address on this machine may be http. Use https.");
        }
        _ => return refused("unknown_scheme", "An address begins with https:// (or http:// on this machine)."),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("has_credentials", "An address holds no name or password. Store the key with secret/set.");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return refused("has_query", "An address ends with its path. Leave out everything from ? or # on.");
    }
    Ok(())
}

/// A proxy is a scheme, a host and a port. It sees where an endpoint is, and through TLS nothing of what is said, so it may
/// be `http` anywhere.
pub(super) fn check_proxy(path: &'static str, address: &str) -> Result<(), Refusal> {
    rules::line(path, address, ADDRESS_CHARACTERS)?;
    let refused = |reason, message: &str| Err(Refusal::invalid(path, reason, message));
    let url = Url::parse(address).ok().filter(|_| !address.chars().any(char::is_whitespace));
    let Some(url) = url else {
        return refused("not_an_address", "This is no address. Write it as http://host:port or socks5://host:port.");
    };
    if !PROXY_SCHEMES.contains(&url.scheme()) {
        return refused("unknown_scheme", "A proxy begins with http://, https://, socks5:// or socks5h://.");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return refused("not_an_address", "A proxy has a host. Write it as http://host:port or socks5://host:port.");
    }
    if !url.username().is_empty() || url.password().is_some() {
        let message = "A proxy with a name and password is not supported, and endpoints are shown. Use one without, or \
                       leave proxyUrl out and set HTTPS_PROXY for the daemon.";
        return refused("has_credentials", message);
    }
    if url.query().is_some() || url.fragment().is_some() || !matches!(url.path(), "" | "/") {
        return refused("has_path", "A proxy is a host and a port. Leave out everything after them.");
    }
    Ok(())
}

/// The place a key of this endpoint is sent to.
pub(super) fn origin(endpoint: &Endpoint) -> (Provider, Option<Origin>) {
    let url = endpoint.base_url.as_deref().and_then(|address| Url::parse(address).ok());
    (endpoint.provider, url.map(|url| url.origin()))
}
