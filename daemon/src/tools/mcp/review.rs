//! What a server offers beside what was approved of it, and what becomes of that when its owner decides.

use std::collections::{BTreeMap, BTreeSet};

use ropewalk_protocol::{FieldDifference, ReviewState, ReviewTool, ServerCounts, ServerId, ServerReview};
use serde_json::{Value, json};

use super::{
    Approved, Compared, ListedTool, Listing, MAX_TOOLS, Unusable, agent_tool,
    approved::{shown_description, shown_title},
    check_usable, function, kind, permission, tool_ids,
};
use crate::tools::digest::digest;

/// Characters of a name up to which a tool can be listed in a review at all.
const SHOWN_NAME_CHARACTERS: usize = 256;

/// Bytes of one side of a difference that are shown whole.
const SIDE_BYTES: usize = 16_384;

/// Bytes of all differences of a review that are shown whole: a review fits in a message.
const DIFFERENCE_BYTES: usize = 4_194_304;

/// What is known of a server before it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Reviewed<'a> {
    /// Its id.
    pub server_id: &'a ServerId,
    /// Its slug.
    pub slug: &'a str,
    /// The approved tools.
    pub approved: &'a [Approved],
    /// The names of tools that its owner saw and did not approve.
    pub cleared: &'a BTreeSet<String>,
    /// The tool ids that were given, by name.
    pub tool_ids: &'a BTreeMap<String, String>,
}

/// One tool of a review, with what it would be approved as.
struct Row {
    shown: ReviewTool,
    /// As it would be approved; none when it cannot be.
    offer: Option<Approved>,
}

/// What a server offers. Without a listing the approved tools stand as they were approved.
#[must_use]
pub fn review(server: &Reviewed<'_>, listing: Option<&Listing>) -> ServerReview {
    let Rows { rows, ignored } = rows(server, listing);
    let digest = review_digest(server, &rows, ignored);
    let mut room = DIFFERENCE_BYTES;
    let mut tools: Vec<ReviewTool> = rows.into_iter().map(|row| row.shown).collect();
    for difference in tools.iter_mut().filter_map(|tool| tool.diff.as_mut()).flat_map(BTreeMap::values_mut) {
        shorten(difference, &mut room);
    }
    ServerReview { server_id: server.server_id.clone(), digest, origins: Vec::new(), ignored_tools: ignored, tools }
}

/// How many tools stand how.
#[must_use]
pub fn counts(server: &Reviewed<'_>, listing: Option<&Listing>) -> ServerCounts {
    let mut counts = ServerCounts::default();
    for Row { shown: tool, .. } in rows(server, listing).rows {
        let field = match (tool.state, tool.approved) {
            (ReviewState::New, _) => &mut counts.new,
            (ReviewState::Changed, _) | (ReviewState::Unusable, true) => &mut counts.blocked,
            (ReviewState::Unusable, false) => &mut counts.unusable,
            (ReviewState::Missing, _) => {
                counts.approved += 1;
                &mut counts.missing
            }
            (ReviewState::Updated, _) => {
                counts.approved += 1;
                &mut counts.updates
            }
            (ReviewState::Ok, _) => &mut counts.approved,
            (ReviewState::Cleared, _) => continue,
        };
        *field += 1;
    }
    counts
}

/// What an owner decided about a review.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The approved tools from now on, in the order of their names.
    pub approved: Vec<Approved>,
    /// The names that count as seen and not approved.
    pub cleared: BTreeSet<String>,
    /// The tool ids given so far, those of tools that are gone included: a name that comes back gets its own.
    pub tool_ids: BTreeMap<String, String>,
    /// The tools whose behaviour was another than approved: they go back to their default level (MCP-85).
    pub reset: Vec<String>,
}

/// Why a decision about a review is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The review is another by now.
    Outdated,
    /// There is no tool of this name, the one at this place of the list.
    Unknown(usize),
    /// The tool at this place cannot be used, for this reason.
    Unusable(usize, String),
}

/// What becomes of a server when its owner approves these tools of the review with this digest.
///
/// # Errors
/// As [`Choice`] says; nothing is decided then.
pub fn choose(
    server: &Reviewed<'_>,
    listing: Option<&Listing>,
    seen: &str,
    names: &[String],
) -> Result<Chosen, Choice> {
    let Rows { rows, ignored } = rows(server, listing);
    if review_digest(server, &rows, ignored) != seen {
        return Err(Choice::Outdated);
    }
    for (at, name) in names.iter().enumerate() {
        let row = rows.iter().find(|row| row.shown.name == *name).ok_or(Choice::Unknown(at))?;
        if row.offer.is_none() {
            return Err(Choice::Unusable(at, row.shown.reason.clone().unwrap_or_default()));
        }
    }
    let mut chosen = Chosen {
        approved: Vec::new(),
        cleared: server.cleared.clone(),
        tool_ids: server.tool_ids.clone(),
        reset: Vec::new(),
    };
    for Row { shown, offer } in rows {
        let is_kept = names.contains(&shown.name);
        match offer {
            Some(offer) if is_kept => {
                if shown.state == ReviewState::Changed {
                    chosen.reset.push(shown.name.clone());
                }
                chosen.cleared.remove(&shown.name);
                chosen.tool_ids.insert(shown.name, shown.tool_id);
                chosen.approved.push(offer);
            }
            // One that nobody could approve was not turned down: it is new once it can be used.
            None if !shown.approved => {}
            _ => {
                chosen.tool_ids.insert(shown.name.clone(), shown.tool_id);
                chosen.cleared.insert(shown.name);
            }
        }
    }
    Ok(chosen)
}

struct Rows {
    rows: Vec<Row>,
    ignored: u64,
}

fn rows(server: &Reviewed<'_>, listing: Option<&Listing>) -> Rows {
    let all = listing.map_or(&[][..], |listing| &listing.tools);
    let looked_at = &all[..all.len().min(MAX_TOOLS)];
    let (named, nameless): (Vec<&ListedTool>, Vec<&ListedTool>) = looked_at.iter().partition(|tool| is_shown(tool));
    let ignored = listing.map_or(0, |listing| listing.ignored) + (all.len() - looked_at.len() + nameless.len()) as u64;
    let mut listed: BTreeMap<&str, Vec<&ListedTool>> = BTreeMap::new();
    for tool in named {
        listed.entry(&tool.name).or_default().push(tool);
    }
    let approved: BTreeMap<&str, &Approved> = server.approved.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    let ids = tool_ids(server.tool_ids, listed.keys().chain(approved.keys()).copied());
    let row = |(name, id): (&String, &String)| {
        let approved = approved.get(name.as_str()).copied();
        match (listed.get(name.as_str()).map(Vec::as_slice), approved) {
            (Some(same), approved) => Some(listed_row(server, same, approved, id)),
            (None, Some(approved)) => Some(unlisted_row(server, approved, listing.is_some())),
            (None, None) => None,
        }
    };
    Rows { rows: ids.iter().filter_map(row).collect(), ignored }
}

fn is_shown(tool: &ListedTool) -> bool {
    !tool.name.is_empty() && tool.name.chars().take(SHOWN_NAME_CHARACTERS + 1).count() <= SHOWN_NAME_CHARACTERS
}

fn listed_row(server: &Reviewed<'_>, same: &[&ListedTool], approved: Option<&Approved>, id: &str) -> Row {
    let tool = same[0];
    let usable = if same.len() > 1 { Err(Unusable::RepeatedName) } else { check_usable(tool) };
    let now = Approved::now(tool, id.to_owned());
    let (state, diff) = match (&usable, approved) {
        (Err(_), _) => (ReviewState::Unusable, None),
        (Ok(()), Some(approved)) => match approved.compare(&now) {
            Compared::Same => (ReviewState::Ok, None),
            Compared::Text(diff) => (ReviewState::Updated, Some(diff)),
            Compared::Behaviour(diff) => (ReviewState::Changed, Some(diff)),
        },
        (Ok(()), None) if server.cleared.contains(&tool.name) => (ReviewState::Cleared, None),
        (Ok(()), None) => (ReviewState::New, None),
    };
    let shown = ReviewTool {
        title: shown_title(tool),
        description: shown_description(tool),
        kind: kind(&tool.annotations),
        state,
        reason: usable.as_ref().err().map(ToString::to_string),
        approved: approved.is_some(),
        diff,
        ..named(server, &tool.name, id)
    };
    Row { shown, offer: usable.is_ok().then_some(now) }
}

/// An approved tool that is not on the list, or whose server was not listed.
fn unlisted_row(server: &Reviewed<'_>, approved: &Approved, was_listed: bool) -> Row {
    let shown = ReviewTool {
        title: approved.title.clone(),
        description: approved.description.clone(),
        kind: kind(&approved.annotations),
        state: if was_listed { ReviewState::Missing } else { ReviewState::Ok },
        approved: true,
        ..named(server, &approved.name, &approved.tool_id)
    };
    Row { shown, offer: Some(approved.clone()) }
}

/// A tool of which only the names are known.
fn named(server: &Reviewed<'_>, name: &str, id: &str) -> ReviewTool {
    ReviewTool {
        name: name.to_owned(),
        tool_id: id.to_owned(),
        permission: permission(server.slug, id),
        function: function(server.slug, id),
        agent_tool: agent_tool(server.slug, id),
        title: None,
        description: String::new(),
        kind: ropewalk_protocol::ServerToolKind::Write,
        state: ReviewState::New,
        reason: None,
        approved: false,
        diff: None,
    }
}

/// Covers all that is decided on, whole: what is cut when it is shown is in it uncut.
fn review_digest(server: &Reviewed<'_>, rows: &[Row], ignored: u64) -> String {
    let row = |row: &Row| {
        json!({
            "name": row.shown.name,
            "toolId": row.shown.tool_id,
            "title": row.shown.title,
            "description": row.shown.description,
            "behaviour": row.offer.as_ref().map(|offer| &offer.digest),
            "state": row.shown.state,
            "reason": row.shown.reason,
            "approved": row.shown.approved,
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    digest(&json!({ "serverId": server.server_id, "slug": server.slug, "ignoredTools": ignored, "tools": rows }))
}

/// Says a long side in a sentence.
fn shorten(difference: &mut FieldDifference, room: &mut usize) {
    for side in [&mut difference.was, &mut difference.now].into_iter().flatten() {
        let bytes = side.to_string().len();
        if bytes > SIDE_BYTES || bytes > *room {
            *side = Value::String(format!("{bytes} bytes, too many to show here"));
        } else {
            *room -= bytes;
        }
    }
}
