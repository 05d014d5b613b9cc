//! Estimates how many tokens a text has, without a vocabulary. Meant to be too high rather than too low.
//!
//! The weights are measured against o200k (docs/decisions/0007-context.md). What they are wrong about for another tokenizer is
//! learned from what providers report; see [`super::gauges`].

use ropewalk_protocol::Part;

use crate::{domain::ChainMessage, models::ToolDefinition};

/// An image: about what the largest size costs that providers do not scale down.
pub const IMAGE_TOKENS: u64 = 1_600;
/// What is around a message: its role and its ends.
const MESSAGE_TOKENS: u64 = 4;
/// What is around a call or a definition: ids, names of fields, braces.
const FRAME_TOKENS: u64 = 12;

/// Letters and digits without a break that are no word of any language, but data.
const LONG_RUN: usize = 25;
/// Hundredths of a token.
const WHOLE: u64 = 100;

/// Tokens of a text, estimated.
#[must_use]
pub fn text_tokens(text: &str) -> u64 {
    let mut count = Count::default();
    for character in text.chars() {
        count.take(character);
    }
    count.total()
}

/// How many bytes of a text are at most this many tokens, estimated; the rest begins at a character.
#[must_use]
pub fn prefix_within(text: &str, tokens: u64) -> usize {
    let mut count = Count::default();
    for (at, character) in text.char_indices() {
        count.take(character);
        if count.total() > tokens {
            return at;
        }
    }
    text.len()
}

/// Tokens of a part of a message.
#[must_use]
pub fn part_tokens(part: &Part) -> u64 {
    match part {
        Part::Text { text } => text_tokens(text),
        Part::Image { .. } => IMAGE_TOKENS,
        Part::ResourceLink { uri, name } => text_tokens(uri) + text_tokens(name),
        Part::Audio { .. } | Part::Resource { .. } | Part::Review { .. } => FRAME_TOKENS,
    }
}

/// Tokens of the parts of a message.
#[must_use]
pub fn content_tokens(content: &[Part]) -> u64 {
    content.iter().map(part_tokens).sum()
}

/// Tokens of a message of the chain, with its calls and what its provider wants back.
#[must_use]
pub fn message_tokens(chained: &ChainMessage) -> u64 {
    let message = &chained.message;
    let call = |call: &ropewalk_protocol::ToolCallRef| {
        FRAME_TOKENS + text_tokens(&call.flat_name) + text_tokens(&call.arguments.to_string())
    };
    let calls = message.tool_calls.iter().map(call).sum::<u64>();
    let parts = chained.provider_parts.iter().flat_map(|parts| &parts.parts);
    let parts = parts.map(|part| text_tokens(&part.to_string())).sum::<u64>();
    MESSAGE_TOKENS + content_tokens(&message.content) + calls + parts
}

/// Tokens of a tool's definition.
#[must_use]
pub fn definition_tokens(tool: &ToolDefinition) -> u64 {
    let schema = text_tokens(&tool.input_schema.to_string());
    FRAME_TOKENS + text_tokens(&tool.name) + text_tokens(&tool.description) + schema
}

/// What kind of character it is, as far as tokenizers care.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Class {
    #[default]
    Start,
    Blank,
    Letter,
    Digit,
    Symbol,
    Other,
}

/// A count under way. `done` is what is settled, the rest is the run that may go on.
#[derive(Default)]
struct Count {
    done: u64,
    class: Class,
    /// Characters of the run.
    run: usize,
    /// Letters and digits without a break, and how they are made up.
    word: Word,
    /// Whether the last character of the run was a lower-case letter.
    was_lower: bool,
    /// Whether all letters of the run are capitals: vocabularies have few words of these.
    is_shouted: bool,
    /// Whether the run is one blank, which belongs to the word behind it.
    is_lone_space: bool,
}

/// Letters and digits without a break.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    length: usize,
    digits: usize,
    is_mixed: bool,
    /// What its pieces cost one by one.
    pieces: u64,
}

impl Count {
    fn take(&mut self, character: char) {
        let class = class_of(character);
        let goes_on = class == self.class && !(class == Class::Letter && self.was_lower && character.is_uppercase());
        if !goes_on {
            self.end_run(class);
            self.class = class;
            self.run = 0;
            self.is_shouted = true;
        }
        self.run += 1;
        self.is_shouted &= character.is_uppercase();
        self.is_lone_space = class == Class::Blank && self.run == 1 && character == ' ';
        self.was_lower = character.is_lowercase();
        match class {
            Class::Letter | Class::Digit => {
                self.word.length += 1;
                self.word.digits += usize::from(class == Class::Digit);
                self.word.is_mixed |= class == Class::Digit || character.is_uppercase();
                // An accent is a byte more than most vocabularies have words for.
                self.done += if character.is_ascii() { 0 } else { 50 };
            }
            Class::Other => self.done += weight(character),
            Class::Start | Class::Blank | Class::Symbol => {}
        }
    }

    fn end_run(&mut self, next: Class) {
        let cost = self.run_cost(next);
        match self.class {
            Class::Letter | Class::Digit => self.word.pieces += cost,
            _ => self.done += cost,
        }
        if !matches!(next, Class::Letter | Class::Digit) {
            self.done += self.word.cost();
            self.word = Word::default();
        }
    }

    /// What the run costs if it ends here and `next` follows.
    fn run_cost(&self, next: Class) -> u64 {
        let run = self.run as u64;
        match self.class {
            Class::Blank if self.is_lone_space && !matches!(next, Class::Digit | Class::Start) => 0,
            Class::Blank => WHOLE + run / 16 * WHOLE,
            Class::Letter => match (run, self.is_shouted) {
                (0..=4, _) | (5..=8, false) => WHOLE,
                (_, true) => run.div_ceil(4) * WHOLE,
                (_, false) => run.div_ceil(5) * WHOLE,
            },
            Class::Digit => run.div_ceil(3) * WHOLE,
            Class::Symbol => WHOLE + (run - 1) * 65,
            Class::Start | Class::Other => 0,
        }
    }

    /// The tokens of all that was taken.
    fn total(&self) -> u64 {
        let run = self.run_cost(Class::Start);
        let (pieces, run) = match self.class {
            Class::Letter | Class::Digit => (self.word.pieces + run, 0),
            _ => (self.word.pieces, run),
        };
        (self.done + run + Word { pieces, ..self.word }.cost()).div_ceil(WHOLE)
    }
}

impl Word {
    /// A word costs what its pieces do; ids, hashes and encoded data cost by the character.
    const fn cost(&self) -> u64 {
        let length = self.length as u64;
        let by_character = match (self.is_mixed, self.length >= LONG_RUN) {
            (true, true) => length * 75,
            (true, false) if self.digits > 0 && self.digits < self.length => length * 70,
            (false, true) => length * 55,
            _ => 0,
        };
        if by_character > self.pieces { by_character } else { self.pieces }
    }
}

fn class_of(character: char) -> Class {
    match character {
        ' ' | '\t' | '\n' | '\r' => Class::Blank,
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Class::Letter,
        '0'..='9' => Class::Digit,
        '!'..='~' => Class::Symbol,
        _ => Class::Other,
    }
}

/// Hundredths of a token for a character of a script that is written without blanks or seldom seen.
const fn weight(character: char) -> u64 {
    match character as u32 {
        // Greek, Cyrillic, Armenian, Hebrew, Arabic.
        0x370..=0x6ff => 50,
        // Scripts of India and South-East Asia.
        0x700..=0x1fff => 75,
        // Punctuation beyond ASCII: dashes, quotes, ellipses.
        0x2000..=0x206f => 100,
        // Kana, Han, Hangul.
        0x3000..=0x33ff => 100,
        0x3400..=0x9fff | 0xf900..=0xfaff | 0xff00..=0xffef => 120,
        0xac00..=0xd7af => 80,
        // Emoji, rare ideographs, what nobody expects.
        _ => 250,
    }
}
