//! The commands around runs that wait, are paused or have ended badly, and the whole history of a thread.

use std::time::Duration;

use serde_json::Value;

use super::commands::{Bench, Done};
use crate::cli::Exit;

/// The thread that was active last.
async fn newest(bench: &Bench) -> String {
    bench.run(&["threads"]).await.stdout.split_whitespace().next().unwrap().to_owned()
}

/// What waits, once something does.
async fn pending(bench: &Bench) -> Value {
    loop {
        let listed = bench.run(&["pending", "--json"]).await.json().remove(0);
        if listed["items"].as_array().is_some_and(|items| !items.is_empty()) {
            return listed["items"][0].clone();
        }
        tokio::task::yield_now().await;
    }
}

async fn soon<T>(waited: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), waited).await.expect("it happens soon")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k18_what_waits_is_listed_and_answered_from_another_terminal() {
    let bench = Bench::new().await;
    assert_eq!(bench.run(&["pending"]).await.stdout, "Nothing waits for anybody.\n");
    let question = r#"call ask_user {"questions":[{"id":"q","text":"Where to?","options":[{"label":"staging"},{"label":"production"}]},{"id":"w","text":"When?"}]}"#;
    let arguments = ["run", "--title", "Release", "--unattended", "wait", question];
    let running = bench.run(&arguments);
    let answering = async {
        let id = pending(&bench).await["interactionId"].as_str().unwrap().to_owned();
        let listed = bench.run(&["pending"]).await.stdout;
        assert!(listed.starts_with("1. question: Where to? (and 1 more)\n   opened just now, until "), "{listed}");
        assert!(listed.contains("(Release)\n") && listed.ends_with(&format!("   ropewalk answer {id}\n")), "{listed}");
        let threads = bench.run(&["threads"]).await.stdout;
        assert!(threads.ends_with("Release  waiting (input)\n"), "{threads}");
        let wrong = bench.run(&["answer", &id, "1,2", ""]).await;
        assert_eq!(
            (wrong.exit, wrong.stderr.contains("[a] or 1 staging, [b] or 2 production")),
            (Exit::USAGE, true),
            "{}",
            wrong.stderr
        );
        let nothing = bench.run(&["answer", &id]).await;
        assert_eq!((nothing.exit, nothing.stderr.contains("no terminal to ask at")), (Exit::USAGE, true));
        let answered = bench.run(&["answer", &id, "2", "after 18:00"]).await;
        let taken = "Answered: question: Where to? (and 1 more)\n  Where to? = production\n  When? = in your words: after 18:00\n";
        assert_eq!((answered.exit, &*answered.stdout), (Exit::DONE, taken));
        id
    };
    let (done, id) = soon(async { tokio::join!(running, answering) }).await;
    assert_eq!(done.exit, Exit::DONE, "{}", done.stderr);
    assert!(done.stdout.contains("production") && done.stdout.contains("after 18:00"), "{}", done.stdout);
    let late = bench.run(&["answer", &id, "1"]).await;
    assert_eq!((late.exit, late.stderr.contains("ropewalk settled this")), (Exit::FAILED, true), "{}", late.stderr);
    let nobody = bench.run(&["answer", "int-9", "accept", "--json"]).await;
    let error: Value = serde_json::from_str(&nobody.stderr).unwrap();
    assert_eq!(error["error"]["data"]["kind"], "notFound");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_failed_is_resumed_or_retried_by_its_thread() {
    let bench = Bench::new().await;
    let failed = bench.run(&["run", "say so far\nfail badRequest\nthen say done"]).await;
    assert_eq!(failed.exit, Exit::FAILED);
    let thread = newest(&bench).await;
    let retried = bench.run(&["retry", &thread]).await;
    assert_eq!((retried.exit, &*retried.stdout), (Exit::FAILED, ""), "the same input ends the same way");
    assert!(retried.stderr.starts_with("so far\n"), "{}", retried.stderr);
    let resumed = bench.run(&["resume", &thread]).await;
    assert_eq!((resumed.exit, &*resumed.stdout), (Exit::DONE, "done\n"), "{}", resumed.stderr);
    let refused: Vec<Done> = vec![bench.run(&["retry", &thread]).await, bench.run(&["rebase", &thread]).await];
    for refused in refused {
        assert_eq!(refused.exit, Exit::FAILED);
        assert!(refused.stderr.contains("Nothing has ended badly on this branch"), "{}", refused.stderr);
    }
    let again = bench.run(&["run", "--thread", &thread, "fail badRequest"]).await;
    assert_eq!(again.exit, Exit::FAILED);
    let rebased = bench.run(&["rebase", &thread, "--json"]).await;
    let error: Value = serde_json::from_str(&rebased.stderr).unwrap();
    assert_eq!(error["error"]["data"]["expected"], serde_json::json!(["parentMissing"]));
    let retried = bench.run(&["retry", &thread, "--json"]).await.json();
    let run = &retried.last().unwrap()["run"];
    assert_eq!((&run["state"], run["previousRunId"].is_string()), (&Value::from("failed"), true), "{run}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paused_runs_are_seen_in_the_list_and_by_the_doctor() {
    let bench = Bench::new().await;
    bench.run(&["settings", "set", "--run-max-tokens", "1"]).await;
    assert_eq!(bench.run(&["run", "--title", "Long", "call nothing\nthen say done"]).await.exit, Exit::PAUSED);
    let listed = bench.run(&["threads"]).await.stdout;
    assert!(listed.ends_with("Long  paused (budget)\n"), "{listed}");
    let doctor = bench.run(&["doctor"]).await;
    assert_eq!(doctor.exit, Exit::DONE, "it is no problem of the daemon's");
    assert!(
        doctor.stdout.contains("1 run is paused\n") && doctor.stdout.contains("resume THREAD"),
        "{}",
        doctor.stdout
    );
    let thread = newest(&bench).await;
    assert_eq!(bench.run(&["resume", &thread]).await.exit, Exit::DONE);
    assert!(bench.run(&["threads"]).await.stdout.ends_with("Long\n"));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_exported_whole_as_markdown_and_as_json() {
    let bench = Bench::new().await;
    bench.run(&["run", "--title", "Greetings", "say hello"]).await;
    let thread = newest(&bench).await;
    bench.run(&["run", "--thread", &thread, "call nonsense {}\nfail badRequest"]).await;
    bench.run(&["run", "--thread", &thread, "say on"]).await;
    let markdown = bench.run(&["export", &thread]).await;
    assert_eq!(markdown.exit, Exit::DONE, "{}", markdown.stderr);
    assert!(markdown.stdout.starts_with(&format!("# Greetings\n\nThread {thread}, started ")), "{}", markdown.stdout);
    let headings: Vec<_> = markdown.stdout.lines().filter(|line| line.starts_with("##")).collect();
    let kinds: Vec<_> = headings.iter().map(|line| line.split(" · ").next().unwrap()).collect();
    assert_eq!(kinds[..3], ["## User", "## Assistant", "## User"], "{}", markdown.stdout);
    assert_eq!(markdown.stdout.matches("\n✗ failed (badRequest): ").count(), 1, "{}", markdown.stdout);
    let json = bench.run(&["export", &thread, "--format", "json"]).await;
    let whole: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(whole["thread"]["title"], "Greetings");
    let states = whole["runs"].as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap());
    assert_eq!((states.clone().count(), states.filter(|state| *state == "failed").count()), (3, 1), "{}", json.stdout);
    let items = whole["items"].as_array().unwrap();
    assert_eq!((&items[0]["kind"], &items[0]["seq"]), (&Value::from("userMessage"), &Value::from(4)));
    assert!(items.iter().zip(&items[1..]).all(|(one, next)| one["seq"].as_u64() < next["seq"].as_u64()));

    let file = bench.home.path().join("thread.json");
    let file = file.to_str().unwrap();
    let written = bench.run(&["export", &thread, "--json", "--output", file]).await;
    assert_eq!((written.exit, &*written.stdout), (Exit::DONE, ""), "{}", written.stderr);
    assert_eq!(serde_json::from_str::<Value>(&std::fs::read_to_string(file).unwrap()).unwrap(), whole);
    let again = bench.run(&["export", &thread, "--output", file]).await;
    let refused = format!("{file} is there already, and nothing is written over. Choose another name");
    assert_eq!((again.exit, again.stderr.contains(&refused)), (Exit::FAILED, true), "{}", again.stderr);
    let nowhere = bench.run(&["export", &thread, "--branch", "b-9"]).await;
    assert!(nowhere.stderr.contains("There is no branch `b-9`"), "{}", nowhere.stderr);
    bench.end().await;
}
