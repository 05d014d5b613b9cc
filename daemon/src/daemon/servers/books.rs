//! Several books read as one: each source is in the first that knows it.

use std::{path::Path, sync::Arc};

use futures::future::BoxFuture;
use ropewalk_protocol::ProjectId;
use serde_json::{Map, Value};

use super::ServerBook;
use crate::{
    sessions::{Launch, Listing},
    tools::{
        Stakes, ToolSpec,
        servers::{Place, ServerTool},
    },
};

/// Several books read as one.
pub struct Books(Vec<Arc<dyn ServerBook>>);

impl Books {
    /// These books.
    #[must_use]
    pub fn of(books: Vec<Arc<dyn ServerBook>>) -> Self {
        Self(books)
    }

    fn with(&self, source: &str) -> Option<&Arc<dyn ServerBook>> {
        self.0.iter().find(|book| book.name(source).is_some())
    }
}

impl ServerBook for Books {
    fn sources(&self, project_id: &ProjectId) -> Vec<String> {
        self.0.iter().flat_map(|book| book.sources(project_id)).collect()
    }

    fn name(&self, source: &str) -> Option<String> {
        self.with(source)?.name(source)
    }

    fn tools(&self, source: &str, listing: Option<&Listing>) -> Vec<ServerTool> {
        self.with(source).map_or_else(Vec::new, |book| book.tools(source, listing))
    }

    fn launch(&self, source: &str, place: &Place) -> Option<Launch> {
        self.with(source)?.launch(source, place)
    }

    fn shared_key(&self, source: &str, project_id: &ProjectId) -> Option<String> {
        self.with(source)?.shared_key(source, project_id)
    }

    fn opens_at_a_call(&self, source: &str) -> bool {
        self.with(source).is_some_and(|book| book.opens_at_a_call(source))
    }

    fn stakes<'a>(
        &'a self,
        place: &'a Place,
        tool: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Option<Stakes>> {
        match self.with(&tool.source) {
            Some(book) => book.stakes(place, tool, arguments),
            None => Box::pin(std::future::ready(None)),
        }
    }

    fn step_begins(&self, place: &Place) {
        self.0.iter().for_each(|book| book.step_begins(place));
    }

    fn our_binary(&self, binary: &Path) {
        self.0.iter().for_each(|book| book.our_binary(binary));
    }

    fn our_home(&self, home: &Path) {
        self.0.iter().for_each(|book| book.our_home(home));
    }

    fn negotiated(&self, source: &str, version: Option<&str>) {
        if let Some(book) = self.with(source) {
            book.negotiated(source, version);
        }
    }
}
