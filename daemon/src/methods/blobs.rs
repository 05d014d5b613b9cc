//! `blob/…`: payloads that are kept out of line.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ropewalk_protocol::{BlobPart, BlobReadParams, RpcError, limits};

use crate::dispatch::Call;

/// `blob/read`
///
/// # Errors
/// `notFound` (blob), `invalidParams` (an offset beyond the end), `unavailable`.
pub async fn read(call: Call, params: BlobReadParams) -> Result<BlobPart, RpcError> {
    let offset = super::check::range("/offset", params.offset.unwrap_or(0), 0, limits::BLOB_BYTES)?;
    let limit = params.limit.unwrap_or(limits::PAGE_CHARACTERS);
    let limit = super::check::range("/limit", limit, 1, u64::MAX)?.min(limits::PAGE_CHARACTERS);
    let part = call.daemon.engine.blob(&params.blob_id, offset, usize::try_from(limit).unwrap_or(usize::MAX)).await?;
    let Some(part) = part else { return Err(RpcError::not_found("blob", params.blob_id)) };
    if offset > part.total_bytes {
        let message = format!("The blob has {} bytes, and the offset is beyond them.", part.total_bytes);
        return Err(RpcError::invalid_params("/offset", "out_of_range", message));
    }
    Ok(as_text_or_data(part.bytes, part.total_bytes))
}

/// Text, without a character that is cut at its end; data, if it is not text all the same.
fn as_text_or_data(mut bytes: Vec<u8>, total_bytes: u64) -> BlobPart {
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
        && error.valid_up_to() > 0
    {
        bytes.truncate(error.valid_up_to());
    }
    match String::from_utf8(bytes) {
        Ok(text) => BlobPart { text: Some(text), data: None, total_bytes },
        Err(error) => BlobPart { text: None, data: Some(STANDARD.encode(error.as_bytes())), total_bytes },
    }
}

#[cfg(test)]
mod tests;
