//! What all tools that change something share: an operation becomes a request of the wire, made on behalf of the run, and what
//! came of it an answer of one shape.
//!
//! Nothing is tried twice: a conflict is told with the revision and the document there are, and the model decides (APP-153).
//! A repeat of an operation id is answered from the journal (APP-155), which only applied changes are in (APP-156).

pub mod instructions;
pub mod memory;
pub mod projects;
pub mod runs;
pub mod security;
pub mod threads;
mod told;

use rmcp::model::{Tool, ToolAnnotations};
use ropewalk_protocol::{PolicyId, PolicyLevel, Severity, ThreadId};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use self::told::{Status, Written};
use super::{
    AppServer,
    answer::{Answer, ToolError},
    authority::{self, Authority},
    server::parsed,
    surroundings::Asked,
    tools,
};
use crate::tools::{Stakes, servers::Place};

/// Characters of an operation id of a model: with the branch before it, it is one of the wire.
const OPERATION_ID_CHARACTERS: usize = 80;

/// What the `operationId` of a tool is for, for its schema.
pub const NAMED_BY: &str = "A name you give this change, so that repeating the call does not do it twice";

/// A change, as a tool of the application understood it.
#[derive(Debug)]
pub struct Request {
    /// The operation, as the model named it.
    pub operation: &'static str,
    /// The method of the wire.
    pub method: &'static str,
    /// Its parameters, without what is in [`How`].
    pub params: Map<String, Value>,
    /// What a message wants of whom it is for.
    pub intent: Option<String>,
    /// What has been done once it is done, as a sentence, where the method does not say it.
    pub effect: String,
    /// Whether it says what it would do unless it is told to do it.
    pub is_rehearsed: bool,
    /// Whether it compares a revision, which has to be named then.
    pub has_revision: bool,
    /// The level that the rule has to be of which it takes back.
    pub takes_back: Option<(PolicyId, PolicyLevel)>,
}

/// What every change is asked with.
#[derive(Clone, Debug)]
pub struct How {
    /// What a repeat is recognised by.
    pub operation_id: String,
    /// Whether it is only said what would be done.
    pub dry_run: Option<bool>,
    /// The revision the change is based on.
    pub expected_revision: Option<u64>,
}

/// The arguments of a tool that changes something.
pub trait Change: DeserializeOwned + JsonSchema {
    /// The request that they stand for, from where the run stands.
    ///
    /// # Errors
    /// What is missing or does not go together.
    fn request(&self, place: &Place) -> Result<Request, ToolError>;

    /// How it is asked.
    fn how(&self) -> How;
}

/// How a tool that changes something is listed.
fn listed<C: Change>(name: &'static str, title: &'static str, description: &'static str) -> Tool {
    let annotations = ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false);
    tools::tool::<C, Written>(name, title, description, annotations)
}

/// What a call of an App tool would change of what runs may do (APP-141).
pub fn stakes(place: &Place, tool: &str, arguments: &Map<String, Value>, standing: &dyn Authority) -> Option<Stakes> {
    let request = match tool {
        projects::NAME => wire_of::<projects::ProjectChange>(place, arguments),
        security::NAME => wire_of::<security::SecurityChange>(place, arguments),
        instructions::NAME => wire_of::<instructions::InstructionsChange>(place, arguments),
        threads::NAME => wire_of::<threads::ThreadChange>(place, arguments),
        _ => None,
    };
    let (request, how) = request?;
    if let Some((id, level)) = &request.takes_back
        && standing.policy(id).is_none_or(|policy| policy.level != *level)
    {
        return None;
    }
    let method = request.method;
    authority::stakes(place, method, &Value::Object(params_of(request, &how)), standing)
}

/// The request of a call; nothing for one that will be refused anyway.
fn wire_of<C: Change>(place: &Place, arguments: &Map<String, Value>) -> Option<(Request, How)> {
    let change: C = parsed(arguments.clone()).ok()?;
    Some((change.request(place).ok()?, change.how()))
}

impl AppServer {
    /// Makes a change and tells what came of it.
    pub(super) async fn change<C: Change>(&self, change: C) -> Result<Answer, ToolError> {
        let request = change.request(&self.place)?;
        let how = change.how();
        check(&request, &how)?;
        self.check_level(&request)?;
        let (operation, method) = (request.operation, request.method);
        let (intent, effect) = (request.intent.clone(), request.effect.clone());
        let params = Value::Object(params_of(request, &how));
        let asked = Asked { place: self.place.clone(), method, params, intent };
        match self.writer.ask(asked).await {
            Ok(answer) => Written::done(operation, effect, answer).into_answer(),
            Err(error) => Written::refused(operation, error)?.into_answer(),
        }
    }

    /// An operation that takes back a rule of one level takes back none of another: the model is told which one it names.
    fn check_level(&self, request: &Request) -> Result<(), ToolError> {
        let Some((id, level)) = &request.takes_back else { return Ok(()) };
        match self.reader.rule(id).map(|rule| rule.level) {
            Some(actual) if actual != *level => {
                let (operation, actual) = (request.operation, json!(actual));
                let actual = actual.as_str().unwrap_or_default();
                Err(ToolError(format!("{operation} cannot take back {id}: it is a {actual} rule. Nothing was done.")))
            }
            // What is not there is not found.
            _ => Ok(()),
        }
    }
}

/// The parameters with what every change is asked with. A rehearsal is no change, so a repeat of it is made anew.
fn params_of(request: Request, how: &How) -> Map<String, Value> {
    let mut params = request.params;
    let is_rehearsal = request.is_rehearsed && how.dry_run != Some(false);
    if request.is_rehearsed {
        params.insert("dryRun".to_owned(), is_rehearsal.into());
    }
    if !is_rehearsal {
        params.insert("operationId".to_owned(), how.operation_id.clone().into());
    }
    if let Some(revision) = how.expected_revision {
        params.insert("expectedRevision".to_owned(), revision.into());
    }
    params
}

fn check(request: &Request, how: &How) -> Result<(), ToolError> {
    let operation = request.operation;
    if how.operation_id.is_empty() || how.operation_id.len() > OPERATION_ID_CHARACTERS {
        let length = how.operation_id.len();
        return Err(ToolError(format!(
            "operationId has {length} characters; it has 1 to {OPERATION_ID_CHARACTERS}. {NAMED_BY}."
        )));
    }
    if how.dry_run == Some(true) && !request.is_rehearsed {
        return Err(ToolError(format!(
            "{operation} cannot be rehearsed, so nothing was done. Leave dryRun out to have it done."
        )));
    }
    let is_done = !request.is_rehearsed || how.dry_run == Some(false);
    if is_done && request.has_revision && how.expected_revision.is_none() {
        return Err(ToolError(format!(
            "{operation} needs expectedRevision: the revision of what you read and want to change, so that nobody's later \
             change is lost. Nothing was done."
        )));
    }
    Ok(())
}

/// An argument that an operation needs.
fn needed<'a, T>(value: Option<&'a T>, operation: &str, name: &str) -> Result<&'a T, ToolError> {
    value.ok_or_else(|| ToolError(format!("{operation} needs {name}. Nothing was done.")))
}

/// A request of the wire that is made at once and compares no revision.
fn request(operation: &'static str, method: &'static str, params: Value, effect: String) -> Request {
    let params = said(params);
    let (intent, takes_back) = (None, None);
    Request { operation, method, params, intent, effect, is_rehearsed: false, has_revision: false, takes_back }
}

/// The same, which compares a revision.
fn revised(request: Request) -> Request {
    Request { has_revision: true, ..request }
}

/// Parameters, without what was not said.
fn said(params: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = params else { return Map::new() };
    fields.retain(|_, value| !value.is_null());
    fields
}

/// A run may not pull the ground from under its own feet: it would never hear what came of it.
fn not_own(thread: &ThreadId, place: &Place, operation: &str) -> Result<(), ToolError> {
    if *thread == place.thread_id {
        return Err(ToolError(format!("{operation} cannot be about the thread this run works in. Nothing was done.")));
    }
    Ok(())
}

impl Written {
    fn into_answer(self) -> Result<Answer, ToolError> {
        let is_error = self.error.is_some();
        let summary = self.error.clone().unwrap_or_else(|| self.effect.clone());
        let severity = match self.status {
            Status::Applied => Severity::Info,
            Status::DryRun | Status::Conflict => Severity::Warning,
            Status::NotFound => Severity::Error,
        };
        Ok(Answer { severity, is_error, ..Answer::new(&json!(self), summary)? })
    }
}
