//! Whether an address is on this machine: who may go without TLS, without a proxy and without a key.

use url::{Host, Url};

/// Whether the host of an address is this machine: `localhost` in any case, or a loopback address.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
