//! Memory: what may be written down, who wrote it, whose it is, and what goes with a project.

use std::collections::BTreeSet;

use ropewalk_protocol::{
    MemoryAuthor, MemoryChanged, MemoryCreateParams, MemoryDeleteParams, MemoryEntry, MemoryKind, MemoryListParams,
    MemoryScope, MemoryUpdateParams, ProjectId,
};

use super::*;
use crate::catalogue::{Burial, MemoryWriter, check_memory_list, is_remembered};

fn entry(title: &str) -> MemoryCreateParams {
    MemoryCreateParams {
        scope: MemoryScope::User,
        project_id: None,
        kind: MemoryKind::Fact,
        title: title.to_owned(),
        body: "The body.".to_owned(),
        tags: None,
        pinned: None,
        enabled: None,
        operation_id: None,
    }
}

fn of_project(project_id: &ProjectId, title: &str) -> MemoryCreateParams {
    MemoryCreateParams { scope: MemoryScope::Project, project_id: Some(project_id.clone()), ..entry(title) }
}

fn keeping(entry: &MemoryEntry) -> MemoryUpdateParams {
    MemoryUpdateParams {
        entry_id: entry.entry_id.clone(),
        kind: None,
        title: None,
        body: None,
        tags: None,
        pinned: None,
        enabled: None,
        operation_id: None,
        expected_revision: None,
    }
}

impl World {
    async fn remember(&self, params: MemoryCreateParams) -> Result<MemoryChanged, Refusal> {
        self.catalogue.create_memory(client(), MemoryWriter::Person, params).await
    }

    async fn change_entry(&self, params: MemoryUpdateParams) -> Result<MemoryChanged, Refusal> {
        self.catalogue.update_memory(client(), MemoryWriter::Person, params).await
    }
}

#[tokio::test]
async fn b2_an_entry_is_written_read_changed_and_forgotten_and_outlives_a_restart() {
    let world = World::new().await;
    let params = MemoryCreateParams { tags: Some(vec!["a".into(), "b".into(), "a".into()]), ..entry("Tabs") };
    let made = world.remember(params).await.unwrap().entry;
    assert_eq!((made.revision, made.pinned, made.enabled), (1, false, true));
    assert_eq!(made.tags, ["a", "b"], "each once");
    let again = world.restarted().await;
    assert_eq!(again.catalogue.read_memory(&made.entry_id).unwrap(), made);

    let pinned = again.change_entry(MemoryUpdateParams { pinned: Some(true), ..keeping(&made) }).await.unwrap().entry;
    let same = MemoryEntry { pinned: true, revision: 2, ..made.clone() };
    assert_eq!(pinned, same, "what is not named stays");
    let delete = |revision| MemoryDeleteParams {
        entry_id: made.entry_id.clone(),
        operation_id: None,
        expected_revision: Some(revision),
    };
    assert_eq!(conflict(again.catalogue.delete_memory(client(), delete(1)).await).0, Some(2));
    let removed = again.catalogue.delete_memory(client(), delete(2)).await.unwrap();
    assert_eq!((removed.applied, removed.effect.as_str()), (true, "Forgets \"Tabs\" (of the user)."));
    let id = made.entry_id.to_string();
    assert_eq!(missing(again.catalogue.read_memory(&made.entry_id)), at("entry", &id));
    assert!(again.restarted().await.catalogue.snapshot().memory.is_empty());
}

#[tokio::test]
async fn b2_texts_and_tags_of_an_entry_are_refused_beyond_their_limits() {
    let world = World::new().await;
    let tags = |tags: Vec<String>| MemoryCreateParams { tags: Some(tags), ..entry("t") };
    let numbered = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
    for (params, expected) in [
        (entry(" "), at("/title", "empty")),
        (entry("a\nb"), at("/title", "control_character")),
        (entry(&"ä".repeat(121)), at("/title", "too_long")),
        (MemoryCreateParams { body: "ä".repeat(4_001), ..entry("t") }, at("/body", "too_long")),
        (tags(numbered(9)), at("/tags", "too_many")),
        (tags(vec!["x".repeat(65)]), at("/tags", "too_long")),
        (tags(vec![String::new()]), at("/tags", "empty")),
    ] {
        assert_eq!(invalid(world.remember(params).await), expected);
    }
    let full = MemoryCreateParams { body: "ä".repeat(4_000), ..tags(numbered(8)) };
    let full = MemoryCreateParams { title: "ä".repeat(120), ..full };
    let made = world.remember(full).await.unwrap().entry;
    let longer = MemoryUpdateParams { body: Some("ä".repeat(4_001)), ..keeping(&made) };
    assert_eq!(invalid(world.change_entry(longer).await), at("/body", "too_long"));
    assert_eq!(world.catalogue.read_memory(&made.entry_id).unwrap(), made, "a refused change changes nothing");
}

#[tokio::test]
async fn an_entry_belongs_to_the_user_or_to_a_project_there_is() {
    let world = World::new().await;
    let project = world.project("p").await.project_id;
    let nobodys = MemoryCreateParams { scope: MemoryScope::Project, ..entry("t") };
    assert_eq!(invalid(world.remember(nobodys).await), at("/projectId", "required"));
    let both = MemoryCreateParams { project_id: Some(project.clone()), ..entry("t") };
    assert_eq!(invalid(world.remember(both).await), at("/projectId", "not_with_scope_user"));
    assert_eq!(missing(world.remember(of_project(&"p-9".into(), "t")).await), at("project", "p-9"));
    let made = world.remember(of_project(&project, "t")).await.unwrap().entry;
    assert_eq!((made.scope, made.project_id), (MemoryScope::Project, Some(project)));
}

#[tokio::test]
async fn b2_a_scope_has_300_entries_and_each_project_is_a_scope_of_its_own() {
    let world = World::new().await;
    let project = world.project("p").await.project_id;
    for number in 0..300 {
        world.remember(entry(&number.to_string())).await.unwrap();
    }
    match detail(world.remember(entry("one more")).await) {
        ErrorDetail::Overloaded { limit, what } => assert_eq!((limit, what.as_str()), (300, "memory entries")),
        other => panic!("{other:?}"),
    }
    world.remember(of_project(&project, "there is room here")).await.unwrap();
    let oldest = world.catalogue.snapshot().memory.values().next().unwrap().entry_id.clone();
    let delete = MemoryDeleteParams { entry_id: oldest, operation_id: None, expected_revision: None };
    world.catalogue.delete_memory(client(), delete).await.unwrap();
    world.remember(entry("one more")).await.unwrap();
}

#[tokio::test]
async fn whoever_writes_what_an_entry_says_is_its_author_and_whoever_pins_it_is_not() {
    let world = World::new().await;
    let run = || MemoryWriter::Run("th-1".into());
    let made = world.catalogue.create_memory(client(), run(), entry("t")).await.unwrap().entry;
    let of_run = (MemoryAuthor::Model, Some("th-1".into()));
    assert_eq!((made.author, made.thread_id.clone()), of_run);
    let pinned = world.change_entry(MemoryUpdateParams { pinned: Some(true), ..keeping(&made) }).await.unwrap().entry;
    assert_eq!((pinned.author, pinned.thread_id), of_run);
    let reworded = MemoryUpdateParams { body: Some("Mine.".into()), ..keeping(&made) };
    let reworded = world.change_entry(reworded).await.unwrap().entry;
    assert_eq!((reworded.author, reworded.thread_id), (MemoryAuthor::User, None));
    let again = MemoryUpdateParams { title: Some("T".into()), ..keeping(&made) };
    let again = world.catalogue.update_memory(client(), run(), again).await.unwrap().entry;
    assert_eq!((again.author, again.thread_id), of_run);
}

#[tokio::test]
async fn a_change_based_on_an_old_revision_is_a_conflict_with_the_entry_as_it_is() {
    let world = World::new().await;
    let made = world.remember(entry("t")).await.unwrap().entry;
    let based_on = |revision, title: &str| MemoryUpdateParams {
        title: Some(title.to_owned()),
        expected_revision: Some(revision),
        ..keeping(&made)
    };
    world.change_entry(based_on(1, "u")).await.unwrap();
    let (revision, current) = conflict(world.change_entry(based_on(1, "v")).await);
    assert_eq!(revision, Some(2));
    assert_eq!(current.unwrap()["title"], "u");
    // The same again changes nothing, so nothing is written.
    let records = world.store.records.lock().unwrap().len();
    assert_eq!(world.change_entry(based_on(2, "u")).await.unwrap().entry.revision, 2);
    assert_eq!(world.store.records.lock().unwrap().len(), records);
}

#[tokio::test]
async fn b2_a_list_is_of_a_scope_and_a_project_with_a_tag_and_all_words_wherever_they_stand() {
    let world = World::new().await;
    let project = world.project("p").await.project_id;
    let of_user = MemoryCreateParams { tags: Some(vec!["Style".into()]), ..entry("Tabs, not spaces") };
    world.remember(of_user).await.unwrap();
    world.remember(MemoryCreateParams { body: "In GERMANY.".into(), ..of_project(&project, "Office") }).await.unwrap();
    let snapshot = world.catalogue.snapshot();
    let listed = |params: MemoryListParams| {
        check_memory_list(&snapshot, &params).unwrap();
        let meant = snapshot.memory.values().filter(|entry| is_remembered(entry, &params));
        // Ids of one moment have no order.
        meant.filter_map(|entry| entry.title.chars().next()).collect::<BTreeSet<char>>().into_iter().collect::<String>()
    };
    let all = MemoryListParams::default;
    let about = |query: &str| MemoryListParams { query: Some(query.to_owned()), ..all() };
    assert_eq!(listed(all()), "OT");
    assert_eq!(listed(MemoryListParams { scope: Some(MemoryScope::Project), ..all() }), "O");
    assert_eq!(listed(MemoryListParams { project_id: Some(project.clone()), ..all() }), "O");
    assert_eq!(listed(MemoryListParams { tag: Some("Style".into()), ..all() }), "T");
    assert_eq!(listed(about("spaces STYLE tabs body")), "T", "title, tag and text");
    assert_eq!(listed(about("germany office")), "O");
    assert_eq!(listed(about("germany tabs")), "", "all words, not any of them");
    assert_eq!(listed(about("  ")), "OT");
    let both = MemoryListParams { scope: Some(MemoryScope::User), project_id: Some(project), ..all() };
    assert_eq!(invalid(check_memory_list(&snapshot, &both)), at("/projectId", "not_with_scope_user"));
    let long = about(&"x".repeat(1_001));
    assert_eq!(invalid(check_memory_list(&snapshot, &long)), at("/query", "too_long"));
}

#[tokio::test]
async fn b2_a_project_takes_its_memory_and_its_instructions_with_it_and_nobody_elses() {
    let world = World::new().await;
    let (gone, stays) = (world.project("p").await.project_id, world.project("q").await.project_id);
    world.remember(of_project(&gone, "goes")).await.unwrap();
    world.remember(of_project(&stays, "stays")).await.unwrap();
    world.remember(entry("the user's")).await.unwrap();
    super::instructions::replaced(&world, &gone, "Be kind.", 1).await.unwrap();
    assert_eq!(world.catalogue.doomed_project(&gone, None).unwrap().memory, 1);
    let burial = Burial { project: Some((gone.clone(), None)), effect: "gone".to_owned(), ..Burial::default() };
    world.catalogue.bury(client(), burial).await.unwrap();
    for snapshot in [world.catalogue.snapshot(), world.restarted().await.catalogue.snapshot()] {
        let titles: BTreeSet<_> = snapshot.memory.values().map(|entry| entry.title.as_str()).collect();
        assert_eq!(titles, BTreeSet::from(["stays", "the user's"]));
        assert!(!snapshot.instructions.contains_key(&gone));
    }
}

#[tokio::test]
async fn a_change_of_memory_is_told_to_those_who_show_it() {
    let world = World::new().await;
    let mut changes = world.catalogue.changes();
    let made = world.remember(entry("t")).await.unwrap().entry;
    let changed = changes.recv().await.unwrap();
    assert_eq!(changed.kinds, [ropewalk_protocol::DataKind::Memory]);
    assert_eq!(changed.ids, [made.entry_id.to_string()]);
    assert_eq!(changed.origin, Some("in-A".into()));
}
