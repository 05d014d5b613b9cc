//! What is said: text, or parts.

use ropewalk_protocol::Part;

/// What is submitted: made from text, from a [`Part`], or from several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input(pub Vec<Part>);

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self(vec![Part::text(text)])
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self(vec![Part::text(text)])
    }
}

impl From<&String> for Input {
    fn from(text: &String) -> Self {
        Self(vec![Part::text(text)])
    }
}

impl From<Part> for Input {
    fn from(part: Part) -> Self {
        Self(vec![part])
    }
}

impl From<Vec<Part>> for Input {
    fn from(parts: Vec<Part>) -> Self {
        Self(parts)
    }
}

impl<const N: usize> From<[Part; N]> for Input {
    fn from(parts: [Part; N]) -> Self {
        Self(parts.into())
    }
}
