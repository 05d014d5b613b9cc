//! A page being filled: as many items as it may have, and no more characters than a model is shown of a result. Whichever
//! comes first ends it, and the first item is always in it (APP-56, APP-57, APP-59).

use std::collections::VecDeque;

use ropewalk_protocol::limits;
use serde_json::{Map, Value};

use super::{ReadPage, ReadResource};

/// Characters of a page that are kept for what is around its items.
const AROUND: u64 = 1_024;

/// How many of the first items fit into one page.
pub fn fitting(items: &[Map<String, Value>], limit: usize) -> usize {
    let mut left = limits::PAGE_CHARACTERS - AROUND;
    let mut fits = 0;
    for item in items.iter().take(limit) {
        let size = characters(item);
        if size > left && fits > 0 {
            break;
        }
        left = left.saturating_sub(size);
        fits += 1;
    }
    fits
}

/// A page of the first items of a list, of which one more than the limit was read where there are more. `key` names an item
/// within the list, and `cursor` makes the cursor that begins behind it.
pub fn page<T>(
    resource: ReadResource,
    items: Vec<T>,
    limit: usize,
    shown: impl Fn(&T) -> Map<String, Value>,
    cursor: impl Fn(&T) -> String,
) -> ReadPage {
    let mut items: VecDeque<T> = items.into();
    let mut written: Vec<_> = items.iter().take(limit).map(shown).collect();
    let fits = fitting(&written, limit);
    let is_all = fits == items.len();
    let truncated = fits < written.len();
    written.truncate(fits);
    items.truncate(fits);
    let next_cursor = items.back().filter(|_| !is_all).map(cursor);
    ReadPage { resource, returned: written.len() as u64, items: written, next_cursor, truncated, total: None }
}

/// A page with one document.
pub fn one(resource: ReadResource, item: Map<String, Value>) -> ReadPage {
    ReadPage { resource, items: vec![item], next_cursor: None, truncated: false, returned: 1, total: Some(1) }
}

fn characters(item: &Map<String, Value>) -> u64 {
    let text = serde_json::to_string(item).unwrap_or_default();
    text.chars().count() as u64 + 1
}
