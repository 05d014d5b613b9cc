//! `edit_file`: exact replacements, all or none.

use ropewalk_protocol::Capability;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Done, Stop, text,
    write::{IfExists, put, written},
};
use crate::files::{reach::Reach, refusal::Refusal};

/// What to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditFile {
    /// The file, by its absolute path.
    path: String,
    /// The replacements, carried out one after the other; when one cannot be, none is.
    #[schemars(length(min = 1))]
    edits: Vec<Edit>,
}

/// One replacement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct Edit {
    /// The text to replace, exactly as it is in the file. It must occur exactly once.
    #[schemars(length(min = 1))]
    old_text: String,
    /// The text to put in its place.
    new_text: String,
}

/// Edits the file.
pub fn run(reach: &Reach, args: &EditFile, stop: &Stop) -> Result<Done, Refusal> {
    let _alone = reach.writing();
    stop.check()?;
    let spot = reach.find(&args.path, &[Capability::Read, Capability::Write])?;
    let mut content = text::whole(spot.file()?, &spot.path, stop)?;
    if args.edits.is_empty() {
        return Err(Refusal::asked("there are no edits"));
    }
    for (index, edit) in args.edits.iter().enumerate() {
        stop.check()?;
        let at = only(&content, edit, index + 1)?;
        content.replace_range(at..at + edit.old_text.len(), &edit.new_text);
    }
    let change = put(&spot, content.as_bytes(), IfExists::Replace)?;
    written(&spot, content.len(), change)
}

/// Places of a text that are named; of the others it is said how many there are.
const PLACES: usize = 10;

/// Places that are counted: a text that repeats itself may have millions, each as long to look at as the one before.
const COUNTED: usize = 100;

/// Where the text of an edit is, if it is there once.
fn only(content: &str, edit: &Edit, number: usize) -> Result<usize, Refusal> {
    if edit.old_text.is_empty() {
        return Err(Refusal::asked(format!("edit {number} has an empty oldText; nothing was changed")));
    }
    let mut found = Vec::new();
    let mut from = 0;
    // From one character behind the last: places that overlap are places.
    while let Some(at) = content.get(from..).and_then(|rest| rest.find(&edit.old_text)) {
        found.push(from + at);
        if found.len() == COUNTED {
            break;
        }
        from += at + content[from + at..].chars().next().map_or(1, char::len_utf8);
    }
    match *found {
        [at] => Ok(at),
        [] => {
            let only_lf = edit.old_text.contains('\n') && !edit.old_text.contains("\r\n");
            let hint = if only_lf && content.contains("\r\n") { " (its lines end with CRLF)" } else { "" };
            Err(Refusal::asked(format!(
                "the oldText of edit {number} does not occur in the file{hint}; nothing was changed"
            )))
        }
        _ => Err(Refusal::asked(format!(
            "the oldText of edit {number} occurs {}{} times in the file, in {}, and must occur once: give more of the \
             text around it; nothing was changed",
            if found.len() == COUNTED { "at least " } else { "" },
            found.len(),
            lines(content, &found)
        ))),
    }
}

/// The lines in which these places are, for a person or a model to find them.
fn lines(content: &str, places: &[usize]) -> String {
    let line = |at: &usize| (1 + content[..*at].matches('\n').count()).to_string();
    let mut named: Vec<_> = places.iter().take(PLACES).map(line).collect();
    named.dedup();
    let more = if places.len() > PLACES { " and more" } else { "" };
    format!("{} {}{more}", if named.len() == 1 { "line" } else { "lines" }, named.join(", "))
}
