//! The resources, each with the ids that name it and what is shown of it.

use ropewalk_protocol::{BranchId, Message, Part, Policy, Project, ProjectId, Thread, ThreadId};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    ReadPage, ReadParams, ReadResource,
    page::{fitting, one, page},
    query,
};
use crate::app::{AppServer, answer::ToolError, spelling::capitalise, surroundings::Chain};

/// Words of enumerations in a rule, below where its list is.
const PROJECT_WORDS: &[&str] = &[
    "servers/*/transport",
    "grants/*/capabilities/*",
    "policies/*/level",
    "policies/*/decision",
    "policies/*/principal/kind",
];
const MESSAGE_WORDS: &[&str] = &["role", "delivery", "sender/intent"];

impl AppServer {
    pub(super) fn projects(&self, params: &ReadParams, limit: u64) -> Result<ReadPage, ToolError> {
        let query = query(params, &["app_read Projects"], limit)?;
        let all = self.reader.projects();
        let total = all.len() as u64;
        let is_beyond = |project: &Project| query.after().is_none_or(|after| project.project_id.as_str() > after);
        let beyond: Vec<Project> = all.into_iter().filter(is_beyond).collect();
        let cursor = |project: &Project| query.cursor(&project.project_id);
        let page = page(ReadResource::Projects, beyond, query.limit(), project_fields, cursor);
        Ok(ReadPage { total: Some(total), ..page })
    }

    pub(super) fn project(&self, params: &ReadParams) -> Result<ReadPage, ToolError> {
        no_cursor(params)?;
        let project_id = self.project_id(params)?;
        let project = self.reader.project(&project_id)?;
        Ok(one(ReadResource::Project, project_fields(&project)))
    }

    pub(super) fn threads(&self, params: &ReadParams, limit: u64) -> Result<ReadPage, ToolError> {
        let project_id = self.project_id(params)?;
        let query = query(params, &["app_read Threads ", &project_id], limit)?;
        self.reader.project(&project_id)?;
        let after = query.after().map(ThreadId::from);
        let threads = self.reader.threads(&project_id, after.as_ref(), query.limit() + 1)?;
        let cursor = |thread: &Thread| query.cursor(&thread.thread_id);
        Ok(page(ReadResource::Threads, threads, query.limit(), thread_fields, cursor))
    }

    pub(super) async fn thread(&self, params: &ReadParams) -> Result<ReadPage, ToolError> {
        no_cursor(params)?;
        let thread = self.reader.thread(&self.thread_id(params)?).await?;
        belongs(&thread, params.project_id.as_ref())?;
        let mut shown = thread_fields(&thread);
        let policies = self.reader.policies(&thread.thread_id);
        shown.insert("policies".to_owned(), policies.iter().map(policy_fields).map(Value::Object).collect());
        Ok(one(ReadResource::Thread, shown))
    }

    pub(super) async fn messages(&self, params: &ReadParams, limit: u64) -> Result<ReadPage, ToolError> {
        let thread_id = self.thread_id(params)?;
        let branch_id = match &params.branch_id {
            Some(branch_id) => branch_id.clone(),
            None if thread_id == self.place.thread_id => self.place.branch_id.clone(),
            None => BranchId::from(thread_id.clone()),
        };
        if params.project_id.is_some() {
            belongs(&self.reader.thread(&thread_id).await?, params.project_id.as_ref())?;
        }
        let query = query(params, &["app_read Messages ", &thread_id, " ", &branch_id], limit)?;
        let read = |limit| self.reader.messages(&thread_id, &branch_id, query.after(), limit);
        let Chain { messages, next } = read(query.limit()).await?;
        let mut items: Vec<_> = messages.into_iter().map(message_fields).collect();
        let fits = fitting(&items, query.limit());
        let is_cut = fits < items.len();
        // Only the chain itself knows where it goes on, so that a shorter page is read as one.
        let next = if is_cut { read(fits).await?.next } else { next };
        items.truncate(fits);
        let truncated = is_cut || next.is_some() && fits < query.limit();
        let next_cursor = next.map(|next| query.cursor(&next));
        let returned = items.len() as u64;
        Ok(ReadPage { resource: ReadResource::Messages, items, next_cursor, truncated, returned, total: None })
    }

    /// The project that is meant, for what belongs to one: the run's own, where none is named (APP-214).
    pub(super) fn project_id(&self, params: &ReadParams) -> Result<ProjectId, ToolError> {
        let is_named_so = matches!(params.resource, ReadResource::Project | ReadResource::Instructions);
        let named = params.resource_id.as_deref().filter(|_| is_named_so);
        let named = same("projectId", params.project_id.as_deref(), named)?;
        Ok(named.map_or_else(|| self.place.project_id.clone(), ProjectId::from))
    }

    pub(super) fn thread_id(&self, params: &ReadParams) -> Result<ThreadId, ToolError> {
        let named = same("threadId", params.thread_id.as_deref(), params.resource_id.as_deref())?;
        Ok(named.map_or_else(|| self.place.thread_id.clone(), ThreadId::from))
    }
}

/// One id that was named in one or two ways.
fn same<'a>(name: &str, id: Option<&'a str>, resource_id: Option<&'a str>) -> Result<Option<&'a str>, ToolError> {
    match (id, resource_id) {
        (Some(id), Some(other)) if id != other => {
            Err(ToolError(format!("resourceId and {name} name two different things. Leave one of them out.")))
        }
        (id, other) => Ok(id.or(other)),
    }
}

/// Words of enumerations in a rule by itself.
pub(super) const POLICY_WORDS: &[&str] = &["level", "decision", "principal/kind", "origin", "setBy/kind"];

/// A single document has no second page.
pub(super) fn no_cursor(params: &ReadParams) -> Result<(), ToolError> {
    if params.cursor.is_none() {
        return Ok(());
    }
    let what = params.resource;
    Err(ToolError(format!(
        "This cursor belongs to another list: {what:?} is one document and has no pages. Leave it out."
    )))
}

/// A thread is only shown as one of a project it lives in.
pub(super) fn belongs(thread: &Thread, project_id: Option<&ProjectId>) -> Result<(), ToolError> {
    match project_id {
        Some(named) if *named != thread.project_id => {
            let (thread_id, lives_in) = (&thread.thread_id, &thread.project_id);
            Err(ToolError(format!("Thread {thread_id} is not in project {named}; it lives in project {lives_in}.")))
        }
        _ => Ok(()),
    }
}

fn project_fields(project: &Project) -> Map<String, Value> {
    fields(project, PROJECT_WORDS)
}

pub(super) fn policy_fields(policy: &Policy) -> Map<String, Value> {
    let mut shown = fields(policy, POLICY_WORDS);
    // It is worked out where an owner asks.
    shown.remove("matches");
    shown
}

fn thread_fields(thread: &Thread) -> Map<String, Value> {
    fields(thread, &[])
}

fn message_fields(mut message: Message) -> Map<String, Value> {
    for part in &mut message.content {
        without_bytes(part);
    }
    fields(&message, MESSAGE_WORDS)
}

/// Bytes in base64 say nothing in a text; who wants to see them reads the message on the wire.
fn without_bytes(part: &mut Part) {
    let (kind, media_type, data) = match part {
        Part::Image { media_type, data } => ("image", media_type, data),
        Part::Audio { media_type, data } => ("audio", media_type, data),
        _ => return,
    };
    let bytes = data.trim_end_matches('=').len() * 3 / 4;
    *part = Part::text(format!("[{kind} {media_type}, {bytes} bytes]"));
}

pub(super) fn fields(document: &impl Serialize, words: &[&str]) -> Map<String, Value> {
    let mut value = serde_json::to_value(document).unwrap_or_default();
    capitalise(&mut value, words);
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
