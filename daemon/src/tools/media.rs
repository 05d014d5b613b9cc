//! What images and sound must be like before they are stored. A provider refuses a whole history for one part it cannot
//! read, so a broken one is never kept.

use base64::{Engine, engine::general_purpose::STANDARD};
use ropewalk_protocol::{IMAGE_TYPES, image_type, limits::IMAGE_BYTES};

#[cfg(test)]
mod tests;

/// What is wrong with the bytes of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaProblem {
    /// A field does not fit.
    Field {
        /// Which one: `mediaType` or `data`.
        field: &'static str,
        /// Why, in one word.
        reason: &'static str,
        /// Why, as what follows the field in a sentence.
        words: String,
    },
    /// It has more bytes than it may.
    TooLarge {
        /// How many it has.
        actual: u64,
    },
}

/// Checks an image.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check_image(media_type: &str, data: &str) -> Result<(), MediaProblem> {
    let known = IMAGE_TYPES.join(", ");
    if !IMAGE_TYPES.contains(&media_type) {
        return Err(field("mediaType", "unknown_image_type", format!("must be one of {known}")));
    }
    let bytes = decoded(data)?;
    match image_type(&bytes) {
        Some(actual) if actual == media_type => Ok(()),
        Some(actual) => Err(field("mediaType", "another_image_type", format!("must be {actual}, which the data is"))),
        None => Err(field("data", "not_an_image", format!("must be an image of one of the types {known}"))),
    }
}

/// Checks sound, which no model here hears: what it is stays what its tool said.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check_audio(media_type: &str, data: &str) -> Result<(), MediaProblem> {
    if media_type.strip_prefix("audio/").is_none_or(str::is_empty) {
        return Err(field("mediaType", "not_audio", "must be a media type such as audio/wav".to_owned()));
    }
    decoded(data).map(drop)
}

fn decoded(data: &str) -> Result<Vec<u8>, MediaProblem> {
    let bytes = STANDARD.decode(data);
    let bytes = bytes.map_err(|_| field("data", "not_base64", "must be base64 with padding".to_owned()))?;
    if bytes.is_empty() {
        return Err(field("data", "empty", "must not be empty".to_owned()));
    }
    let actual = bytes.len() as u64;
    if actual > IMAGE_BYTES {
        return Err(MediaProblem::TooLarge { actual });
    }
    Ok(bytes)
}

const fn field(field: &'static str, reason: &'static str, words: String) -> MediaProblem {
    MediaProblem::Field { field, reason, words }
}
