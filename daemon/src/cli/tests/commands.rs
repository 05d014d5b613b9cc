//! The commands against a daemon on a temporary home: what they print, where, and how they end.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::Parser;
use serde_json::Value;

use crate::{
    cli::{
        Cli, Environment, Exit, Out,
        out::testing::{Written, captured},
        run_command,
        session::Context,
    },
    server::Home,
    start::{Config, Running, SecretChoice, start},
};

/// A daemon, and the command line that talks to it through pipes.
pub(super) struct Bench {
    pub(super) home: tempfile::TempDir,
    running: Running,
}

/// How a command ended and what it printed.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) exit: Exit,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Done {
    /// The lines of stdout, each of them JSON.
    pub(super) fn json(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Bench {
    pub(super) async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        // A daemon refuses a socket in a directory others may enter, so it makes its own one.
        let directory = home.path().join("home");
        let place = Home { socket: directory.join("daemon.sock"), directory };
        let running = start(Config {
            home: place,
            secret_store: SecretChoice::File,
            idle_exit_ms: None,
            children: Default::default(),
        })
        .await
        .unwrap();
        Self { home, running }
    }

    /// Its home.
    pub(super) fn directory(&self) -> PathBuf {
        self.home.path().join("home")
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Done {
        command(&self.directory(), arguments).await
    }

    pub(super) async fn end(self) {
        self.running.daemon().stop(1_000);
        self.running.wait().await;
    }
}

async fn command(home: &Path, arguments: &[&str]) -> Done {
    let (out, stdout, stderr): (Out, Written, Written) = captured(false);
    let cli = Cli::try_parse_from(["ropewalk"].iter().chain(arguments)).unwrap();
    let home = home.as_os_str().to_owned();
    let environment = Environment::new(move |variable| match variable {
        "ROPEWALK_HOME" => Some(home.clone()),
        "WORK_KEY" => Some(OsString::from("sk-1")),
        _ => None,
    });
    let exit = run_command(cli.command, &Context { global: cli.global, environment, out }).await;
    Done { exit, stdout: stdout.text(), stderr: stderr.text() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_prints_its_answer_alone_on_stdout_and_goes_on_with_continue() {
    let bench = Bench::new().await;
    let done = bench.run(&["run", "--title", "Greetings", "say hello"]).await;
    assert_eq!((done.exit, &*done.stdout, &*done.stderr), (Exit::DONE, "hello\n", ""));

    let done = bench.run(&["run", "--continue", "call nonsense {}"]).await;
    assert_eq!(done.exit, Exit::DONE);
    assert!(done.stderr.contains("→ nonsense {}\n✗ nonsense unknown_tool: "), "{}", done.stderr);

    let listed = bench.run(&["threads"]).await;
    assert!(listed.stdout.ends_with("just now  Greetings\n"), "{}", listed.stdout);
    let thread = listed.stdout.split_whitespace().next().unwrap();
    let shown = bench.run(&["threads", "show", thread]).await;
    assert!(shown.stdout.starts_with("Greetings\n\nuser\nsay hello\n\nassistant\nhello\n"), "{}", shown.stdout);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_and_projects_are_deleted_after_a_rehearsal_or_without_one() {
    let bench = Bench::new().await;
    bench.run(&["run", "say hello"]).await;
    let thread = bench.run(&["threads", "--json"]).await.json()[0]["items"][0]["threadId"].as_str().unwrap().to_owned();
    let effect = "Deletes the thread \u{201c}say hello\u{201d} for good.";
    let rehearsed = bench.run(&["threads", "delete", &thread, "--dry-run"]).await;
    assert_eq!(rehearsed.stdout, format!("{effect} Nothing was deleted: this was a rehearsal.\n"));
    let done = bench.run(&["threads", "delete", &thread]).await;
    assert_eq!((done.exit, done.stdout), (Exit::DONE, format!("{effect}\n")));
    let gone = bench.run(&["threads", "delete", &thread]).await;
    assert_eq!(gone.exit, Exit::FAILED);
    assert!(
        gone.stderr.contains(&thread) && gone.stderr.ends_with("  `ropewalk threads` lists them.\n"),
        "{}",
        gone.stderr
    );

    bench.run(&["run", "--project", "/tmp", "say hello"]).await;
    let listed = bench.run(&["project"]).await;
    assert!(listed.stdout.contains("  Default  default\n") && listed.stdout.contains("  tmp"), "{}", listed.stdout);
    let done = bench.run(&["project", "delete", "tmp"]).await;
    assert!(done.stdout.starts_with("Deletes the project tmp for good, with 1 thread, 1 grant"), "{}", done.stdout);
    let kept = bench.run(&["project", "delete", "Default"]).await;
    assert_eq!(kept.exit, Exit::FAILED);
    assert!(kept.stderr.contains("The default project cannot be deleted"), "{}", kept.stderr);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_next_request_is_made_of_is_shown_in_a_table_and_as_the_model_reads_it() {
    let bench = Bench::new().await;
    bench.run(&["run", "hello"]).await;
    let listed = bench.run(&["threads"]).await;
    let thread = listed.stdout.split_whitespace().next().unwrap();
    let shown = bench.run(&["context", thread]).await;
    assert_eq!(shown.exit, Exit::DONE);
    let line = |what: &str| shown.stdout.lines().find(|line| line.starts_with(what)).unwrap_or_default().to_owned();
    assert!(
        line("messages").ends_with("2 messages") && line("in all").ends_with("of a window of 128000"),
        "{}",
        shown.stdout
    );
    assert!(line("tools").ends_with("9 tools") && !shown.stdout.contains(thread), "{}", shown.stdout);
    let read = bench.run(&["context", thread, "--text"]).await;
    assert!(read.stdout.contains(&format!("thread {thread}, branch {thread}.")), "{}", read.stdout);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_without_a_title_is_called_the_same_in_the_list_and_when_it_is_shown() {
    let bench = Bench::new().await;
    bench.run(&["run", "say hello\nsay again"]).await;
    let listed = bench.run(&["threads"]).await;
    assert!(listed.stdout.ends_with("just now  say hello\n"), "{}", listed.stdout);
    let thread = listed.stdout.split_whitespace().next().unwrap();
    let shown = bench.run(&["threads", "show", thread]).await;
    assert!(shown.stdout.starts_with("say hello\n\nuser\nsay hello\nsay again\n"), "{}", shown.stdout);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_for_programs_is_its_events_and_then_the_run() {
    let bench = Bench::new().await;
    let done = bench.run(&["run", "--json", "say hello"]).await;
    let lines = done.json();
    let (run, events) = lines.split_last().unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event["event"]["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[1], *kinds.last().unwrap()), ("runStarted", "itemCompleted", "runCompleted"));
    assert_eq!(run["run"]["state"], "completed");
    assert_eq!(run["run"]["outcome"]["text"], "hello");
    assert_eq!((done.exit, &*done.stderr), (Exit::DONE, ""));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_run_says_why_and_ends_with_1() {
    let bench = Bench::new().await;
    let done = bench.run(&["run", "say so far\nfail badRequest"]).await;
    assert_eq!((done.exit, &*done.stdout), (Exit::FAILED, ""), "a text that broke off is no answer");
    assert!(done.stderr.starts_with("so far\n"), "{}", done.stderr);
    let listed = bench.run(&["threads"]).await;
    let thread = listed.stdout.split_whitespace().next().unwrap();
    let (_, next) = done.stderr.split_once("with this error (badRequest).\n").expect("why it failed is said");
    assert!(next.contains(&format!("`ropewalk resume {thread}`")), "{next}");
    assert!(next.contains(&format!("`ropewalk retry {thread}`")), "{next}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_endpoint_refuses_it_says_what_to_do_next() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let bench = Bench::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 65_536]).await;
        let _ = stream.write_all(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
        let _ = stream.shutdown().await;
    });
    bench.run(&["endpoint", "add", "work", "--url", &url, "--model", "m"]).await;
    let done = bench.run(&["run", "hello"]).await;
    server.await.unwrap();
    assert_eq!(done.exit, Exit::FAILED);
    let next = "  Next: `ropewalk endpoint key work` stores its key.\n";
    assert!(done.stderr.contains("(status 401)") && done.stderr.ends_with(next), "{}", done.stderr);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_prompt_is_refused_and_leaves_no_thread_behind() {
    let bench = Bench::new().await;
    let done = bench.run(&["run", " "]).await;
    assert_eq!(done.exit, Exit::USAGE, "{}", done.stderr);
    assert!(bench.run(&["threads"]).await.stdout.starts_with("No threads yet"));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn images_go_with_a_prompt_or_alone_and_a_file_that_is_none_is_refused_before_anything_begins() {
    let bench = Bench::new().await;
    let file = bench.home.path().join("dot.gif");
    std::fs::write(&file, b"GIF89a\x01\0\x01\0").unwrap();
    let file = file.to_str().unwrap();
    let refused = bench.run(&["run", "--image", "/nowhere/cat.png", "say hello"]).await;
    assert_eq!((refused.exit, refused.stderr.contains("/nowhere/cat.png")), (Exit::USAGE, true), "{}", refused.stderr);
    assert!(bench.run(&["threads"]).await.stdout.starts_with("No threads yet"));
    assert_eq!(bench.run(&["run", "--image", file, "say hello"]).await.stdout, "hello\n");
    let alone = bench.run(&["run", "--image", file]).await;
    assert_eq!(alone.exit, Exit::DONE, "{}", alone.stderr);
    let listed = bench.run(&["threads"]).await;
    let thread = listed.stdout.split_whitespace().next().unwrap();
    let shown = bench.run(&["threads", "show", thread]).await;
    assert!(shown.stdout.contains("[image/gif, 10 bytes]"), "{}", shown.stdout);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_terminal_questions_are_declined_and_it_is_said() {
    let bench = Bench::new().await;
    let question = r#"call ask_user {"questions":[{"id":"q","text":"Which one?"}]}"#;
    let done = bench.run(&["run", question]).await;
    assert_eq!(done.exit, Exit::DONE);
    let said = "not answered \"Which one?\": there is no terminal to ask at\n";
    assert!(done.stderr.contains(said), "{}", done.stderr);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dyn_31_without_a_terminal_no_decision_is_made_up_and_what_allows_the_call_is_said() {
    let bench = Bench::new().await;
    bench.run(&["project", "create", "The Moss"]).await;
    let done = bench.run(&["run", "--project", "The Moss", r#"call app_read {"resource":"Projects"}"#]).await;
    assert_eq!(done.exit, Exit::DONE, "{}", done.stderr);
    let hint = "policy set allow --tool app/app_read --project 'The Moss'` allows it from now on";
    assert!(done.stderr.contains("nobody asked ") && done.stderr.contains(hint), "{}", done.stderr);
    let thread = bench.run(&["threads"]).await.stdout.split_whitespace().next().unwrap().to_owned();
    let told = bench.run(&["export", &thread, "--format", "json"]).await.stdout;
    assert!(told.contains("Nobody is here who could be asked"), "{told}");
    assert!(told.contains("Nobody refused it") && !told.contains("A person"), "{told}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_is_added_with_its_key_used_and_removed() {
    let bench = Bench::new().await;
    let add = ["endpoint", "add", "work", "--url", "https://api.example.com/v1", "--model", "big"];
    let done = bench.run(&[&add[..], &["--key-env", "WORK_KEY"]].concat()).await;
    assert_eq!(done.exit, Exit::DONE, "{}", done.stderr);
    assert!(done.stdout.ends_with("The key of work is stored.\n"), "{}", done.stdout);

    let again = bench.run(&add).await;
    assert_eq!(again.exit, Exit::FAILED);
    assert!(again.stderr.contains("There is an endpoint `work` already"), "{}", again.stderr);

    let listed = bench.run(&["endpoint", "list", "--json"]).await;
    let endpoints = listed.json()[0]["items"].clone();
    let work = endpoints.as_array().unwrap().iter().find(|endpoint| endpoint["name"] == "work").unwrap();
    assert_eq!(work["hasCredential"], true);
    assert!(!listed.stdout.contains("sk-1"));

    let set = bench.run(&["endpoint", "set", "work", "--header", "X-Title=App", "--max-output-tokens", "99"]).await;
    assert!(set.stdout.starts_with("work is changed. `"), "{}{}", set.stdout, set.stderr);
    let listed = bench.run(&["endpoint", "list"]).await;
    assert!(listed.stdout.contains("has a key, answers up to 99 tokens, sends X-Title"), "{}", listed.stdout);
    let moved = bench.run(&["endpoint", "set", "work", "--url", "https://other.example/v1"]).await;
    assert!(moved.stdout.contains("Its key was for another place and is gone"), "{}", moved.stdout);
    let secret = bench.run(&["endpoint", "set", "work", "--header", "Authorization=Bearer sk-1"]).await;
    assert_eq!((secret.exit, secret.stderr.contains("secret/set")), (Exit::FAILED, true), "{}", secret.stderr);
    let keyed = bench.run(&["endpoint", "set", "work", "--model", "bigger", "--key-env", "WORK_KEY"]).await;
    assert!(keyed.stdout.ends_with("The key of work is stored.\n"), "{}", keyed.stdout);

    let nothing = bench.run(&["endpoint", "set", "work"]).await;
    assert_eq!((nothing.exit, nothing.stderr.contains("--help")), (Exit::USAGE, true), "{}", nothing.stderr);

    assert_eq!(bench.run(&["endpoint", "use", "work"]).await.stdout, "work is the default now.\n");
    let scripted = bench.run(&["endpoint", "use", "scripted"]).await;
    assert!(scripted.stderr.contains("`ropewalk run --endpoint scripted \"…\"` uses it"), "{}", scripted.stderr);
    let unknown = bench.run(&["endpoint", "use", "wrok"]).await;
    assert!(unknown.stderr.contains("There is no endpoint `wrok`. There is: "), "{}", unknown.stderr);
    let unset = bench.run(&["endpoint", "key", "work", "--key-env", "NOT_SET"]).await;
    assert_eq!((unset.exit, unset.stderr.contains("NOT_SET is not set")), (Exit::USAGE, true));

    assert_eq!(bench.run(&["endpoint", "key", "work", "--remove"]).await.exit, Exit::DONE);
    bench.run(&[&add[..2], &["other"], &add[3..]].concat()).await;
    let removed = bench.run(&["endpoint", "remove", "work"]).await;
    assert_eq!((removed.exit, removed.stdout.contains("None is the default now")), (Exit::DONE, true), "{removed:?}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_and_settings_are_set_shown_and_taken_back() {
    let bench = Bench::new().await;
    let set = bench.run(&["policy", "set", "deny", "--tool", "client:bot/get_issue"]).await;
    assert!(set.stdout.starts_with("deny client:bot/get_issue everywhere ("), "{}{}", set.stdout, set.stderr);
    let listed = bench.run(&["policy", "list"]).await;
    let (id, rule) = listed.stdout.trim_end().split_once("  ").unwrap();
    assert_eq!(rule, "deny client:bot/get_issue everywhere  matches no tool that is known");
    assert_eq!(bench.run(&["policy", "remove", id]).await.exit, Exit::DONE);

    let set = bench.run(&["settings", "set", "--approval-ms", "never"]).await;
    assert!(set.stdout.contains("approval-ms          never\n"), "{}", set.stdout);
    let refused = bench.run(&["settings", "set", "--approval-ms", "1", "--json"]).await;
    assert_eq!((refused.exit, &*refused.stdout), (Exit::FAILED, ""));
    let error: Value = serde_json::from_str(&refused.stderr).unwrap();
    assert_eq!(error["error"]["data"]["path"], "/approvalMs");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_asks_a_running_daemon_and_starts_none() {
    let bench = Bench::new().await;
    let done = bench.run(&["doctor", "--json"]).await;
    let report = &done.json()[0];
    let checks: Vec<_> = report["findings"].as_array().unwrap().iter().map(|finding| &finding["check"]).collect();
    assert_eq!((done.exit, &report["ok"]), (Exit::DONE, &Value::Bool(true)), "{report:#}");
    assert!(checks.iter().any(|check| *check == "endpoints"), "{report:#}");
    bench.end().await;

    let empty = tempfile::tempdir().unwrap();
    let done = command(&empty.path().join("home"), &["doctor"]).await;
    assert_eq!(done.exit, Exit::DONE);
    assert!(done.stdout.contains("none runs now"), "{}", done.stdout);
    assert!(!empty.path().join("home").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_ends_well_whether_or_not_somebody_can_be_asked() {
    let nowhere = tempfile::tempdir().unwrap();
    let accepted = command(nowhere.path(), &["demo", "--yes"]).await;
    assert_eq!(accepted.exit, Exit::DONE);
    assert!(accepted.stdout.contains("bell       ding-ding  ding-ding  ding-ding\n"), "{}", accepted.stdout);
    assert!(accepted.stdout.contains("model      ring_bell: Six bells: the watch is 3 hours old.\n"));
    assert_eq!(accepted.stderr, "accepted ring_bell 6: --yes\n");

    let declined = command(nowhere.path(), &["demo"]).await;
    assert_eq!(declined.exit, Exit::DONE);
    assert!(!declined.stdout.contains("ding-ding"));
    assert!(declined.stdout.contains("What next"));
    assert!(declined.stderr.starts_with("nobody asked ring_bell 6: there is no terminal"), "{}", declined.stderr);
    assert!(declined.stdout.contains("demo --yes"), "{}", declined.stdout);
    assert!(!accepted.stdout.contains("demo --yes"), "{}", accepted.stdout);
}

#[tokio::test]
async fn the_schema_is_printed_without_a_daemon() {
    let nowhere = tempfile::tempdir().unwrap();
    let done = command(nowhere.path(), &["schema"]).await;
    assert_eq!(serde_json::from_str::<Value>(&done.stdout).unwrap(), ropewalk_protocol::bundle());
    let hash = command(nowhere.path(), &["schema", "--hash"]).await;
    assert_eq!(hash.stdout.trim_end(), ropewalk_protocol::schema_hash());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_schema_prints_data_alone_and_a_paused_one_ends_the_command_until_it_is_resumed() {
    let bench = Bench::new().await;
    let file = bench.home.path().join("schema.json");
    let file = file.to_str().unwrap();
    std::fs::write(file, r#"{"type": "object", "required": ["n"]}"#).unwrap();
    let done = bench.run(&["run", "--output-schema", file, "say seven\nthen say {\"n\":7}"]).await;
    assert_eq!((done.exit, &*done.stdout), (Exit::DONE, "{\"n\":7}\n"), "{}", done.stderr);
    assert!(done.stderr.contains("seven\n"), "{}", done.stderr);
    let listed = bench.run(&["threads"]).await;
    let shown = bench.run(&["threads", "show", listed.stdout.split_whitespace().next().unwrap()]).await;
    assert!(shown.stdout.contains("\nropewalk\nYour answer does not fit"), "{}", shown.stdout);
    let done = bench.run(&["run", "--output-schema", file, "hello"]).await;
    assert_eq!((done.exit, &*done.stdout), (Exit::FAILED, ""));
    assert!(done.stderr.contains("does not fit the output schema"), "{}", done.stderr);
    std::fs::write(file, "{").unwrap();
    let done = bench.run(&["run", "--output-schema", file, "hello"]).await;
    assert_eq!(done.exit, Exit::USAGE);
    assert!(done.stderr.contains("is not JSON"), "{}", done.stderr);

    bench.run(&["settings", "set", "--run-max-tokens", "1"]).await;
    let done = bench.run(&["run", "call nothing\nthen say done"]).await;
    assert_eq!((done.exit, &*done.stdout), (Exit::PAUSED, ""));
    let said = done.stderr.lines().rev().take(2).collect::<Vec<_>>();
    assert!(said[1].starts_with("! The run has used") && said[1].contains("runMaxTokens"), "{}", done.stderr);
    let thread = said[0].split("`ropewalk resume ").nth(1).unwrap().split('`').next().unwrap();
    let done = bench.run(&["resume", thread]).await;
    assert_eq!((done.exit, &*done.stdout), (Exit::DONE, "done\n"), "{}", done.stderr);
    let done = bench.run(&["resume", thread]).await;
    assert_eq!(done.exit, Exit::FAILED);
    assert!(done.stderr.contains("Nothing has ended badly on this branch"), "{}", done.stderr);

    let done = bench.run(&["--json", "run", "call nothing\nthen say done"]).await;
    assert_eq!(done.exit, Exit::PAUSED);
    assert_eq!(done.json().last().unwrap()["run"]["reason"], "budget");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_stopped_and_what_is_held_behind_it_skips_on_from_another_terminal() {
    let bench = Bench::new().await;
    bench.run(&["settings", "set", "--run-max-tokens", "1"]).await;
    assert_eq!(bench.run(&["run", "call nothing\nthen say done"]).await.exit, Exit::PAUSED);
    let listed = bench.run(&["threads"]).await;
    let thread = listed.stdout.split_whitespace().next().unwrap();
    let idle = bench.run(&["skip", thread]).await;
    assert_eq!((idle.exit, &*idle.stdout), (Exit::DONE, "Nothing is held there.\n"), "{}", idle.stderr);

    let thread_id = ropewalk_protocol::ThreadId::from(thread.to_owned());
    let next = ["run", "--thread", thread, "say next"];
    let behind = bench.run(&next);
    let others = async {
        // What is stopped before the input waits behind it leaves nothing to hold.
        let (threads, branch) = (bench.running.daemon().engine.thread(&thread_id).unwrap(), thread_id.clone().into());
        while threads.queue(Clone::clone(&branch)).await.unwrap().entries.is_empty() {
            tokio::task::yield_now().await;
        }
        let stopped = bench.run(&["stop", thread]).await;
        assert_eq!(stopped.exit, Exit::DONE, "{}", stopped.stderr);
        assert!(stopped.stdout.starts_with("Stopped the run ") && stopped.stdout.ends_with(", which was paused.\n"));
        let listed = bench.run(&["threads"]).await;
        assert!(listed.stdout.ends_with("  1 input held\n"), "{}", listed.stdout);
        let doctor = bench.run(&["doctor"]).await.stdout;
        assert!(doctor.contains("inputs are held behind a bad end in 1 thread\n"), "{doctor}");
        assert_eq!(bench.run(&["stop", thread]).await.stdout, "Nothing runs there.\n");
        let skipped = bench.run(&["skip", thread]).await;
        assert_eq!((skipped.exit, &*skipped.stdout), (Exit::DONE, "The next input has begun.\n"));
    };
    let both = async { tokio::join!(behind, others) };
    let (done, ()) = tokio::time::timeout(std::time::Duration::from_secs(60), both).await.unwrap();
    assert_eq!((done.exit, &*done.stdout), (Exit::DONE, "next\n"), "{}", done.stderr);
    let held = format!("… held, because the run before ended badly: `ropewalk resume {thread}` goes on with that one");
    assert_eq!(done.stderr.matches(&held).count(), 1, "{}", done.stderr);
    assert!(done.stderr.contains(&format!("`ropewalk skip {thread}` leaves it as it is\n")), "{}", done.stderr);
    bench.end().await;
}
