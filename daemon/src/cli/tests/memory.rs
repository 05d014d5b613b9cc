//! `ropewalk memory` against a daemon: what is remembered, listed, changed and forgotten.

use super::commands::Bench;
use crate::cli::Exit;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_is_added_listed_shown_edited_and_removed() {
    let bench = Bench::new().await;
    let nothing = bench.run(&["memory"]).await;
    assert_eq!((nothing.exit, nothing.stdout.as_str()), (Exit::DONE, "Nothing is remembered.\n"));
    let added =
        bench.run(&["memory", "add", "Build", "just ci", "--project", "Default", "--tag", "build", "--json"]).await;
    let entry = added.json()[0]["entry"].clone();
    let id = entry["entryId"].as_str().unwrap();
    assert_eq!(
        (&entry["scope"], &entry["kind"], &entry["author"]),
        (&"project".into(), &"fact".into(), &"user".into())
    );

    let listed = bench.run(&["memory", "list", "--query", "CI build"]).await;
    assert!(listed.stdout.contains("  Default  fact  just now  Build  #build"), "{}", listed.stdout);
    assert_eq!(bench.run(&["memory", "list", "--scope", "user"]).await.stdout, "Nothing is remembered.\n");

    let edited = bench.run(&["memory", "edit", id, "--text", "just check", "--pin", "--revision", "1"]).await;
    assert!(edited.stdout.starts_with(&format!("\"Build\" is changed ({id}).")), "{}", edited.stdout);
    let stale = bench.run(&["memory", "edit", id, "--no-tags", "--revision", "1"]).await;
    assert!(stale.exit == Exit::FAILED && stale.stderr.contains("its revision is 2 now"), "{}", stale.stderr);
    let shown = bench.run(&["memory", "show", id]).await;
    assert!(
        shown.stdout.contains("written by the user, revision 2.\npinned #build\n\njust check\n"),
        "{}",
        shown.stdout
    );

    let removed = bench.run(&["memory", "remove", id]).await;
    assert_eq!(removed.stdout, "Forgets \"Build\" (of project Default).\n");
    let gone = bench.run(&["memory", "show", id]).await;
    assert_eq!(gone.exit, Exit::FAILED);
    bench.end().await;
}
