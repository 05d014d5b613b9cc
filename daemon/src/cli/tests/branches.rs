//! Branches of a real daemon, made by the SDK and shown by the command line.

use ropewalk::{
    Error, Ropewalk,
    protocol::{ErrorDetail, Unattended},
};

use super::commands::Bench;
use crate::cli::Exit;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branches_are_made_by_the_sdk_and_shown_by_the_command_line() {
    let bench = Bench::new().await;
    let client = Ropewalk::connect().home(bench.directory()).await.unwrap();
    let thread = client.threads().start().await.unwrap();
    let first = thread.run("say hello").await.unwrap();
    let fork = thread.run("say what if").fork(first.message_id.clone()).title("What if").submit().await.unwrap();
    let branch = fork.branch_id().clone();
    assert_eq!(fork.result().await.unwrap().text(), "what if");
    let replaced = thread.run("say hello again").replace(first.message_id.clone()).await.unwrap();
    assert_eq!(replaced.text(), "hello again");
    let gone = thread.run("say hello again").replace(first.message_id).await.unwrap_err();
    let Error::Rpc(gone) = gone else { panic!("{gone}") };
    assert!(matches!(gone.data.detail, ErrorDetail::Conflict { current: Some(_), .. }), "{gone:?}");

    let id = thread.id().as_str();
    let shown = bench.run(&["branches", id]).await;
    let lines: Vec<_> = shown.stdout.lines().collect();
    assert_eq!((shown.exit, lines.len()), (Exit::DONE, 2), "{shown:?}");
    let line = |of: &str| lines.iter().find(|line| line.starts_with(of)).unwrap_or_else(|| panic!("{of} is listed"));
    assert!(line(id).ends_with("idle  (original)") && line(branch.as_str()).ends_with("idle  What if"), "{lines:?}");
    let shown = bench.run(&["threads", "show", id, "--branch", branch.as_str()]).await;
    assert!(shown.stdout.ends_with("user\nsay hello\n\nuser\nsay what if\n\nassistant\nwhat if\n"), "{}", shown.stdout);

    let waiting = r#"call ask_user {"questions":[{"id":"q","text":"Which one?"}]}"#;
    let elsewhere = thread.run(waiting).branch(branch.clone()).unattended(Unattended::Wait).submit().await.unwrap();
    let run = elsewhere.id().to_string();
    let shown = bench.run(&["branches", id]).await;
    assert!(shown.stdout.contains(&format!("running ({run})")), "{}", shown.stdout);
    let nothing = bench.run(&["stop", id]).await;
    let named = format!("`ropewalk stop {id} --run {run}`");
    assert!(nothing.stdout.starts_with("Nothing runs there.\n") && nothing.stdout.contains(&named), "{nothing:?}");
    let stopped = bench.run(&["stop", id, "--run", &run]).await;
    assert!(stopped.stdout.starts_with(&format!("Stopped the run {run}, which was ")), "{stopped:?}");
    let nobody = bench.run(&["stop", id, "--run", &run]).await;
    assert!(nobody.stdout.starts_with("Nothing runs there.\n"), "{nobody:?}");

    let branches = thread.branches();
    assert_eq!(branches.rename(branch.clone(), Some("Named")).await.unwrap().title.as_deref(), Some("Named"));
    assert!(!branches.rehearse_delete(branch.clone()).await.unwrap().applied);
    assert_eq!(branches.list().await.unwrap().len(), 2);
    assert_eq!(branches.delete(branch).await.unwrap().effect, "Removes the branch \"Named\".");
    assert_eq!(branches.list().await.unwrap().len(), 1);
    let original = branches.delete(id).await.unwrap_err();
    assert!(original.to_string().contains("goes with its thread"), "{original}");
    client.close().await;
    bench.end().await;
}
