//! Checks what a client declares before anything of it is kept: all of a set is taken, or none.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use ropewalk_protocol::{ErrorDetail, Limits, Problem, RpcError, ToolDeclaration};
use serde_json::Value;
use thiserror::Error;

pub use crate::domain::ClientTool;

use super::{
    digest::tool_digest,
    json::join,
    names,
    schema::{MAX_PROBLEMS, Schema, SchemaProblem},
};

#[cfg(test)]
mod tests;

/// The shortest timeout a declaration or a rule may name.
pub const MIN_TIMEOUT_MS: u64 = 1_000;

/// The longest timeout a declaration or a rule may name.
pub const MAX_TIMEOUT_MS: u64 = 3_600_000;

/// Why a set of declarations is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeclarationProblem {
    /// It breaks a rule: the first problem, such as one at `/tools/3/inputSchema/type`, and up to four more.
    #[error("The tools were not taken: {} {}.", first.path, first.reason)]
    Invalid {
        /// The first problem.
        first: Problem,
        /// Further ones.
        more: Vec<Problem>,
    },
    /// A schema is over a limit of bytes or levels.
    #[error("The schema at {path} is too large: {actual} {}; at most {limit} are allowed.", if *what == "schema" { "bytes" } else { "levels of nesting" })]
    TooLarge {
        /// Where.
        path: String,
        /// What is too large: `schema` for its bytes, or `schema levels`.
        what: &'static str,
        /// The limit.
        limit: u64,
        /// How much there was.
        actual: u64,
    },
}

impl From<DeclarationProblem> for RpcError {
    fn from(problem: DeclarationProblem) -> Self {
        let message = problem.to_string();
        let detail = match problem {
            DeclarationProblem::Invalid { first, more } => {
                ErrorDetail::InvalidParams { path: first.path, reason: first.reason, problems: more }
            }
            DeclarationProblem::TooLarge { what, limit, actual, .. } => {
                ErrorDetail::TooLarge { limit, actual, what: what.to_owned() }
            }
        };
        Self::new(detail, message)
    }
}

/// Checks a set of declarations, the `tools` of `thread/start` and `thread/resume`. `ceiling_ms` is the setting
/// `toolCeilingMs`, which no timeout may exceed.
///
/// # Errors
/// On the wire `tooLarge` when a schema is over its limit, for all else `invalidParams`.
pub fn check_declarations(
    declarations: &[ToolDeclaration],
    limits: &Limits,
    ceiling_ms: u64,
) -> Result<Vec<Arc<ClientTool>>, DeclarationProblem> {
    let count = declarations.len() as u64;
    if count > limits.tools_per_client {
        let reason = format!("has {count} tools; at most {} are allowed", limits.tools_per_client);
        return Err(invalid(vec![Problem { path: "/tools".to_owned(), reason }]));
    }
    let mut set = Set { limits, ceiling_ms, problems: Vec::new() };
    let about = set.namespaces(declarations);
    let mut tools = Vec::with_capacity(declarations.len());
    let mut taken = BTreeSet::new();
    for (index, declaration) in declarations.iter().enumerate() {
        let path = format!("/tools/{index}");
        let flat_name = names::flat_name(declaration.namespace.as_deref(), &declaration.name);
        set.check_texts(&path, declaration, &flat_name);
        set.check_timeout(&path, declaration.timeout_ms);
        set.check_schemas(&path, declaration)?;
        if !taken.insert(flat_name.clone()) {
            set.refuse(&path, "name", "gives the same model-facing name as another tool of this set");
        }
        let description = declaration.namespace.as_ref().and_then(|namespace| about.get(namespace.as_str()));
        tools.push(Arc::new(accepted(declaration, flat_name, description.map(|text| (*text).to_owned()))));
    }
    if set.problems.is_empty() { Ok(tools) } else { Err(invalid(set.problems)) }
}

fn accepted(declaration: &ToolDeclaration, flat_name: String, namespace_description: Option<String>) -> ClientTool {
    let declared = declaration.clone();
    let annotations = declared.annotations.unwrap_or_default();
    ClientTool {
        flat_name,
        digest: tool_digest(&declared.input_schema, declared.output_schema.as_ref(), &annotations),
        name: declared.name,
        namespace: declared.namespace,
        namespace_description,
        title: declared.title,
        description: declared.description,
        annotations,
        timeout_ms: declared.timeout_ms,
        approval: declared.approval,
        input_schema: Arc::new(declared.input_schema),
        output_schema: declared.output_schema.map(Arc::new),
    }
}

/// The set that is being checked.
struct Set<'a> {
    limits: &'a Limits,
    ceiling_ms: u64,
    problems: Vec<Problem>,
}

impl Set<'_> {
    fn refuse(&mut self, tool: &str, field: &str, reason: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { path: join(tool, field), reason: reason.into() });
        }
    }

    /// What each namespace is for. All declarations of one say the same, or nothing.
    fn namespaces<'d>(&mut self, declarations: &'d [ToolDeclaration]) -> BTreeMap<&'d str, &'d str> {
        let mut about = BTreeMap::new();
        for (index, declaration) in declarations.iter().enumerate() {
            let Some(text) = declaration.namespace_description.as_deref() else { continue };
            let path = format!("/tools/{index}");
            match declaration.namespace.as_deref() {
                None => self.refuse(&path, "namespaceDescription", "needs a namespace"),
                Some(namespace) if *about.entry(namespace).or_insert(text) != text => {
                    self.refuse(&path, "namespaceDescription", "differs from that of another tool of this namespace");
                }
                Some(_) => {}
            }
        }
        about
    }

    fn check_texts(&mut self, path: &str, declaration: &ToolDeclaration, flat_name: &str) {
        let mut named = true;
        for (field, name) in
            [("namespace", declaration.namespace.as_deref()), ("name", Some(declaration.name.as_str()))]
        {
            if let Some(Err(problem)) = name.map(names::check_name) {
                self.refuse(path, field, problem.to_string());
                named = false;
            }
        }
        if named && let Err(problem) = names::check_client_flat_name(flat_name) {
            self.refuse(path, if declaration.namespace.is_some() { "namespace" } else { "name" }, problem.to_string());
        }
        let texts = [
            ("description", Some(declaration.description.as_str())),
            ("title", declaration.title.as_deref()),
            ("namespaceDescription", declaration.namespace_description.as_deref()),
        ];
        for (field, text) in texts {
            let Some(text) = text else { continue };
            let (characters, limit) = (text.chars().count() as u64, self.limits.description_characters);
            if text.trim().is_empty() {
                self.refuse(path, field, "must not be empty");
            } else if characters > limit {
                self.refuse(path, field, format!("has {characters} characters; at most {limit} are allowed"));
            }
        }
    }

    fn check_timeout(&mut self, path: &str, timeout_ms: Option<u64>) {
        let Some(timeout_ms) = timeout_ms else { return };
        if !(MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS).contains(&timeout_ms) {
            self.refuse(path, "timeoutMs", format!("must be {MIN_TIMEOUT_MS} to {MAX_TIMEOUT_MS}"));
        } else if timeout_ms > self.ceiling_ms {
            let reason = format!("must be at most {}, which is how long a call may take in all", self.ceiling_ms);
            self.refuse(path, "timeoutMs", reason);
        }
    }

    fn check_schemas(&mut self, path: &str, declaration: &ToolDeclaration) -> Result<(), DeclarationProblem> {
        if declaration.input_schema.get("type").and_then(Value::as_str) != Some("object") {
            self.refuse(&join(path, "inputSchema"), "type", "must be \"object\", because arguments are an object");
        }
        let schemas =
            [("inputSchema", Some(&declaration.input_schema)), ("outputSchema", declaration.output_schema.as_ref())];
        for (field, schema) in schemas {
            let Some(schema) = schema else { continue };
            match Schema::compile(schema) {
                Ok(_) => {}
                Err(SchemaProblem::TooManyBytes(actual)) => {
                    let limit = self.limits.schema_bytes;
                    return Err(DeclarationProblem::TooLarge {
                        path: join(path, field),
                        what: "schema",
                        limit,
                        actual,
                    });
                }
                Err(SchemaProblem::TooManyLevels(actual)) => {
                    let limit = self.limits.schema_levels;
                    let what = "schema levels";
                    return Err(DeclarationProblem::TooLarge { path: join(path, field), what, limit, actual });
                }
                Err(SchemaProblem::Refused { path: inside, reason }) => {
                    let place = format!("{}{inside}", join(path, field));
                    if self.problems.len() < MAX_PROBLEMS && self.problems.iter().all(|known| known.path != place) {
                        self.problems.push(Problem { path: place, reason });
                    }
                }
            }
        }
        Ok(())
    }
}

fn invalid(mut problems: Vec<Problem>) -> DeclarationProblem {
    let first = problems.remove(0);
    DeclarationProblem::Invalid { first, more: problems }
}
