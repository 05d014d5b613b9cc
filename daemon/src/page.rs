//! Pages of lists: keyset cursors nobody can take apart, and the two bounds every page keeps.

use std::io::{self, Write};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ropewalk_protocol::{Cursor, Page, RpcError, limits};
use serde::Serialize;

#[cfg(test)]
mod tests;

/// Items of a page when the request names no limit.
const DEFAULT_ITEMS: u64 = 100;

/// Between the parts of a cursor: in no list's name and in no id.
const SEPARATOR: char = '\n';

/// Why a page cannot be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The cursor is nothing this daemon made.
    #[error("This is no cursor of ours. Send back nextCursor as it came.")]
    MalformedCursor,
    /// The cursor was made for another list.
    #[error("This cursor belongs to another list. Start this one without a cursor.")]
    ForeignCursor,
    /// The limit is 0.
    #[error("A limit is at least 1. Leave it out for 100 items.")]
    NoItems,
}

impl From<PageError> for RpcError {
    fn from(error: PageError) -> Self {
        let (path, reason) = match error {
            PageError::MalformedCursor => ("/cursor", "malformed_cursor"),
            PageError::ForeignCursor => ("/cursor", "foreign_cursor"),
            PageError::NoItems => ("/limit", "out_of_range"),
        };
        Self::invalid_params(path, reason, error.to_string())
    }
}

/// Where a page begins and how long it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageQuery {
    list: String,
    after: Option<String>,
    limit: usize,
}

impl PageQuery {
    /// Reads `cursor` and `limit` of a request.
    ///
    /// `list` names what is listed, with everything that makes it another list (`grant/list` and the project): a
    /// cursor of another list is refused. A limit above `pageItems` is read as `pageItems`.
    ///
    /// # Errors
    /// When the cursor is none of this list's, or the limit is 0.
    pub fn new(list: &[&str], cursor: Option<&str>, limit: Option<u64>) -> Result<Self, PageError> {
        let list = list.concat();
        let after = cursor.map(|cursor| key_of(&list, cursor)).transpose()?;
        let limit = limit.unwrap_or(DEFAULT_ITEMS).min(limits::PAGE_ITEMS);
        if limit == 0 {
            return Err(PageError::NoItems);
        }
        Ok(Self { list, after, limit: usize::try_from(limit).unwrap_or(usize::MAX) })
    }

    /// The key of the last item of the page before: items begin beyond it, in the order of the list.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// How many items the page has at most. A store scan that reads one more than this knows all a page needs.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Fills a page from items that begin after [`Self::after`]; `key` names an item within the list.
    pub fn fill<T: Serialize>(&self, items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> String) -> Page<T> {
        let mut page = self.begin();
        for item in items {
            let item_key = key(&item);
            if !page.offer(item_key, item) {
                return page.finish(true);
            }
        }
        page.finish(false)
    }

    /// The cursor of this list that begins beyond an item.
    #[must_use]
    pub fn cursor(&self, key: &str) -> Cursor {
        cursor_of(&self.list, key)
    }

    /// Begins a page that is filled item by item, for lists whose items are read with waiting or may fail.
    #[must_use]
    pub const fn begin<T: Serialize>(&self) -> PageBuilder<'_, T> {
        PageBuilder { query: self, items: Vec::new(), characters: 0, last_key: None }
    }
}

/// A page being filled.
#[derive(Debug)]
pub struct PageBuilder<'a, T> {
    query: &'a PageQuery,
    items: Vec<T>,
    characters: u64,
    last_key: Option<String>,
}

impl<T: Serialize> PageBuilder<'_, T> {
    /// Takes the next item; false when it belongs to the next page, and with it everything after it.
    pub fn offer(&mut self, key: String, item: T) -> bool {
        if self.items.len() == self.query.limit {
            return false;
        }
        let characters = self.characters.saturating_add(characters_of(&item));
        if characters > limits::PAGE_CHARACTERS && !self.items.is_empty() {
            return false;
        }
        self.characters = characters;
        self.items.push(item);
        self.last_key = Some(key);
        true
    }

    /// The page; `more` says whether an item was left for the next one.
    #[must_use]
    pub fn finish(self, more: bool) -> Page<T> {
        let next_cursor = self.last_key.filter(|_| more).map(|key| cursor_of(&self.query.list, &key));
        Page { items: self.items, next_cursor, truncated: false }
    }
}

fn cursor_of(list: &str, key: &str) -> Cursor {
    URL_SAFE_NO_PAD.encode(format!("{list}{SEPARATOR}{key}"))
}

fn key_of(list: &str, cursor: &str) -> Result<String, PageError> {
    let text = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match text.as_deref().and_then(|text| text.split_once(SEPARATOR)) {
        None => Err(PageError::MalformedCursor),
        Some((of, _)) if of != list => Err(PageError::ForeignCursor),
        Some((_, key)) => Ok(key.to_owned()),
    }
}

/// How many characters an item takes on the wire.
fn characters_of(item: &impl Serialize) -> u64 {
    let mut count = CharacterCount(0);
    // An item that cannot be written fails again where the answer is written, and is reported there.
    let _ = serde_json::to_writer(&mut count, item);
    count.0
}

/// Counts characters of UTF-8 by the bytes that begin one, so that counting needs no copy.
struct CharacterCount(u64);

impl Write for CharacterCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
