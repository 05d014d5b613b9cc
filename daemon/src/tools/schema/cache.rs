//! Keeps schemas that have been made ready, because making one takes far longer than checking with it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::{Schema, SchemaProblem};
use crate::tools::ToolSpec;

/// Schemas kept at once; beyond it all are dropped and made again when they are needed.
const KEPT: usize = 2_048;

/// Ready schemas by the digest of their tool.
#[derive(Debug, Default)]
pub struct SchemaCache {
    ready: Mutex<HashMap<(String, Side), Arc<Schema>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Input,
    Output,
}

impl SchemaCache {
    /// The schema of a tool's arguments.
    ///
    /// # Errors
    /// When it does not compile; those of client tools have been compiled when they were declared.
    pub fn input(&self, tool: &ToolSpec) -> Result<Arc<Schema>, SchemaProblem> {
        self.get(&tool.digest, Side::Input, &tool.input_schema)
    }

    /// The schema of a tool's structured results, where it has one.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn output(&self, tool: &ToolSpec) -> Result<Option<Arc<Schema>>, SchemaProblem> {
        tool.output_schema.as_deref().map(|schema| self.get(&tool.digest, Side::Output, schema)).transpose()
    }

    /// Two tasks that miss at once both compile; that costs less than one waiting for the other under the lock.
    fn get(&self, digest: &str, side: Side, schema: &Value) -> Result<Arc<Schema>, SchemaProblem> {
        let key = (digest.to_owned(), side);
        if let Some(ready) = self.lock().get(&key) {
            return Ok(Arc::clone(ready));
        }
        let made = Arc::new(Schema::compile(schema)?);
        let mut ready = self.lock();
        if ready.len() >= KEPT {
            ready.clear();
        }
        ready.insert(key, Arc::clone(&made));
        Ok(made)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, Side), Arc<Schema>>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
