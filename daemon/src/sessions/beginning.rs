//! What the beginning of a message says, where the whole of it cannot be read: only what stands in the message itself counts, and
//! nothing that is inside of a result.

/// What the beginning of a message says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Beginning {
    /// The id, as text, where it is there already.
    pub id: Option<String>,
    /// Whether it is an answer, and not something that the server says on its own.
    pub is_answer: bool,
}

impl Beginning {
    /// Reads the beginning of a line.
    pub(super) fn of(head: &[u8]) -> Self {
        let text = String::from_utf8_lossy(head);
        let mut begun = Self::default();
        let mut has_method = false;
        let mut rest = text.trim_start();
        let Some(fields) = rest.strip_prefix('{') else { return begun };
        rest = fields;
        while let Some((name, value)) = field(rest) {
            match name {
                "id" => begun.id = id_at(value),
                "result" | "error" => begun.is_answer = true,
                "method" => has_method = true,
                _ => {}
            }
            let Some(after) = after_value(value) else { break };
            rest = after;
        }
        if has_method {
            return Self::default();
        }
        begun
    }
}

/// The number at the beginning of a text, also where it is between quotes.
pub(super) fn id_at(text: &str) -> Option<String> {
    let id: String = text.trim_start_matches('"').chars().take_while(char::is_ascii_digit).collect();
    (!id.is_empty()).then_some(id)
}

/// The name of the next field, and what follows its colon.
fn field(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().trim_start_matches(',').trim_start().strip_prefix('"')?;
    let (name, rest) = text.split_once('"')?;
    Some((name, rest.trim_start().strip_prefix(':')?.trim_start()))
}

/// What follows a value, where all of the value is there.
fn after_value(text: &str) -> Option<&str> {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (at, character) in text.char_indices() {
        if is_text {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => is_text = false,
                _ => {}
            }
            continue;
        }
        match character {
            '"' => is_text = true,
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 0 => return None,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => return text.get(at..),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
