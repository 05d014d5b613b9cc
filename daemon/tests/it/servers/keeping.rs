//! Processes and their ends: polite where they can be, certain always, whatever becomes of the daemon.

use std::{
    env, fs,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use ropewalk_daemon::{
    clock::SystemClock,
    sessions::{ChildCommand, ChildSetup, How, Launch, Sessions},
    tools::servers::Signs,
};

use super::{World, echo, eventually, launch, owned, program, runs, setup, soon};

/// What to be, beside the servers: a daemon, as far as servers are concerned.
const OWNER: &str = "SCRIPTED_OWNER";

/// A server behind a shell that has started something else beside it.
fn through_a_shell(world: &World, role: &str) -> Launch {
    let scripted = world.scripted(role);
    let How::Child(command) = scripted.how.clone() else { unreachable!() };
    let beside = world.file(&format!("{role}.beside"));
    let script = format!("sleep 1000 & echo $! > {}; \"$0\" \"$@\"", beside.display());
    let mut arguments = vec!["-c".to_owned(), script, command.command.clone()];
    arguments.extend(command.arguments.clone());
    let how = How::Child(ChildCommand { arguments, ..with_environment("sh", &command) });
    Launch { how, ..scripted }
}

fn with_environment(name: &str, of: &ChildCommand) -> ChildCommand {
    ChildCommand { environment: of.environment.clone(), ..program(name) }
}

#[tokio::test]
async fn m46_a_server_is_told_by_the_end_of_its_input_and_ends_by_itself() {
    let world = World::new();
    for number in 1..=5 {
        soon(world.sessions.open(&world.scripted("good"))).await.unwrap();
        soon(world.sessions.forget("good")).await;
        assert_eq!(world.lines("good.ends").len(), number, "each had its clean exit");
        assert!(!runs(world.lines("good.starts").last().unwrap()), "and is gone when that is done");
    }
}

#[tokio::test]
async fn m44_a_normal_end_leaves_nothing_of_the_tree() {
    let world = World::new();
    let launch = through_a_shell(&world, "good");
    let session = soon(world.sessions.open(&launch)).await.unwrap();
    assert!(soon(session.call(echo(), &Signs::ignored())).await.is_ok());
    let pids = [world.lines("good.starts"), world.lines("good.beside")].concat();
    assert!(pids.len() == 2 && pids.iter().all(|pid| runs(pid)));
    soon(world.sessions.close_all()).await;
    assert!(!pids.iter().any(|pid| runs(pid)), "{pids:?}");
}

#[tokio::test]
async fn k14_a_server_that_minds_nothing_is_killed_with_its_group() {
    let world = World::new();
    let pids = world.file("pids");
    let script = format!("trap '' TERM; echo $$ > {}; while :; do sleep 1; done", pids.display());
    let arguments = vec!["-c".to_owned(), script];
    let stubborn = launch("stubborn", ChildCommand { arguments, ..program("sh") });
    let stubborn = Launch { start_timeout_ms: 300, ..stubborn };
    let began = Instant::now();
    assert!(soon(world.sessions.open(&stubborn)).await.is_err());
    assert!(!runs(&world.lines("pids")[0]), "a start that failed leaves nothing");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn m55_a_command_that_is_not_there_is_named_with_where_it_was_looked_for() {
    let world = World::new();
    let local = world.file("bin");
    fs::create_dir(&local).unwrap();
    let tool = local.join("only-here");
    fs::write(&tool, "#!/bin/sh\nexit 7\n").unwrap();
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let bare = Sessions::new(Arc::new(SystemClock), Arc::new(|_| ()));
    bare.start_children_with(ChildSetup { environment: vec![("PATH".into(), "/usr/bin:/bin".into())], ..setup() });
    let reason = |launch: Launch| {
        let bare = &bare;
        async move { soon(bare.open(&launch)).await.err().unwrap().reason }
    };
    let missing = launch("missing", program("only-here"));
    assert_eq!(reason(missing).await, "the command only-here was not found; searched: /usr/bin:/bin");
    let path = format!("{}:/usr/bin:/bin", local.display());
    let found = ChildCommand { environment: owned([("PATH", path)]), ..program("only-here") };
    let said = reason(launch("found", found)).await;
    assert!(said.ends_with("its process ended with exit code 7"), "{said}");
    let said = reason(launch("nowhere", program("/nowhere/at/all"))).await;
    assert_eq!(said, "there is no program /nowhere/at/all");
}

#[tokio::test]
async fn k48_a_server_finds_in_its_environment_what_it_was_given_and_nothing_of_ours() {
    let world = World::new();
    let script = format!("env > {}", world.file("env").display());
    let arguments = vec!["-c".to_owned(), script];
    let environment = owned([("TOKEN", "of the server".to_owned())]);
    let command = ChildCommand { arguments, environment, ..program("sh") };
    assert!(soon(world.sessions.open(&launch("env", command))).await.is_err());
    let mut names: Vec<String> =
        world.lines("env").iter().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()));
    names.sort();
    assert_eq!(names, ["PATH", "TOKEN"]);
}

/// Starts a server as a daemon does, and is killed.
#[test]
fn an_owner_that_is_killed() {
    let Ok(place) = env::var(OWNER) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World { place: tempfile::TempDir::new_in(&place).unwrap(), ..World::new() };
        fs::write(format!("{place}/where"), world.place.path().to_str().unwrap()).unwrap();
        let session = world.sessions.open(&through_a_shell(&world, "slow")).await.unwrap();
        let _ = session.call(echo(), &Signs::ignored()).await;
    });
}

#[tokio::test]
async fn k14_m44_a_daemon_that_is_killed_leaves_no_live_child() {
    let world = World::new();
    let test = "servers::keeping::an_owner_that_is_killed";
    let mut owner = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(OWNER, world.place.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let inner = || fs::read_to_string(world.file("where")).unwrap_or_default();
    let lines = |name: &str| fs::read_to_string(format!("{}/{name}", inner())).unwrap_or_default();
    eventually("the call has come to the server", || !lines("slow.ledger").is_empty()).await;
    let pids = [lines("slow.starts"), lines("slow.beside")].map(|pid| pid.trim().to_owned());
    assert!(pids.iter().all(|pid| runs(pid)), "{pids:?}");
    owner.kill().unwrap();
    owner.wait().unwrap();
    let began = Instant::now();
    eventually("nothing of it runs", || !pids.iter().any(|pid| runs(pid))).await;
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}
