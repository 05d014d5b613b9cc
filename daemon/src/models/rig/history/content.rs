//! What a message says, in the parts that rig sends.

use rig_core::message::{DocumentSourceKind, Image, ImageMediaType, MimeType, Text, ToolResultContent, UserContent};
use ropewalk_protocol as wire;

use super::{Shape, rules};

/// A result as it is sent, and whether it tells of a failure. One that is missing was never made.
pub(super) fn result_content(shape: Shape, result: Option<&wire::Message>) -> (bool, Vec<ToolResultContent>) {
    let is_error = result.is_none_or(|result| result.is_error == Some(true));
    let mut content = Vec::new();
    for part in result.iter().flat_map(|result| &result.content) {
        match part {
            wire::Part::Image { media_type, data } => {
                content.push(
                    known_image(media_type, data).map_or_else(|| text(not_sent(media_type)), ToolResultContent::Image),
                );
            }
            part => content.extend(text_of(part).map(text)),
        }
    }
    if content.is_empty() {
        content.push(text(match (result, is_error) {
            (None, _) => "this call was interrupted and has no result.".to_owned(),
            (_, true) => "The call failed.".to_owned(),
            (_, false) => "The call succeeded and returned no content.".to_owned(),
        }));
    }
    if shape == Shape::Gemini && !content.iter().any(|part| matches!(part, ToolResultContent::Text(_))) {
        // Gemini refuses a result whose response is missing, and an image is none.
        content.insert(0, text("The result is an image.".to_owned()));
    }
    if is_error && !rules::has_error_mark(shape) {
        match content.first_mut() {
            Some(ToolResultContent::Text(text)) => text.text.insert_str(0, "Error: "),
            _ => content.insert(0, text("Error:".to_owned())),
        }
    }
    (is_error, content)
}

/// A message in the user's place. One of another run begins with whose it is (APP-87, APP-88), so that no model takes it for
/// the person's own.
pub(super) fn user_message(message: &wire::Message) -> Vec<UserContent> {
    let mut content = user_content(&message.content);
    let sender = message.sender.as_ref().filter(|sender| Some(&sender.run_id) != message.run_id.as_ref());
    if let Some(wire::Sender { thread_id, branch_id, run_id, intent }) = sender {
        let intent = intent.as_ref().map_or_else(String::new, |intent| format!(", intent {intent}"));
        let from = format!("[From another run: thread {thread_id}, branch {branch_id}, run {run_id}{intent}]");
        content.insert(0, UserContent::text(from));
    }
    content
}

/// What a user says; never nothing.
fn user_content(parts: &[wire::Part]) -> Vec<UserContent> {
    let mut content = Vec::new();
    for part in parts {
        match part {
            wire::Part::Image { media_type, data } => {
                let image = known_image(media_type, data);
                content.push(image.map_or_else(|| UserContent::text(not_sent(media_type)), UserContent::Image));
            }
            part => content.extend(text_of(part).map(UserContent::text)),
        }
    }
    if content.is_empty() {
        content.push(UserContent::text("(an empty message)"));
    }
    content
}

/// A part as text, for what no shape carries; `None` when there is nothing to say.
fn text_of(part: &wire::Part) -> Option<String> {
    let text = match part {
        wire::Part::Text { text } => text.clone(),
        wire::Part::Image { media_type, .. } => not_sent(media_type),
        wire::Part::Audio { media_type, .. } => format!("(audio of type {media_type}, not sent)"),
        wire::Part::Resource { resource_id } => format!("(resource {resource_id})"),
        wire::Part::Review { review_id } => format!("(review {review_id})"),
        wire::Part::ResourceLink { uri, name } => format!("{name}: {uri}"),
    };
    (!text.trim().is_empty()).then_some(text)
}

fn not_sent(media_type: &str) -> String {
    format!("(an image of type {media_type}, not sent)")
}

/// An image of a type that models read; others are told of in words.
fn known_image(media_type: &str, data: &str) -> Option<Image> {
    let media_type = ImageMediaType::from_mime_type(media_type)?;
    let is_read =
        matches!(media_type, ImageMediaType::JPEG | ImageMediaType::PNG | ImageMediaType::GIF | ImageMediaType::WEBP);
    is_read.then(|| Image { data: DocumentSourceKind::base64(data), media_type: Some(media_type), ..Image::default() })
}

fn text(text: String) -> ToolResultContent {
    ToolResultContent::Text(Text::new(text))
}
