//! Schemas that have been made ready, kept by the digest of their tool.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::Schema;

/// Schemas kept at once; when there are more, all are made ready again as they are needed.
const KEPT: usize = 1_024;

/// Schemas that have been made ready. Making one costs microseconds to milliseconds, checking with it next to nothing.
#[derive(Debug, Default)]
pub struct SchemaCache(Mutex<HashMap<String, Arc<Schema>>>);

impl SchemaCache {
    /// The schema of a tool's arguments, ready. `None` for one that cannot be made ready, which then checks nothing: what
    /// clients declare has been made ready once before it was accepted.
    pub fn ready(&self, digest: &str, schema: &Value) -> Option<Arc<Schema>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = kept.get(digest) {
            return Some(ready.clone());
        }
        let ready = Arc::new(Schema::compile(schema).ok()?);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(digest.to_owned(), ready.clone());
        Some(ready)
    }
}
