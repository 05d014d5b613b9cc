//! What a server and its tools are called: in names for models, for apps and for rules.

use std::fmt::Display;

/// Characters of a slug, a number that tells it from others included.
pub const MAX_SLUG_CHARACTERS: usize = 24;

/// The slug of a server whose name has nothing to make one of.
const FALLBACK: &str = "server";

/// What the names of a server's tools are made of: `[a-z0-9]`, a letter first, at most 24 characters, and none of those that
/// are taken.
#[must_use]
pub fn slug(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let letters = name.chars().flat_map(char::to_lowercase).map(plain).filter(char::is_ascii_alphanumeric);
    let bare: String = letters.skip_while(|letter| !letter.is_ascii_alphabetic()).take(MAX_SLUG_CHARACTERS).collect();
    let bare = if bare.is_empty() { FALLBACK } else { &bare };
    let numbered = |number: u64| {
        let number = number.to_string();
        let kept = bare.len().min(MAX_SLUG_CHARACTERS - number.len());
        format!("{}{number}", &bare[..kept])
    };
    let candidates = std::iter::once(bare.to_owned()).chain((2..).map(numbered));
    candidates.into_iter().find(|candidate| !is_taken(candidate)).unwrap_or_default()
}

/// The letter without its marks, for those that European names are full of; all else stays.
const fn plain(letter: char) -> char {
    match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' => 'd',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ğ' => 'g',
        'ì'..='ï' | 'ī' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' | 'ß' => 's',
        'ť' => 't',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

/// What accounts of a server begin with: `mcp-<slug>`.
#[must_use]
pub fn connection_type(slug: impl Display) -> String {
    format!("mcp-{slug}")
}

/// What an app declares: `mcp-<slug>.<toolId>`.
#[must_use]
pub fn permission(slug: impl Display, tool_id: impl Display) -> String {
    format!("mcp-{slug}.{tool_id}")
}

/// What an app calls: `mcp.<slug>.<toolId>`.
#[must_use]
pub fn function(slug: impl Display, tool_id: impl Display) -> String {
    format!("mcp.{slug}.{tool_id}")
}

/// What a model calls: `mcp_<slug>_<toolId>`, at most 61 characters. Neither part has an underscore, so no two pairs make one
/// name, and none is that of a bundled server's tool.
#[must_use]
pub fn agent_tool(slug: impl Display, tool_id: impl Display) -> String {
    format!("mcp_{slug}_{tool_id}")
}
