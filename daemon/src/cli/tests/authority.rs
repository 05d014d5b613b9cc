//! Projects, grants and rules from the command line.

use clap::Parser as _;

use super::commands::Bench;
use crate::cli::{Cli, Exit};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_is_made_shown_changed_and_removed_with_its_grants_and_rules() {
    let bench = Bench::new().await;
    let made = bench.run(&["project", "create", "Moss", "--description", "The survey", "--endpoint", "scripted"]).await;
    assert!(made.stdout.starts_with("Moss is there ("), "{}{}", made.stdout, made.stderr);
    assert!(made.stdout.contains("grant add DIR --project Moss` grants one."), "{}", made.stdout);
    let again = bench.run(&["project", "create", "Moss"]).await;
    assert!(
        again.exit == Exit::FAILED && again.stderr.contains("There is a project `Moss` already"),
        "{}",
        again.stderr
    );

    let directory = bench.home.path().join("files");
    std::fs::create_dir(&directory).unwrap();
    let path = directory.to_str().unwrap();
    let granted = bench.run(&["grant", "add", path, "--project", "Moss", "--capabilities", "read,write"]).await;
    assert!(
        granted.stdout.starts_with("Runs of Moss may read and write below "),
        "{}{}",
        granted.stdout,
        granted.stderr
    );
    let missing = bench.run(&["grant", "add", "/no/such/place", "--project", "Moss"]).await;
    assert!(missing.exit == Exit::FAILED && missing.stderr.contains("Make it first"), "{}", missing.stderr);
    let nowhere = bench.run(&["grant", "add", path, "--project", "Mos"]).await;
    assert!(nowhere.stderr.contains("There is no project `Mos`. There is: Default, Moss."), "{}", nowhere.stderr);

    let rule = ["policy", "set", "allow", "--tool", "files/read_file", "--project", "Moss"];
    let set =
        bench.run(&[&rule[..], &["--until", "2h", "--max-calls-per-run", "1", "--timeout-ms", "5000"]].concat()).await;
    assert!(set.stdout.contains(", 1 call a run, 5 s of silence, until "), "{}{}", set.stdout, set.stderr);

    let shown = bench.run(&["project", "show", "Moss"]).await.stdout;
    for part in ["The survey\n", "endpoint scripted", "read,write  ", "allow files/read_file in project"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let read = bench.run(&["project", "show", "Moss", "--json"]).await.json().remove(0);
    assert_eq!(read["project"]["policies"][0]["decision"], "allow");
    let listed = bench.run(&["policy", "list", "--project", "Moss", "--json"]).await.json().remove(0);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);

    let changed = bench.run(&["project", "update", "Moss", "--name", "Mosses", "--endpoint", "none"]).await;
    assert_eq!(changed.stdout, "Mosses is changed.\n", "{}", changed.stderr);
    let grants = bench.run(&["grant", "list", "--json"]).await.json().remove(0);
    assert_eq!(grants["items"].as_array().unwrap().len(), 1);
    let removed = bench.run(&["grant", "remove", path]).await;
    assert_eq!(removed.exit, Exit::DONE, "{}", removed.stderr);
    assert_eq!(bench.run(&["grant", "list"]).await.stdout, "No grants: runs may reach no directory.\n");
    let gone = bench.run(&["grant", "remove", path]).await;
    assert!(gone.exit == Exit::FAILED && gone.stderr.contains("There is no grant"), "{}", gone.stderr);
    let removed = bench.run(&["project", "remove", "Mosses"]).await;
    assert_eq!(removed.exit, Exit::DONE, "{}", removed.stderr);
    assert_eq!(bench.run(&["project"]).await.stdout, bench.run(&["project", "list"]).await.stdout);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_matches_nothing_is_reported_by_the_list_and_by_doctor() {
    let bench = Bench::new().await;
    bench.run(&["policy", "set", "deny", "--tool", "app/ask_user"]).await;
    let doctor = bench.run(&["doctor"]).await;
    assert!(!doctor.stdout.contains("matches no tool"), "{}", doctor.stdout);
    let misspelt = bench.run(&["policy", "set", "deny", "--tool", "app/ask_usr"]).await;
    assert!(misspelt.stdout.ends_with("No tool it matches is known yet.\n"), "{}", misspelt.stdout);
    let listed = bench.run(&["policy", "list"]).await.stdout;
    let marked: Vec<_> = listed.lines().filter(|line| line.ends_with("matches no tool that is known")).collect();
    assert!(marked.len() == 1 && marked[0].contains("app/ask_usr"), "{listed}");
    let rules = bench.run(&["policy", "list", "--json"]).await.json().remove(0);
    let matches: Vec<_> = rules["items"].as_array().unwrap().iter().map(|rule| rule["matches"].clone()).collect();
    assert_eq!(matches, [1, 0]);
    let doctor = bench.run(&["doctor"]).await;
    assert!(doctor.stdout.contains("a rule matches no tool that is known: deny app/ask_usr"), "{}", doctor.stdout);
    bench.end().await;
}

/// Field case A27: a word that is no decision is refused before anything is set.
#[test]
fn a27_a_decision_that_is_none_is_refused_with_those_there_are() {
    for word in ["Allow", "DENY", "off", "alow"] {
        let refused =
            Cli::try_parse_from(["ropewalk", "policy", "set", word, "--source", "files"]).unwrap_err().to_string();
        assert!(refused.contains("[possible values: allow, ask, deny]"), "{refused}");
    }
    for arguments in [
        &["policy", "set", "allow"][..],
        &["policy", "set", "allow", "--tool", "files"],
        &["policy", "set", "allow", "--source", "files", "--until", "soon"],
        &["policy", "set", "allow", "--source", "files", "--project", "a", "--thread", "b"],
        &["project", "update", "Moss"],
        &["grant", "add", "."],
        &["grant", "add", ".", "--project", "Moss", "--capabilities", "Read"],
    ] {
        let arguments = std::iter::once("ropewalk").chain(arguments.iter().copied());
        assert!(Cli::try_parse_from(arguments.clone()).is_err(), "{:?}", arguments.collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_may_be_named_by_the_name_of_a_server_and_one_that_there_is_not_is_refused() {
    let bench = Bench::new().await;
    let set = bench.run(&["policy", "set", "deny", "--source", "File tools"]).await;
    assert!(set.stdout.starts_with("deny all of files everywhere"), "{}{}", set.stdout, set.stderr);
    let set = bench.run(&["policy", "set", "ask", "--tool", "App tools/app_read"]).await;
    assert!(set.stdout.starts_with("ask app/app_read everywhere"), "{}{}", set.stdout, set.stderr);
    let listed = bench.run(&["policy", "list", "--source", "App tools"]).await;
    assert_eq!(listed.stdout.lines().count(), 1, "{}", listed.stdout);
    let refused = bench.run(&["policy", "set", "deny", "--source", "fils"]).await;
    assert_eq!(refused.exit, Exit::FAILED, "{}", refused.stdout);
    assert!(refused.stderr.contains("There is no source \"fils\". There are app, files"), "{}", refused.stderr);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_13_a_bundled_server_is_switched_off_and_on_for_a_project_by_its_id_or_name() {
    let bench = Bench::new().await;
    bench.run(&["project", "create", "Moss"]).await;
    let off = bench.run(&["mcp", "disable", "files", "--project", "Moss"]).await;
    assert_eq!(off.stdout, "Runs of Moss do not use File tools.\n", "{}", off.stderr);
    let shown = bench.run(&["project", "show", "Moss", "--json"]).await;
    assert!(shown.stdout.contains("\"enabled\":false"), "{}", shown.stdout);
    let on = bench.run(&["mcp", "enable", "File tools", "--project", "Moss"]).await;
    assert_eq!(on.stdout, "Runs of Moss may use File tools.\n", "{}", on.stderr);
    let everywhere = bench.run(&["mcp", "disable", "app"]).await;
    assert_eq!(everywhere.stdout, "Runs do not use App tools.\n", "{}", everywhere.stderr);
    let listed = bench.run(&["mcp", "list"]).await;
    assert!(listed.stdout.contains("App tools (app)") && listed.stdout.contains("switched off"), "{}", listed.stdout);
    let review = bench.run(&["mcp", "review", "app"]).await;
    assert!(review.stderr.contains("there is nothing to review"), "{}", review.stderr);
    bench.end().await;
}
