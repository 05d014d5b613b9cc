//! What a rule may call a source: an id. A name would make a rule that is about nothing, and looks as if it were.

use super::{Refusal, ServerRecord, Snapshot};

/// What sources of clients begin with; there may be rules for them before they have ever been here.
const CLIENT: &str = "client:";

/// Characters of what somebody took for a source that a refusal repeats.
const SHOWN_CHARACTERS: usize = 120;

/// Ids of servers that a refusal lists.
const LISTED: usize = 20;

impl Snapshot {
    /// Checks that a rule may be about a source: `app`, `files`, the id of a server there is, or the tools of some client.
    ///
    /// # Errors
    /// `invalidParams`, with the ids there are; a name of a server with its id.
    pub fn check_source(&self, path: &'static str, source: &str) -> Result<(), Refusal> {
        let is_clients = source.strip_prefix(CLIENT).is_some_and(|name| !name.is_empty());
        if is_clients || self.servers.contains_key(source) {
            return Ok(());
        }
        let is_called = |record: &&ServerRecord| record.name.eq_ignore_ascii_case(source) || record.slug == source;
        let called: Vec<&ServerRecord> = self.servers.values().map(AsRef::as_ref).filter(is_called).collect();
        let source: String = source.chars().take(SHOWN_CHARACTERS).collect();
        let (reason, message) = match *called {
            [] => ("unknown_source", format!("There is no source \"{source}\". {}", self.sources())),
            [one] => (
                "a_name",
                format!("\"{source}\" is a name, and rules know servers by their ids. Say {} instead.", one.server_id),
            ),
            _ => {
                let ids: Vec<&str> = called.iter().map(|record| record.server_id.as_str()).collect();
                ("a_name", format!("\"{source}\" is the name of several. Say which by its id: {}.", ids.join(", ")))
            }
        };
        Err(Refusal::invalid(path, reason, message))
    }

    fn sources(&self) -> String {
        let known = self.servers.values().map(|record| match record.is_builtin() {
            true => record.server_id.to_string(),
            false => format!("{} ({})", record.server_id, record.name),
        });
        let listed: Vec<String> = known.take(LISTED).collect();
        let more = match self.servers.len() - listed.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("There are {}{more}, and {CLIENT}NAME for the tools of a program.", listed.join(", "))
    }
}
