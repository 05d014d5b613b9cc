//! Moments to come, as people type them.

use ropewalk_protocol::Timestamp;

/// Reads when something ends: in so long (`30m`, `2h`, `7d`), or at a time of day and date.
pub(crate) fn in_or_at(text: &str) -> Result<Timestamp, String> {
    if let Some(ms) = duration_ms(text) {
        return Ok(Timestamp::now().plus_millis(ms));
    }
    text.parse().map_err(|_| "`30m`, `2h` or `7d` from now, or a time such as `2026-12-24T18:00:00Z`".to_owned())
}

fn duration_ms(text: &str) -> Option<u64> {
    let unit_ms = match text.chars().last()? {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    let count: u64 = text[..text.len() - 1].parse().ok()?;
    count.checked_mul(unit_ms).filter(|ms| (1..=3_155_760_000_000).contains(ms))
}

#[cfg(test)]
mod tests;
