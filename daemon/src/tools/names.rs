//! Model-facing names: one injective, deterministic function from where a tool lives to what a model calls it.

use thiserror::Error;

#[cfg(test)]
mod tests;

/// Characters of a name, of a namespace and of a flat name.
pub const NAME_CHARACTERS: usize = 64;

/// What every flat name of a server's tool begins with; no client may use it.
pub const SERVER_PREFIX: &str = "mcp_";

/// How similar a name must be to be worth naming, from 0 to 1.
const NEAR: f64 = 0.75;

/// Why a name is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameProblem {
    /// A character that is not allowed, none at all, or too many.
    #[error("must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")]
    NotAName,
    /// Namespace and name together are too long.
    #[error("must be at most 64 characters together with its namespace and the two underscores between them")]
    FlatNameTooLong,
    /// It would look like a server's tool.
    #[error("must not begin with mcp_, which is kept for tools of servers")]
    KeptForServers,
}

/// What a model calls a client's tool: `namespace__name`, or `name` without a namespace.
#[must_use]
pub fn flat_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}__{name}"))
}

/// What a model calls a tool of the source with this slug, such as `mcp_app__ask_user`.
#[must_use]
pub fn server_flat_name(slug: &str, name: &str) -> String {
    format!("{SERVER_PREFIX}{slug}__{name}")
}

/// Whether a text is 1 to 64 of `[A-Za-z0-9_-]`.
///
/// # Errors
/// When it is not.
pub fn check_name(name: &str) -> Result<(), NameProblem> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let fits = (1..=NAME_CHARACTERS).contains(&name.len()) && name.bytes().all(allowed);
    if fits { Ok(()) } else { Err(NameProblem::NotAName) }
}

/// Whether a client may give a tool this flat name; its parts have been checked.
///
/// # Errors
/// When it is too long, or kept for tools of servers.
pub fn check_client_flat_name(flat_name: &str) -> Result<(), NameProblem> {
    if flat_name.starts_with(SERVER_PREFIX) {
        return Err(NameProblem::KeptForServers);
    }
    if flat_name.len() > NAME_CHARACTERS { Err(NameProblem::FlatNameTooLong) } else { Ok(()) }
}

/// Up to three of the names that somebody who wrote `wanted` may have meant, the nearest first.
#[must_use]
pub fn near_names<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (nearness(&wanted, &name.to_lowercase()), name))
        .filter(|(nearness, _)| *nearness >= NEAR)
        .collect();
    near.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
    near.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// Models often drop or invent a prefix, so the last parts are compared as well as the whole.
fn nearness(wanted: &str, name: &str) -> f64 {
    let whole = strsim::jaro_winkler(wanted, name);
    let last = strsim::jaro_winkler(last_part(wanted), last_part(name));
    whole.max(last * 0.99)
}

fn last_part(name: &str) -> &str {
    let part = name.rsplit("__").next().unwrap_or(name);
    part.rsplit(['.', '/', ':']).next().unwrap_or(part)
}
