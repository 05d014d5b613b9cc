//! Which `index/<n>` is the one in use, and putting another in its place.

use std::{collections::HashMap, fs, path::PathBuf};

use ropewalk_protocol::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    home::{Home, unreadable},
    index::{INDEX_VERSION, Index, is_locked},
    position::Position,
};
use crate::store::{LogName, StoreError, files};

/// The small file that names the live index.
#[derive(Serialize, Deserialize)]
struct Live {
    version: u64,
    number: u64,
}

/// An index that can be trusted, and what it knows of the logs.
pub(super) struct Opened {
    pub(super) index: Index,
    pub(super) positions: HashMap<LogName, Position>,
}

/// Opens the live index. One that cannot be trusted is moved to `lost/`, said, and is as good as none.
///
/// # Errors
/// When another process has it open, or the directory cannot be read.
pub(super) fn open(home: &Home, now: Timestamp, notices: &mut Vec<String>) -> Result<Option<Opened>, StoreError> {
    let numbers = numbers(home)?;
    if numbers.is_empty() {
        return Ok(None);
    }
    let opened = match read_live(home) {
        Ok(number) if numbers.contains(&number) => try_open(home, number),
        Ok(number) => Err(format!("index/{number} is missing")),
        Err(cause) => Err(cause),
    };
    match opened {
        Ok(opened) => {
            for number in numbers.into_iter().filter(|number| *number != opened.index.number) {
                remove(home, number);
            }
            Ok(Some(opened))
        }
        Err(cause) if is_locked(&cause) => {
            Err(StoreError::InUse { home: home.indexes().display().to_string(), holder: None })
        }
        Err(cause) => {
            notices.push(format!("the index could not be used ({cause}); it is moved to lost/ and built anew"));
            for number in numbers {
                set_aside(home, number, now)?;
            }
            Ok(None)
        }
    }
}

/// A new, empty index beside the others. It is nothing until [`settle`].
///
/// # Errors
/// When it cannot be made.
pub(super) fn begin(home: &Home) -> Result<Index, StoreError> {
    let number = numbers(home)?.into_iter().max().unwrap_or(0) + 1;
    let path = path(home, number);
    files::private_dir(&path).map_err(|error| unreadable(&path, &error))?;
    Index::open(&path, number).map_err(unwritable).inspect_err(|_| remove(home, number))
}

/// Makes `index` the live one.
///
/// # Errors
/// When that cannot be written down.
pub(super) fn settle(home: &Home, index: &Index) -> Result<(), StoreError> {
    index.seal().map_err(unwritable)?;
    let live = serde_json::to_vec(&Live { version: INDEX_VERSION, number: index.number }).expect("two numbers");
    files::replace(&live_path(home), &live).map_err(|error| unwritable(error.to_string()))
}

/// Removes an index that is nothing any more. Failing at it costs only space, so the next start tries again.
pub(super) fn remove(home: &Home, number: u64) {
    if let Err(error) = fs::remove_dir_all(path(home, number)) {
        tracing::warn!(number, %error, "an old index could not be removed");
    }
}

/// Moves an index that cannot be trusted to `lost/`.
pub(super) fn set_aside(home: &Home, number: u64, now: Timestamp) -> Result<(), StoreError> {
    let path = path(home, number);
    home.move_to_lost(&path, now).map(drop).map_err(|error| unreadable(&path, &error))
}

/// An error of writing the index where nothing works without it.
pub(super) fn unwritable(cause: String) -> StoreError {
    StoreError::Read { what: "the index".to_owned(), cause }
}

fn try_open(home: &Home, number: u64) -> Result<Opened, String> {
    let index = Index::open(&path(home, number), number)?;
    if !index.is_sealed()? {
        return Err("it was never finished, or is of another version".to_owned());
    }
    let positions = index.positions()?;
    Ok(Opened { index, positions })
}

fn read_live(home: &Home) -> Result<u64, String> {
    let bytes = fs::read(live_path(home)).map_err(|error| format!("index/live: {error}"))?;
    let live: Live = serde_json::from_slice(&bytes).map_err(|error| format!("index/live: {error}"))?;
    if live.version != INDEX_VERSION {
        return Err(format!("it has version {}, and this build has {INDEX_VERSION}", live.version));
    }
    Ok(live.number)
}

fn numbers(home: &Home) -> Result<Vec<u64>, StoreError> {
    let indexes = home.indexes();
    let entries = fs::read_dir(&indexes).map_err(|error| unreadable(&indexes, &error))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn path(home: &Home, number: u64) -> PathBuf {
    home.indexes().join(number.to_string())
}

fn live_path(home: &Home) -> PathBuf {
    home.indexes().join("live")
}
