//! The files that a run changed, as the file tools tell of each.

use ropewalk_protocol::{ChangeSet, ChangedFile, Event, FileChange, Item, ItemBody, RunId};

use super::Change;

/// The source whose word counts: what any other server says of files is its own.
const SOURCE: &str = "files";

/// Where in the data of a result a change is told.
const CHANGE: &str = "ropewalk/change";

/// Files that are listed; a run is shown often, and whole.
const FILES: usize = 1_000;

impl Change<'_> {
    /// Takes in what a call that is over says of a file, so that the run can be asked what it changed.
    pub(super) fn note_changed_file(&mut self, run_id: &RunId, item: &Item) {
        let Some(changed) = changed_file(item) else { return };
        let Some(state) = self.state.runs.get(run_id) else { return };
        let mut run = state.run.clone();
        // One set a run: its id is the run's.
        let change_set_id = run_id.as_str().into();
        let set = run.change_set.get_or_insert_with(|| ChangeSet { change_set_id, files: Vec::new() });
        // What a run made stays made, however often it changes it afterwards.
        if set.files.len() < FILES && !set.files.iter().any(|file| file.path == changed.path) {
            set.files.push(changed);
            self.event(Event::RunState { run });
        }
    }
}

fn changed_file(item: &Item) -> Option<ChangedFile> {
    let ItemBody::ToolCall(call) = &item.body else { return None };
    let change = call.meta.as_ref().filter(|_| call.tool.source == SOURCE)?.get(CHANGE)?;
    Some(ChangedFile {
        path: change.get("path")?.as_str()?.to_owned(),
        change: match change.get("change")?.as_str()? {
            "created" => FileChange::Created,
            "modified" => FileChange::Modified,
            "deleted" => FileChange::Deleted,
            _ => return None,
        },
    })
}
