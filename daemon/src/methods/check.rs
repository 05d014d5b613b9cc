//! Checks of parameters that several methods share: what, where, and what next.

use ropewalk_protocol::{
    ErrorDetail, Part, PolicySetParams, ProjectId, RpcError, ThreadId,
    limits::{IMAGE_BYTES, INPUT_PARTS, MAX_MESSAGE_BYTES, SCHEMA_BYTES, SCHEMA_LEVELS},
};
use serde_json::Value;

use crate::{
    daemon::Daemon,
    engine::lookup,
    tools::{
        json::bytes_of,
        media::{MediaProblem, check_image},
        schema::{Schema, SchemaProblem},
    },
};

/// Characters of a thread's title.
const TITLE_CHARACTERS: usize = 200;
/// Characters of instructions.
const INSTRUCTION_CHARACTERS: usize = 32_000;

/// What an event or a message has beside the input it shows, in bytes, with much to spare.
const ENVELOPE_BYTES: u64 = 65_536;

/// Whose things are listed: what is named and is not there, or not any more, has no list, not an empty one.
pub(super) fn listed_of(
    daemon: &Daemon,
    thread: Option<&ThreadId>,
    project: Option<&ProjectId>,
) -> Result<(), RpcError> {
    if let Some(id) = project.filter(|id| !daemon.catalogue.snapshot().projects.contains_key(*id)) {
        return Err(RpcError::not_found("project", id));
    }
    thread.map_or(Ok(()), |id| lookup::known_thread(daemon.engine.shared(), id))
}

/// What a rule is about: a source there is, where it names one. What else is wrong with it is the catalogue's to say.
pub(super) fn source(daemon: &Daemon, params: &PolicySetParams) -> Result<(), RpcError> {
    let (path, source) = match (&params.tool, &params.source) {
        (Some(tool), None) => ("/tool/source", &tool.source),
        (None, Some(source)) => ("/source", source),
        _ => return Ok(()),
    };
    if source.is_empty() {
        return Ok(());
    }
    Ok(daemon.catalogue.snapshot().check_source(path, source)?)
}

/// A title: 1 to 200 characters.
pub(super) fn title(title: &str) -> Result<(), RpcError> {
    let characters = title.chars().count();
    if title.trim().is_empty() {
        return Err(RpcError::invalid_params(
            "/title",
            "empty",
            "A title has at least one character. Leave it out instead.",
        ));
    }
    if characters > TITLE_CHARACTERS {
        let message = format!("The title has {characters} characters; at most {TITLE_CHARACTERS} are allowed.");
        return Err(RpcError::invalid_params("/title", "too_long", message));
    }
    Ok(())
}

/// Instructions: at most 32,000 characters.
pub(super) fn instructions(text: &str) -> Result<(), RpcError> {
    let characters = text.chars().count();
    if characters > INSTRUCTION_CHARACTERS {
        let message =
            format!("The instructions have {characters} characters; at most {INSTRUCTION_CHARACTERS} are allowed.");
        return Err(RpcError::invalid_params("/instructions", "too_long", message));
    }
    Ok(())
}

/// A number between two others, both included.
pub(super) fn range(path: &str, value: u64, low: u64, high: u64) -> Result<u64, RpcError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    let name = path.trim_start_matches('/');
    Err(RpcError::invalid_params(path, "out_of_range", format!("{name} is {value}; it lies between {low} and {high}.")))
}

/// The parts of an input.
pub(super) fn input(parts: &[Part]) -> Result<(), RpcError> {
    if parts.is_empty() {
        return Err(RpcError::invalid_params("/input", "empty", "An input has at least one part."));
    }
    if parts.len() as u64 > INPUT_PARTS {
        let message = format!("The input has {} parts; at most {INPUT_PARTS} are allowed.", parts.len());
        return Err(RpcError::invalid_params("/input", "too_many", message));
    }
    parts.iter().enumerate().try_for_each(|(index, part)| input_part(&format!("/input/{index}"), part))?;
    fits_in_a_line(parts)
}

/// The schema of a final answer: bounded like that of a tool, and of any type at its root.
pub(super) fn output_schema(schema: Option<&Value>) -> Result<(), RpcError> {
    let too_large = |what: &str, unit: &str, limit, actual| {
        let message = format!(
            "The schema at /outputSchema has {actual} {unit}; at most {limit} are allowed. Ask for less at once."
        );
        RpcError::new(ErrorDetail::TooLarge { limit, actual, what: what.to_owned() }, message)
    };
    match schema.map(Schema::compile) {
        None | Some(Ok(_)) => Ok(()),
        Some(Err(SchemaProblem::TooManyBytes(actual))) => Err(too_large("schema", "bytes", SCHEMA_BYTES, actual)),
        Some(Err(SchemaProblem::TooManyLevels(actual))) => {
            Err(too_large("schema levels", "levels of nesting", SCHEMA_LEVELS, actual))
        }
        Some(Err(SchemaProblem::Refused { path, reason })) => {
            let path = format!("/outputSchema{path}");
            let message = format!("The schema of the answer cannot be used: {path} {reason}.");
            Err(RpcError::invalid_params(path, reason, message))
        }
    }
}

/// What is stored must fit in a line of ours again, together with what we say of it.
fn fits_in_a_line(parts: &[Part]) -> Result<(), RpcError> {
    let limit = MAX_MESSAGE_BYTES - ENVELOPE_BYTES;
    let actual = bytes_of(&parts);
    if actual <= limit {
        return Ok(());
    }
    let detail = ErrorDetail::TooLarge { limit, actual, what: "input".to_owned() };
    let message =
        format!("The input has {actual} bytes as JSON; at most {limit} are allowed. Send it in several inputs.");
    Err(RpcError::new(detail, message))
}

fn input_part(path: &str, part: &Part) -> Result<(), RpcError> {
    match part {
        // Providers refuse empty text, and what could not be sent again is never stored (K27).
        Part::Text { text } if text.trim().is_empty() => Err(RpcError::invalid_params(
            format!("{path}/text"),
            "empty",
            format!("The text at {path}/text is empty. Say something, or leave the part out."),
        )),
        Part::Text { .. } => Ok(()),
        Part::Image { media_type, data } => image(path, media_type, data),
        Part::Resource { resource_id } => Err(RpcError::not_found("resource", resource_id)),
        Part::Review { review_id } => Err(RpcError::not_found("review", review_id)),
        Part::Audio { .. } | Part::ResourceLink { .. } => Err(RpcError::invalid_params(
            format!("{path}/type"),
            "only_in_results",
            "Sound and links are parts of results. An input has text, images, resources and reviews.",
        )),
    }
}

fn image(path: &str, media_type: &str, data: &str) -> Result<(), RpcError> {
    check_image(media_type, data).map_err(|problem| match problem {
        MediaProblem::Field { field, reason, words } => {
            RpcError::invalid_params(format!("{path}/{field}"), reason, format!("{field} {words}."))
        }
        MediaProblem::TooLarge { actual } => {
            let detail = ErrorDetail::TooLarge { limit: IMAGE_BYTES, actual, what: "image".to_owned() };
            let message = format!("The image at {path} has {actual} bytes; at most {IMAGE_BYTES} are allowed.");
            RpcError::new(detail, message)
        }
    })
}
