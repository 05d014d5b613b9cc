//! Images on their way into an input.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use ropewalk_protocol::{Part, image_type, limits::IMAGE_BYTES};

use crate::Error;

/// An image as a part of an input: PNG, JPEG, GIF or WebP of at most 5 MiB, told apart by how it begins.
///
/// ```no_run
/// # async fn example(thread: ropewalk::Thread, screenshot: Vec<u8>) -> Result<(), ropewalk::Error> {
/// use ropewalk::{Part, image};
///
/// let result = thread.run([Part::text("What is wrong here?"), image(&screenshot)?]).await?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`Error::InvalidImage`], when it is none of these or larger.
pub fn image(bytes: impl AsRef<[u8]>) -> Result<Part, Error> {
    part(bytes.as_ref(), "The data")
}

/// The same from a file.
///
/// # Errors
/// [`Error::InvalidImage`], also when the file cannot be read.
pub async fn image_file(path: impl AsRef<Path>) -> Result<Part, Error> {
    let path = path.as_ref();
    let shown = path.display().to_string();
    let unreadable = |error: std::io::Error| invalid(&shown, format!("it cannot be read: {error}."));
    // Looked at first, so that a film is not read into memory to find that it is too large.
    let length = tokio::fs::metadata(path).await.map_err(unreadable)?.len();
    check_length(length, &shown)?;
    let bytes = tokio::fs::read(path).await.map_err(unreadable)?;
    part(&bytes, &shown)
}

fn part(bytes: &[u8], shown: &str) -> Result<Part, Error> {
    check_length(bytes.len() as u64, shown)?;
    let media_type = image_type(bytes).ok_or_else(|| invalid(shown, "it is no PNG, JPEG, GIF or WebP.".to_owned()))?;
    Ok(Part::Image { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) })
}

fn check_length(length: u64, shown: &str) -> Result<(), Error> {
    if length <= IMAGE_BYTES {
        return Ok(());
    }
    Err(invalid(shown, format!("it has {length} bytes, and at most {IMAGE_BYTES} are allowed.")))
}

fn invalid(image: &str, reason: String) -> Error {
    Error::InvalidImage { image: image.to_owned(), reason }
}

#[cfg(test)]
mod tests;
