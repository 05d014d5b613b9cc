//! The second index of a check, and what was found by it.

use ropewalk_protocol::{Difference, DifferenceKind};

use super::{home::Home, index::Index, live};
use crate::store::StoreError;

/// Differences that are told at most; a person needs no more to know what to do.
const MAX_DIFFERENCES: usize = 1_000;

/// An index that is nothing but a witness; it is removed with this.
pub(super) struct Beside<'a> {
    home: &'a Home,
    index: Option<Index>,
}

impl<'a> Beside<'a> {
    pub(super) fn begin(home: &'a Home) -> Result<Self, StoreError> {
        Ok(Self { home, index: Some(live::begin(home)?) })
    }

    pub(super) fn index(&self) -> &Index {
        self.index.as_ref().expect("it is there until this is dropped")
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.index.take().map(|index| index.number) {
            live::remove(self.home, number);
        }
    }
}

/// What was found, up to a limit.
#[derive(Default)]
pub(super) struct Found {
    pub(super) differences: Vec<Difference>,
    pub(super) truncated: bool,
}

impl Found {
    pub(super) fn add(&mut self, kind: DifferenceKind, place: String, message: String, remedy: &str) {
        if self.differences.len() >= MAX_DIFFERENCES {
            self.truncated = true;
            return;
        }
        self.differences.push(Difference { kind, place, message, remedy: remedy.to_owned() });
    }
}
