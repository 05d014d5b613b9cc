//! HTTP clients, one for each way to the network; making one is slow, because it reads the machine's certificates.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{Client, ClientBuilder, Proxy, Url};

use crate::domain::is_loopback;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many ways are remembered; the one that was made first is forgotten first.
const KEPT: usize = 16;

/// The schemes a proxy may have.
const PROXY_SCHEMES: [&str; 4] = ["http", "https", "socks5", "socks5h"];

/// The way to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To this machine, whatever the environment says of proxies.
    Loopback,
    /// Through what the environment says, if it says anything.
    Environment,
    /// Through this proxy, to wherever it is.
    Proxy(String),
}

impl Way {
    /// The way to `url`, where the endpoint names `proxy_url` or none. The error says what is wrong with that.
    pub(super) fn to(url: &Url, proxy_url: Option<&str>) -> Result<Self, String> {
        let Some(proxy_url) = proxy_url else {
            return Ok(if is_loopback(url) { Self::Loopback } else { Self::Environment });
        };
        let proxy = Url::parse(proxy_url).map_err(|error| format!("its proxyUrl is no URL: {error}"))?;
        if !PROXY_SCHEMES.contains(&proxy.scheme()) || proxy.host_str().is_none() {
            return Err(format!("its proxyUrl must name a host and be one of {}", PROXY_SCHEMES.join(", ")));
        }
        Ok(Self::Proxy(proxy_url.to_owned()))
    }

    fn client(&self) -> Result<Client, reqwest::Error> {
        // A redirect would carry the request, and with some servers its key, to an address nobody configured.
        let builder = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("ropewalk/", env!("CARGO_PKG_VERSION")));
        self.lead(builder)?.build()
    }

    fn lead(&self, builder: ClientBuilder) -> Result<ClientBuilder, reqwest::Error> {
        Ok(match self {
            Self::Loopback => builder.no_proxy(),
            Self::Environment => builder,
            Self::Proxy(url) => builder.no_proxy().proxy(Proxy::all(url)?),
        })
    }
}

/// The clients made so far.
#[derive(Default)]
pub(super) struct Clients(Mutex<Vec<(Way, Client)>>);

impl Clients {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The client for a way.
    pub(super) fn client(&self, way: Way) -> Result<Client, String> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = made.iter().find(|(known, _)| *known == way) {
            return Ok(client.clone());
        }
        let client = way.client().map_err(|error| format!("no HTTP client can be made: {}", error.without_url()))?;
        if made.len() == KEPT {
            made.remove(0);
        }
        made.push((way, client.clone()));
        Ok(client)
    }
}
