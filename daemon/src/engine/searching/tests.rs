//! Searching what was really said: chains and what left them, branches, tools, payloads out of line, crashes.

use std::time::Duration;

use ropewalk_protocol::{
    BranchId, MessageId, Part, Role, RpcError, SearchHit, ThreadId, ThreadSearchParams, Unattended,
    limits::FRAGMENT_CHARACTERS,
};

use super::{
    SearchPage,
    archive::{ELSEWHERE, MOVED},
};
use crate::{
    domain::Submission,
    engine::{
        ForkRequest, ReplaceRequest, ThreadHandle,
        tests::{
            client::Person,
            life::{Life, begin, plain, soon, submit},
        },
    },
    store::OUT_OF_LINE,
};

fn wanted(query: &str) -> ThreadSearchParams {
    ThreadSearchParams { query: query.to_owned(), ..ThreadSearchParams::default() }
}

async fn search(life: &Life, params: ThreadSearchParams) -> SearchPage {
    soon(life.daemon.engine.search(params)).await.unwrap()
}

async fn hits(life: &Life, params: ThreadSearchParams) -> Vec<SearchHit> {
    search(life, params).await.hits.into_iter().map(|(_, hit)| hit).collect()
}

async fn fragments(life: &Life, params: ThreadSearchParams) -> Vec<String> {
    hits(life, params).await.into_iter().map(|hit| hit.fragment).collect()
}

async fn refused(life: &Life, params: ThreadSearchParams) -> RpcError {
    soon(life.daemon.engine.search(params)).await.unwrap_err()
}

async fn turn(life: &mut Life, thread: &ThreadHandle, text: &str, answer: &str) -> MessageId {
    let submitted = submit(thread, text).await;
    life.asked().await.ends(answer);
    life.ended(thread, &submitted.run_id.unwrap()).await;
    submitted.message_id
}

fn submission(branch: &BranchId, text: &str) -> Submission {
    Submission {
        branch_id: branch.clone(),
        input: vec![Part::text(text)],
        operation_id: None,
        asked_endpoint: None,
        unattended: Unattended::Decline,
        output_schema: None,
    }
}

fn original(thread: &ThreadHandle) -> BranchId {
    BranchId::from(thread.id().clone())
}

#[tokio::test]
async fn app_69_a_hit_says_where_it_is_and_is_the_message_of_its_chain() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    turn(&mut life, &thread, "Where is the rope?", "A rope is at the rope walk, ROPE.").await;
    let found = hits(&life, wanted("rope")).await;
    let (page, _) = soon(thread.messages(original(&thread), None, 10)).await.unwrap();
    assert_eq!(found.len(), 2);
    for (hit, message) in found.iter().zip(page.items.iter().rev()) {
        assert_eq!((&hit.message_id, hit.role, hit.at), (&message.message_id, message.role, message.at));
        assert_eq!((&hit.thread_id, &hit.branch_id), (&message.thread_id, &message.branch_id));
    }
    let project = life.daemon.catalogue.snapshot().default_project().clone();
    assert_eq!((&found[0].project_id, &found[0].project_name), (&project.project_id, &project.name));
    assert_eq!(found[0].thread_title.as_deref(), Some("Where is the rope?"));
    assert_eq!((found[0].match_count, found[1].match_count), (1, 3));
}

#[tokio::test]
async fn app_60_app_61_a_search_is_as_wide_as_its_scope() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let first = life.start(&person, Vec::new()).await;
    let one = turn(&mut life, &first, "a rope of the first", "Yes.").await;
    let second = life.start(&person, Vec::new()).await;
    turn(&mut life, &second, "a rope of the second", "Yes.").await;
    let fork = ForkRequest {
        submission: submission(&original(&first), "a rope of the fork"),
        message_id: Some(one),
        title: None,
        operation: None,
    };
    let forked = soon(first.fork(fork)).await.unwrap();
    life.asked().await.ends("Yes.");
    life.ended(&first, &forked.run_id.unwrap()).await;
    turn(&mut life, &first, "a rope behind the fork", "Yes.").await;

    let here = ["a rope of the first", "a rope of the fork", "a rope behind the fork"];
    let mut all = here.to_vec();
    // The order of threads is that of their ids.
    all.insert(if first.id() < second.id() { here.len() } else { 0 }, "a rope of the second");
    assert_eq!(fragments(&life, wanted("a rope")).await, all);
    let project_id = Some(life.daemon.catalogue.snapshot().default_project().project_id.clone());
    assert_eq!(fragments(&life, ThreadSearchParams { project_id, ..wanted("a rope") }).await, all);
    let thread = || ThreadSearchParams { thread_id: Some(first.id().clone()), ..wanted("a rope") };
    assert_eq!(fragments(&life, thread()).await, here);
    let branch = |id: &BranchId| ThreadSearchParams { branch_id: Some(id.clone()), ..thread() };
    assert_eq!(fragments(&life, branch(&forked.branch_id)).await, here[..2]);
    assert_eq!(fragments(&life, branch(&original(&first))).await, [here[0], here[2]]);
}

#[tokio::test]
async fn what_left_its_chain_is_not_found() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    turn(&mut life, &thread, "rope one", "rope answered one").await;
    let two = turn(&mut life, &thread, "rope two", "rope answered two").await;
    let replace =
        ReplaceRequest { submission: submission(&original(&thread), "rope anew"), message_id: two, operation: None };
    let replaced = soon(thread.replace(replace)).await.unwrap();
    life.asked().await.ends("rope answered anew");
    life.ended(&thread, &replaced.run_id.unwrap()).await;
    let expected = ["rope one", "rope answered one", "rope anew", "rope answered anew"];
    assert_eq!(fragments(&life, wanted("rope")).await, expected);
    let life = life.crash(Duration::from_secs(1)).await;
    assert_eq!(fragments(&life, wanted("rope")).await, expected);
}

#[tokio::test]
async fn app_67_app_68_what_a_tool_said_is_found_when_tools_are_asked_for() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["walk"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("walk", "{}")]);
    let call = person.offered("tool/call").await;
    person.returns(&call, "a rope of tools").await;
    life.asked().await.ends("done");
    life.ended(&thread, &run).await;
    assert!(hits(&life, wanted("rope")).await.is_empty());
    let found = hits(&life, ThreadSearchParams { roles: Some(vec![Role::Tool]), ..wanted("rope") }).await;
    assert_eq!((found[0].fragment.as_str(), found[0].role, found.len()), ("a rope of tools", Role::Tool, 1));
}

#[tokio::test]
async fn app_70_a_text_that_is_out_of_line_is_searched_and_shown_in_part() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let text = format!("{} the \"rope\"\n{}", "x".repeat(100_000), "y".repeat(100_000));
    turn(&mut life, &thread, &text, "Yes.").await;
    for query in ["the \"rope\"\ny", "THE \"ROPE\""] {
        let found = hits(&life, wanted(query)).await;
        assert_eq!(found.len(), 1, "{query}");
        assert!(found[0].fragment.contains("the \"rope\"\n"));
        assert!(found[0].fragment.chars().count() as u64 <= FRAGMENT_CHARACTERS);
    }
}

#[tokio::test]
async fn app_62_app_63_app_64_a_search_has_the_dialect_of_grep_files() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    turn(&mut life, &thread, "axb", "a.b A.B \"quoted\\\"").await;
    let literal = |query: &str, ignore_case| ThreadSearchParams { ignore_case: Some(ignore_case), ..wanted(query) };
    let counts = async |params| hits(&life, params).await.iter().map(|hit| hit.match_count).collect::<Vec<_>>();
    assert_eq!(counts(literal("a.b", true)).await, [2]);
    assert_eq!(counts(literal("a.b", false)).await, [1]);
    assert_eq!(counts(literal("\"quoted\\\"", false)).await, [1]);
    assert_eq!(counts(ThreadSearchParams { is_regex: Some(true), ..wanted("a.b") }).await, [1, 2]);
    for pattern in [r"(a)\1", "(?=a)"] {
        let error = refused(&life, ThreadSearchParams { is_regex: Some(true), ..wanted(pattern) }).await;
        assert!(error.message.contains("linear time"), "{}", error.message);
    }
    // Words of the log that no message has.
    assert!(hits(&life, wanted("itemCompleted")).await.is_empty());
}

#[tokio::test]
async fn app_75_app_76_pages_go_on_where_they_were_while_threads_are_used() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let (first, second) = (life.start(&person, Vec::new()).await, life.start(&person, Vec::new()).await);
    for number in 0..3 {
        turn(&mut life, &first, &format!("rope {number}"), "rope").await;
        turn(&mut life, &second, &format!("rope {number} there"), "rope there").await;
    }
    let whole = fragments(&life, wanted("rope")).await;
    assert_eq!(whole.len(), 12);
    let (mut found, mut cursor) = (Vec::new(), None);
    for page in 0.. {
        let part = search(&life, ThreadSearchParams { cursor, limit: Some(5), ..wanted("rope") }).await;
        found.extend(part.hits.into_iter().map(|(_, hit)| hit.fragment));
        if page == 0 {
            // The first thread becomes the one that was used last, and more than the page has seen stands in it.
            turn(&mut life, &first, "rope, later", "Yes.").await;
        }
        assert!(page < 10);
        cursor = part.next;
        if cursor.is_none() {
            break;
        }
    }
    let later = found.iter().position(|fragment| fragment == "rope, later").unwrap();
    found.remove(later);
    let at = if first.id() < second.id() { 6 } else { whole.len() };
    assert_eq!((found, later), (whole, at));
}

#[tokio::test]
async fn app_75_a_cursor_is_good_for_its_own_search_alone() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    turn(&mut life, &thread, "rope", "rope").await;
    let page = search(&life, ThreadSearchParams { limit: Some(1), ..wanted("rope") }).await;
    let cursor = page.next.clone();
    assert!(cursor.is_some() && page.hits[0].0 == cursor.clone().unwrap());
    let with = |params: ThreadSearchParams| ThreadSearchParams { cursor: cursor.clone(), ..params };
    for other in [
        wanted("ropes"),
        ThreadSearchParams { is_regex: Some(true), ..wanted("rope") },
        ThreadSearchParams { ignore_case: Some(false), ..wanted("rope") },
        ThreadSearchParams { roles: Some(vec![Role::Tool]), ..wanted("rope") },
        ThreadSearchParams { thread_id: Some(thread.id().clone()), ..wanted("rope") },
    ] {
        assert!(refused(&life, with(other)).await.message.contains("another list"));
    }
    let same = ThreadSearchParams { roles: Some(vec![Role::Assistant, Role::User]), ..wanted("rope") };
    assert_eq!(hits(&life, with(same)).await.len(), 1, "what is said otherwise and means the same is the same");
    let malformed = ThreadSearchParams { cursor: Some("2".to_owned()), ..wanted("rope") };
    assert!(refused(&life, malformed).await.message.contains("no cursor of ours"));
}

#[tokio::test]
async fn what_a_search_cannot_be_about_is_named() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let thread_id = || Some(thread.id().clone());
    for (params, said) in [
        (wanted(""), "pattern is empty"),
        (ThreadSearchParams { roles: Some(Vec::new()), ..wanted("x") }, "No role"),
        (ThreadSearchParams { limit: Some(0), ..wanted("x") }, "at least 1"),
        (ThreadSearchParams { project_id: Some("p9".into()), ..wanted("x") }, "p9"),
        (ThreadSearchParams { thread_id: Some("t9".into()), ..wanted("x") }, "t9"),
        (ThreadSearchParams { branch_id: Some("b9".into()), ..wanted("x") }, "threadId"),
        (ThreadSearchParams { branch_id: Some("b9".into()), thread_id: thread_id(), ..wanted("x") }, "b9"),
    ] {
        let error = refused(&life, params).await;
        assert!(error.message.contains(said), "{}", error.message);
    }
}

#[tokio::test]
async fn a_thread_that_was_deleted_and_one_that_is_archived() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    turn(&mut life, &thread, "rope", "Yes.").await;
    let keys: Vec<_> =
        crate::engine::lookup::scan(life.daemon.engine.shared(), crate::store::keys::threads_by_project())
            .unwrap()
            .into_iter()
            .map(|(key, _)| key)
            .collect();
    let project = life.daemon.catalogue.snapshot().default_project().project_id.clone();
    assert_eq!(keys, [crate::store::keys::in_project(&project, thread.id())]);
    assert_eq!(crate::store::keys::parts_of_in_project(&keys[0]), Some((project.as_str(), thread.id().as_str())));
    let id: ThreadId = thread.id().clone();
    let changes = crate::engine::removal::rows_of_thread(&*life.daemon.engine.shared().store, &id).unwrap();
    assert!(changes.contains(&crate::store::RowChange::Delete(keys[0].clone())), "it goes with its thread");
}

#[test]
fn what_is_looked_for_in_logs_is_what_they_have() {
    assert!(MOVED.is_match(br#"{"n":1,"facts":[{"fact":"head","branchId":"b"}]}"#));
    assert!(MOVED.is_match(br#"{"n":1,"facts":[{"fact":"forked","branchId":"b"}]}"#));
    assert!(!MOVED.is_match(br#"{"n":1,"facts":[{"fact":"joined","branchId":"b"}]}"#));
    assert!(ELSEWHERE.is_match(OUT_OF_LINE));
}
