//! Memory in words.

use ropewalk_protocol::{MemoryAuthor, MemoryEntry, Project, ProjectId, Timestamp};

use crate::cli::{
    text::{ago, one_line, table},
    words::spelled,
};

/// Characters of a title in the list; all of them.
const TITLE_CHARACTERS: usize = 120;

/// A line for each entry.
pub(super) fn listed(entries: &[MemoryEntry], projects: &[Project], is_part: bool) -> String {
    if entries.is_empty() {
        return "Nothing is remembered.".to_owned();
    }
    let now = Timestamp::now();
    let row = |entry: &MemoryEntry| {
        let whose = entry.project_id.as_ref().map_or_else(|| "user".to_owned(), |id| name_of(id, projects));
        let title = one_line(&entry.title, TITLE_CHARACTERS);
        vec![entry.entry_id.to_string(), whose, spelled(&entry.kind), ago(entry.updated_at, now), title, marks(entry)]
    };
    let rows = table(&entries.iter().map(row).collect::<Vec<_>>()).trim_end().to_owned();
    if is_part { format!("{rows}\nThere are more; --project, --query and --tag narrow the list.") } else { rows }
}

/// All of an entry.
pub(super) fn shown(entry: &MemoryEntry) -> String {
    let whose = match &entry.project_id {
        Some(project_id) => format!("of project {project_id}"),
        None => "of the user".to_owned(),
    };
    let author = match (entry.author, &entry.thread_id) {
        (MemoryAuthor::User, _) => "written by the user".to_owned(),
        (MemoryAuthor::Model, Some(thread_id)) => format!("written by a model in thread {thread_id}"),
        (MemoryAuthor::Model, None) => "written by a model".to_owned(),
    };
    let mut lines = vec![
        format!("{} ({})", entry.title, entry.entry_id),
        format!("A {} {whose}, {author}, revision {}.", spelled(&entry.kind), entry.revision),
    ];
    let marks = marks(entry);
    if !marks.is_empty() {
        lines.push(marks);
    }
    lines.push(format!("\n{}", entry.body.as_deref().unwrap_or_default()));
    lines.join("\n")
}

fn marks(entry: &MemoryEntry) -> String {
    let mut marks: Vec<String> = Vec::new();
    marks.extend(entry.pinned.then(|| "pinned".to_owned()));
    marks.extend((!entry.enabled).then(|| "off".to_owned()));
    marks.extend((entry.author == MemoryAuthor::Model).then(|| "by a model".to_owned()));
    marks.extend(entry.tags.iter().map(|tag| format!("#{tag}")));
    marks.join(" ")
}

fn name_of(id: &ProjectId, projects: &[Project]) -> String {
    let found = projects.iter().find(|project| project.project_id == *id);
    found.map_or_else(|| id.to_string(), |project| one_line(&project.name, 40))
}
