//! The scan: thread by thread and message by message, until a page is full or nothing is left.

use ropewalk_protocol::{SearchHit, limits};

use super::{Archive, Place, Query, Shelf, Spot};

/// How far one page goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Hits.
    pub hits: usize,
    /// Characters of all hits as JSON; the first is always there.
    pub characters: u64,
    /// Messages that are looked at.
    pub messages: u64,
}

impl Bounds {
    /// The bounds of a page of so many hits.
    #[must_use]
    pub const fn of(hits: usize) -> Self {
        Self { hits, characters: limits::PAGE_CHARACTERS, messages: limits::SEARCH_MESSAGES }
    }
}

/// What a page of a search brings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The messages that match, each with the place behind it.
    pub hits: Vec<(Place, SearchHit)>,
    /// Where to go on; absent where nothing is left.
    pub next: Option<Place>,
}

/// Looks through an archive from a place on. `is_over` says that the time of the page is up; something is looked at all the
/// same, so that whoever goes on comes to an end.
///
/// # Errors
/// What the archive says.
pub fn scan<A: Archive>(
    archive: &A,
    query: &Query,
    after: Option<Place>,
    bounds: Bounds,
    is_over: &dyn Fn() -> bool,
) -> Result<Found, A::Error> {
    let page = Page { left: bounds.messages, characters: bounds.characters, has_looked: false, hits: Vec::new() };
    let mut scan = Scan { archive, query, bounds, is_over, page };
    let mut reached = after;
    if let Some(place) = reached.clone().filter(|place| place.spot.is_some()) {
        if let Some(shelf) = archive.shelf(&place)?
            && let Some(next) = scan.shelf(&shelf, place.spot)?
        {
            return Ok(Found { hits: scan.page.hits, next: Some(next) });
        }
        reached = Some(Place { spot: None, ..place });
    }
    loop {
        let shelves = archive.beyond(reached.as_ref())?;
        if shelves.is_empty() {
            return Ok(Found { hits: scan.page.hits, next: None });
        }
        for shelf in shelves {
            // The last place is where a page ends that has no room for this thread; at the very start there is room.
            let stopped = if scan.has_room(&shelf) { scan.shelf(&shelf, None)? } else { reached.clone() };
            if let Some(next) = stopped {
                return Ok(Found { hits: scan.page.hits, next: Some(next) });
            }
            reached = Some(shelf.place(None));
        }
    }
}

struct Scan<'a, A> {
    archive: &'a A,
    query: &'a Query,
    bounds: Bounds,
    is_over: &'a dyn Fn() -> bool,
    page: Page,
}

/// What a page has so far.
struct Page {
    /// Messages that may still be looked at.
    left: u64,
    /// Characters that hits may still have.
    characters: u64,
    /// Whether anything was looked at.
    has_looked: bool,
    hits: Vec<(Place, SearchHit)>,
}

impl<A: Archive> Scan<'_, A> {
    /// Whether the page goes on with a thread. A long one is begun only by a page that has looked at nothing yet.
    fn has_room(&self, shelf: &Shelf) -> bool {
        !self.page.has_looked || shelf.messages <= self.page.left && !self.is_full() && !(self.is_over)()
    }

    fn is_full(&self) -> bool {
        self.page.hits.len() >= self.bounds.hits || self.page.left == 0
    }

    /// Looks through a thread behind a spot. Where the page ends within it, when it does.
    fn shelf(&mut self, shelf: &Shelf, after: Option<Spot>) -> Result<Option<Place>, A::Error> {
        let is_short = after.is_none() && shelf.messages <= self.page.left;
        if is_short && !self.archive.may_have(shelf, self.query)? {
            self.page.left -= shelf.messages;
            self.page.has_looked = true;
            return Ok(None);
        }
        let (mut before, mut stopped, mut failed) = (after, None, None);
        let (archive, query) = (self.archive, self.query);
        archive.read(shelf, after, query, &mut |spot, message| {
            let matched = message.and_then(|message| query.look_at(&message).map(|matched| (message, matched)));
            let hit = matched.map(|(message, matched)| archive.hit(shelf, message, matched)).transpose();
            let goes_on = match hit {
                Err(error) => {
                    failed = Some(error);
                    return false;
                }
                Ok(Some(hit)) => self.takes(shelf.place(Some(spot)), hit),
                Ok(None) => true,
            };
            if !goes_on {
                // There is no place before the first message of a thread but the one within it before all spots.
                stopped = Some(shelf.place(Some(before.unwrap_or(Spot { n: 0, nth: 0 }))));
                return false;
            }
            self.page.left = self.page.left.saturating_sub(1);
            self.page.has_looked = true;
            before = Some(spot);
            if self.is_full() || (self.is_over)() {
                stopped = Some(shelf.place(Some(spot)));
            }
            stopped.is_none()
        })?;
        failed.map_or(Ok(stopped), Err)
    }

    /// Takes a hit; `false` when it belongs to the next page.
    fn takes(&mut self, place: Place, hit: SearchHit) -> bool {
        let characters = serde_json::to_string(&hit).map_or(0, |text| text.chars().count() as u64 + 1);
        if characters > self.page.characters && !self.page.hits.is_empty() {
            return false;
        }
        self.page.characters = self.page.characters.saturating_sub(characters);
        self.page.hits.push((place, hit));
        true
    }
}
