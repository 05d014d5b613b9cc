//! All the tools, with what is told of each.

use rmcp::{
    handler::server::tool::{schema_for_input, schema_for_output},
    model::{JsonObject, Tool, ToolAnnotations},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Done, Stop, edit, find, grep, info, list, read, write};
use crate::files::{reach::Reach, refusal::Refusal};

/// Carries out a tool; it blocks.
type CarryOut = dyn Fn(&Reach, JsonObject, &Stop) -> Result<Done, Refusal> + Send + Sync;

/// A tool and how it is carried out.
pub struct Entry {
    /// What is told of it.
    pub tool: Tool,
    /// Carries it out; it blocks.
    pub run: Box<CarryOut>,
}

/// All tools, in the order in which they are listed.
///
/// # Errors
/// When a schema is not one of an object, which is a mistake in this program.
pub fn table() -> Result<Vec<Entry>, String> {
    let looks = || ToolAnnotations::new().read_only(true).open_world(false);
    let changes = || ToolAnnotations::new().read_only(false).destructive(true).open_world(false);
    Ok(vec![
        entry::<_, read::FileRead>(["read_file", "Read a file"], READ, looks(), read::run)?,
        entry::<_, write::FileWritten>(["write_file", "Write a file"], WRITE, changes().idempotent(true), write::run)?,
        entry::<_, write::FileWritten>(["edit_file", "Edit a file"], EDIT, changes().idempotent(false), edit::run)?,
        entry::<_, list::Listed>(["list_dir", "List a directory"], LIST, looks(), list::run)?,
        entry::<_, find::FilesFound>(["find_files", "Find files"], FIND, looks(), find::run)?,
        entry::<_, grep::Grepped>(["grep_files", "Search files"], GREP, looks(), grep::run)?,
        entry::<_, info::Info>(["file_info", "Look at a file"], INFO, looks(), info::run)?,
    ])
}

const READ: &str = "Reads a text file, whole or by lines. An answer holds at most 262,144 characters; one that is cut says \
                    with which line to go on.";
const WRITE: &str = "Writes a text file, whole: makes it, or replaces all that is in it.";
const EDIT: &str =
    "Replaces exact pieces of a text file. Each must occur exactly once; when one does not, nothing is changed.";
const LIST: &str = "Lists what is in a directory.";
const FIND: &str = "Finds files below a directory by a pattern of their names.";
const GREP: &str = "Finds the lines of files that have a text.";
const INFO: &str = "Says what is at a path: file or directory, its size, and when it was last changed.";

fn entry<A, O>(
    [name, title]: [&'static str; 2],
    description: &'static str,
    annotations: ToolAnnotations,
    run: fn(&Reach, &A, &Stop) -> Result<Done, Refusal>,
) -> Result<Entry, String>
where
    A: DeserializeOwned + JsonSchema + 'static,
    O: JsonSchema + 'static,
{
    let tool = Tool::new(name, description, schema_for_input::<A>()?)
        .with_title(title)
        .with_raw_output_schema(schema_for_output::<O>())
        .with_annotations(annotations);
    let run = move |reach: &Reach, arguments: JsonObject, stop: &Stop| {
        let args = serde_path_to_error::deserialize(serde_json::Value::Object(arguments))
            .map_err(|error| Refusal::asked(format!("the arguments do not fit: {error}")))?;
        run(reach, &args, stop)
    };
    Ok(Entry { tool, run: Box::new(run) })
}
