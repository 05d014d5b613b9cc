//! `ropewalk search` against a daemon: what it prints for people and for programs.

use super::commands::Bench;
use crate::cli::Exit;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_77_a_search_shows_where_something_was_said_and_in_what_words() {
    let bench = Bench::new().await;
    bench.run(&["run", "say a Rope and a rope"]).await;
    bench.run(&["run", "say nothing of the kind"]).await;
    let done = bench.run(&["search", "a rope"]).await;
    assert_eq!((done.exit, &*done.stderr), (Exit::DONE, ""));
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", done.stdout);
    let thread = lines[0].split_whitespace().next().unwrap();
    assert_eq!(lines[0], format!("{thread}  just now  say a Rope and a rope (user, 2 times)"));
    assert_eq!((lines[1], lines[3]), ("  say a Rope and a rope", "  a Rope and a rope"));
    assert!(lines[2].ends_with("(assistant, 2 times)"), "{}", done.stdout);

    let cased = bench.run(&["search", "a rope", "--case-sensitive", "--role", "assistant", "--thread", thread]).await;
    assert!(cased.stdout.contains("(assistant)\n") && cased.stdout.lines().count() == 2, "{}", cased.stdout);
    assert_eq!(bench.run(&["search", "a.rope"]).await.stdout, "No message has it.\n");
    assert_eq!(bench.run(&["search", "a.rope", "--regex"]).await.stdout, done.stdout);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_for_programs_is_the_page_and_goes_on_with_its_cursor() {
    let bench = Bench::new().await;
    bench.run(&["run", "say rope"]).await;
    let page = bench.run(&["search", "rope", "--limit", "1", "--json"]).await.json().remove(0);
    assert_eq!((&page["items"][0]["role"], &page["truncated"]), (&"user".into(), &true.into()));
    let cursor = page["nextCursor"].as_str().unwrap();
    let told = bench.run(&["search", "rope", "--limit", "1"]).await;
    assert!(told.stdout.ends_with(&format!("There may be more: --cursor {cursor}\n")), "{}", told.stdout);
    let rest = bench.run(&["search", "rope", "--cursor", cursor, "--json"]).await.json().remove(0);
    assert_eq!((&rest["items"][0]["role"], rest["items"].as_array().unwrap().len()), (&"assistant".into(), 1));
    assert!(rest.get("nextCursor").is_none());
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_66_what_cannot_be_looked_for_is_said_in_words() {
    let bench = Bench::new().await;
    let refused = bench.run(&["search", r"(a)\1", "--regex"]).await;
    assert_eq!((refused.exit, &*refused.stdout), (Exit::FAILED, ""));
    assert!(refused.stderr.contains("linear time"), "{}", refused.stderr);
    let unknown = bench.run(&["search", "x", "--thread", "nope"]).await;
    assert_eq!(unknown.exit, Exit::FAILED);
    assert!(unknown.stderr.contains("nope"), "{}", unknown.stderr);
    bench.end().await;
}
