//! Memory: what is written down for runs to come, by people and by models.

use std::sync::Arc;

use ropewalk_protocol::{
    EntryId, MemoryAuthor, MemoryChanged, MemoryCreateParams, MemoryDeleteParams, MemoryEntry, MemoryListParams,
    MemoryScope, MemoryUpdateParams, ProjectId, Removed, ThreadId, limits,
};

use super::{
    Caller, Catalogue, Refusal, Snapshot,
    document::{Document, DocumentChange, Noun},
    projects::existing,
    refusal::expect_revision,
    rules,
    writer::{Decision, Moment},
};

/// Longest query of a list, in characters.
const QUERY_CHARACTERS: usize = 1_000;

/// Who writes into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryWriter {
    /// The person, through a client.
    Person,
    /// The model of a run of this thread.
    Run(ThreadId),
}

impl Catalogue {
    /// Writes a new entry down.
    ///
    /// # Errors
    /// As [`Refusal`] says; [`Refusal::Full`] where its scope has as many as it may have.
    pub async fn create_memory(
        self: &Arc<Self>,
        caller: Caller,
        writer: MemoryWriter,
        params: MemoryCreateParams,
    ) -> Result<MemoryChanged, Refusal> {
        self.change(caller, move |snapshot, moment| create(snapshot, moment, writer, params)).await
    }

    /// Changes what is named of an entry.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn update_memory(
        self: &Arc<Self>,
        caller: Caller,
        writer: MemoryWriter,
        params: MemoryUpdateParams,
    ) -> Result<MemoryChanged, Refusal> {
        self.change(caller, move |snapshot, moment| update(snapshot, moment, writer, params)).await
    }

    /// Forgets an entry.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn delete_memory(
        self: &Arc<Self>,
        caller: Caller,
        params: MemoryDeleteParams,
    ) -> Result<Removed, Refusal> {
        self.change(caller, move |snapshot, _| {
            let entry = existing_entry(snapshot, &params.entry_id)?;
            expect_revision("memory entry", params.expected_revision, entry.revision, entry)?;
            let effect = format!("Forgets \"{}\" ({}).", entry.title, whose(snapshot, entry));
            let changes = vec![DocumentChange::Remove(Noun::Memory, entry.entry_id.to_string())];
            Ok(Decision::new(changes, move |_| Removed { applied: true, dry_run: false, effect, replayed: false }))
        })
        .await
    }

    /// An entry with its text.
    ///
    /// # Errors
    /// `notFound`.
    pub fn read_memory(&self, id: &EntryId) -> Result<MemoryEntry, Refusal> {
        Ok((**existing_entry(&self.snapshot(), id)?).clone())
    }
}

/// Whether an entry is one of those a list asks for, once it is known that the list can be asked for.
#[must_use]
pub fn is_remembered(entry: &MemoryEntry, params: &MemoryListParams) -> bool {
    let is_of_scope = params.scope.is_none_or(|scope| entry.scope == scope);
    let is_of_project = params.project_id.is_none() || entry.project_id == params.project_id;
    let has_tag = params.tag.as_ref().is_none_or(|tag| entry.tags.contains(tag));
    is_of_scope && is_of_project && has_tag && has_all_words(entry, params.query.as_deref().unwrap_or_default())
}

/// Refuses a list that nothing could be in.
///
/// # Errors
/// `notFound` for an unknown project, `invalidParams` for the user's entries of a project or a query that is too long.
pub fn check_memory_list(snapshot: &Snapshot, params: &MemoryListParams) -> Result<(), Refusal> {
    if let Some(project_id) = &params.project_id {
        existing(snapshot, project_id)?;
        if params.scope == Some(MemoryScope::User) {
            return Err(not_of_a_project());
        }
    }
    rules::text("/query", params.query.as_deref().unwrap_or_default(), QUERY_CHARACTERS)
}

/// Whether every word is in the title, the text or a tag, in whatever case.
#[must_use]
pub fn has_all_words(entry: &MemoryEntry, query: &str) -> bool {
    let mut words = query.split_whitespace().map(str::to_lowercase).peekable();
    if words.peek().is_none() {
        return true;
    }
    let texts = [entry.title.as_str(), entry.body.as_deref().unwrap_or_default()];
    let texts: Vec<String> =
        texts.into_iter().chain(entry.tags.iter().map(String::as_str)).map(str::to_lowercase).collect();
    words.all(|word| texts.iter().any(|text| text.contains(&word)))
}

fn create(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    writer: MemoryWriter,
    params: MemoryCreateParams,
) -> Result<Decision<MemoryChanged>, Refusal> {
    let project_id = match (params.scope, params.project_id) {
        (MemoryScope::User, None) => None,
        (MemoryScope::User, Some(_)) => return Err(not_of_a_project()),
        (MemoryScope::Project, named) => Some(rules::required("/projectId", named, "An entry of a project")?),
    };
    if let Some(project_id) = &project_id {
        existing(snapshot, project_id)?;
    }
    let is_same_scope = |entry: &&Arc<MemoryEntry>| entry.scope == params.scope && entry.project_id == project_id;
    if snapshot.memory.values().filter(is_same_scope).count() as u64 >= limits::MEMORY_ENTRIES {
        let of = if project_id.is_some() { "This project's memory" } else { "The user's memory" };
        return Err(Refusal::Full {
            limit: limits::MEMORY_ENTRIES,
            what: "memory entries",
            message: format!(
                "{of} has {} entries, which is as many as it may have. Delete one that is not needed, or add to one \
                 there is.",
                limits::MEMORY_ENTRIES
            ),
        });
    }
    let (author, thread_id) = writer.named();
    let entry = MemoryEntry {
        entry_id: moment.id(),
        scope: params.scope,
        project_id,
        kind: params.kind,
        title: params.title,
        body: Some(params.body),
        tags: distinct(params.tags.unwrap_or_default()),
        pinned: params.pinned.unwrap_or(false),
        enabled: params.enabled.unwrap_or(true),
        author,
        thread_id,
        created_at: moment.now,
        updated_at: moment.now,
        revision: 1,
    };
    check(&entry)?;
    Ok(changed(entry))
}

fn update(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    writer: MemoryWriter,
    params: MemoryUpdateParams,
) -> Result<Decision<MemoryChanged>, Refusal> {
    let before = existing_entry(snapshot, &params.entry_id)?;
    expect_revision("memory entry", params.expected_revision, before.revision, before)?;
    let mut entry = (**before).clone();
    entry.kind = params.kind.unwrap_or(entry.kind);
    entry.title = params.title.unwrap_or(entry.title);
    entry.body = params.body.or(entry.body);
    entry.tags = params.tags.map_or(entry.tags, distinct);
    entry.pinned = params.pinned.unwrap_or(entry.pinned);
    entry.enabled = params.enabled.unwrap_or(entry.enabled);
    if entry == **before {
        return Ok(Decision::nothing(MemoryChanged { entry, replayed: false }));
    }
    // Whoever only pins or sorts an entry has not written what it says.
    if entry.title != before.title || entry.body != before.body {
        (entry.author, entry.thread_id) = writer.named();
    }
    check(&entry)?;
    entry.updated_at = moment.now;
    entry.revision += 1;
    Ok(changed(entry))
}

fn changed(entry: MemoryEntry) -> Decision<MemoryChanged> {
    let changes = vec![DocumentChange::Put(Document::Memory(entry.clone()))];
    Decision::new(changes, move |_| MemoryChanged { entry, replayed: false })
}

impl MemoryWriter {
    fn named(self) -> (MemoryAuthor, Option<ThreadId>) {
        match self {
            Self::Person => (MemoryAuthor::User, None),
            Self::Run(thread_id) => (MemoryAuthor::Model, Some(thread_id)),
        }
    }
}

fn existing_entry<'a>(snapshot: &'a Snapshot, id: &EntryId) -> Result<&'a Arc<MemoryEntry>, Refusal> {
    snapshot.memory.get(id).ok_or_else(|| Refusal::not_found("entry", id))
}

/// The entries of a project that go with it.
pub(super) fn of_project<'a>(snapshot: &'a Snapshot, id: &ProjectId) -> impl Iterator<Item = &'a Arc<MemoryEntry>> {
    snapshot.memory.values().filter(move |entry| entry.project_id.as_ref() == Some(id))
}

fn whose(snapshot: &Snapshot, entry: &MemoryEntry) -> String {
    let project = entry.project_id.as_ref().and_then(|id| snapshot.projects.get(id));
    project.map_or_else(|| "of the user".to_owned(), |project| format!("of project {}", project.name))
}

fn not_of_a_project() -> Refusal {
    let message = "The user's entries belong to no project. Leave projectId out, or take the scope project.";
    Refusal::invalid("/projectId", "not_with_scope_user", message)
}

/// The tags, each once, in the order in which they were given.
fn distinct(tags: Vec<String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !distinct.contains(&tag) {
            distinct.push(tag);
        }
    }
    distinct
}

fn check(entry: &MemoryEntry) -> Result<(), Refusal> {
    rules::line("/title", &entry.title, size(limits::MEMORY_TITLE_CHARACTERS))?;
    rules::text("/body", entry.body.as_deref().unwrap_or_default(), size(limits::MEMORY_BODY_CHARACTERS))?;
    if entry.tags.len() > size(limits::MEMORY_TAGS) {
        let message = format!("There are {} tags; at most {} are allowed.", entry.tags.len(), limits::MEMORY_TAGS);
        return Err(Refusal::invalid("/tags", "too_many", message));
    }
    entry.tags.iter().try_for_each(|tag| rules::line("/tags", tag, size(limits::MEMORY_TAG_CHARACTERS)))
}

fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
