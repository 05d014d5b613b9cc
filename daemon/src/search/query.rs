//! What a message must have to be found.

use regex::bytes;
use ropewalk_protocol::{Message, Part, Role, limits::FRAGMENT_CHARACTERS};

use super::{
    fragment::around,
    matcher::{Dialect, Matcher, in_json},
};

/// What is looked for, and in whose messages.
#[derive(Clone, Debug)]
pub struct Query {
    matcher: Matcher,
    /// What text as JSON must have, where that can be said.
    raw: Option<bytes::Regex>,
    roles: Vec<Role>,
}

/// Whose messages are looked at unless a search says otherwise (APP-67).
const ROLES: [Role; 2] = [Role::User, Role::Assistant];

/// What was found in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// What is around the first match.
    pub fragment: String,
    /// How often the message has it.
    pub count: u64,
}

impl Query {
    /// A query for a text in the messages of some roles; of users and models where none are named.
    ///
    /// # Errors
    /// Why the text cannot be looked for, in words for whoever wrote it.
    pub fn new(text: &str, dialect: Dialect, roles: Option<&[Role]>) -> Result<Self, String> {
        let matcher = Matcher::new(text, dialect)?;
        let raw = if dialect.is_regex { None } else { Some(in_json(text, dialect.ignore_case)?) };
        Ok(Self { matcher, raw, roles: roles.unwrap_or(&ROLES).to_vec() })
    }

    /// Whether messages of a role are looked at.
    #[must_use]
    pub fn wants(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Finds what a match leaves in text as JSON; nothing where only reading the text can tell.
    #[must_use]
    pub const fn raw(&self) -> Option<&bytes::Regex> {
        self.raw.as_ref()
    }

    /// Whether a text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matcher.is_in(text)
    }

    /// What a message has of it. Each of its texts is looked at by itself.
    #[must_use]
    pub fn look_at(&self, message: &Message) -> Option<Matched> {
        let texts = message.content.iter().filter_map(Part::as_text);
        let mut found: Option<Matched> = None;
        for text in texts {
            let count = self.matcher.count(text) as u64;
            match (&mut found, self.matcher.find(text)) {
                (Some(found), _) => found.count += count,
                (None, Some(at)) => {
                    let most = usize::try_from(FRAGMENT_CHARACTERS).unwrap_or(usize::MAX);
                    found = Some(Matched { fragment: around(text, at.start, most), count });
                }
                (None, None) => {}
            }
        }
        found
    }
}
