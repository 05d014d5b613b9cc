//! Which vectors are asked for, by globs over `TOPIC/NAME`.

/// Globs of which one has to take a vector; without any, all are taken.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    globs: Vec<String>,
}

impl Selection {
    /// A selection by these globs: `*` stands for any text, `?` for one character. One without a `/` is held against the
    /// topic and against the name, one with it against both together.
    #[must_use]
    pub const fn new(globs: Vec<String>) -> Self {
        Self { globs }
    }

    /// Whether a vector is asked for.
    #[must_use]
    pub fn takes(&self, topic: &str, name: &str) -> bool {
        let whole = format!("{topic}/{name}");
        let takes = |glob: &String| match glob.contains('/') {
            true => fits(glob, &whole),
            false => fits(glob, topic) || fits(glob, name),
        };
        self.globs.is_empty() || self.globs.iter().any(takes)
    }
}

/// Whether a glob takes the whole of a text.
fn fits(glob: &str, text: &str) -> bool {
    let mut letters = glob.chars();
    match letters.next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = letters.as_str();
            text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| fits(rest, &text[at..]))
        }
        Some(wanted) => {
            let mut came = text.chars();
            let first = came.next();
            first.is_some_and(|first| wanted == '?' || wanted == first) && fits(letters.as_str(), came.as_str())
        }
    }
}
