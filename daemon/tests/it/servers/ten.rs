//! Ten bad servers beside a good one: the good one is never affected, and of each bad one it can be said what is wrong.

use ropewalk_daemon::{
    sessions::{Launch, Standing, Status},
    tools::{CallFailure, servers::Signs},
};

use super::{World, echo, eventually, soon};

const WELL_ENOUGH: [&str; 9] = ["junk", "dies", "floods", "big", "cursor", "changes", "duplicates", "longnames", "odd"];

fn oddities(status: &Status) -> Vec<String> {
    status.listing.as_ref().unwrap().oddities()
}

fn reason(status: &Status) -> &str {
    match &status.standing {
        Standing::Failed { reason, .. } => reason,
        other => panic!("it is {other:?}"),
    }
}

#[tokio::test]
async fn k01_k04_ten_bad_servers_beside_a_good_one() {
    let world = World::new();
    let status = |role: &str| world.sessions.status(role).unwrap();
    let silent = Launch { start_timeout_ms: 500, ..world.scripted("silent") };
    let good = soon(world.sessions.open(&world.scripted("good"))).await.unwrap();
    let launches: Vec<_> = WELL_ENOUGH.iter().map(|role| world.scripted(role)).collect();
    let opening = futures::future::join_all(launches.iter().map(|launch| world.sessions.open(launch)));
    let (silent, sessions) = soon(futures::future::join(world.sessions.open(&silent), opening)).await;
    assert_eq!(silent.err().unwrap().reason, "initialize timed out: no answer within 0 s");
    for (role, session) in WELL_ENOUGH.iter().zip(sessions) {
        let session = session.unwrap_or_else(|trouble| panic!("{role}: {}", trouble.reason));
        let outcome = soon(session.call(echo(), &Signs::ignored())).await;
        match *role {
            "dies" => assert_eq!(outcome, Err(CallFailure::OutcomeUnknown)),
            "big" => assert_eq!(outcome.unwrap()["content"][0]["text"].as_str().unwrap().len(), 10 << 20),
            _ => assert_eq!(outcome.unwrap()["content"][0]["text"], "hello", "{role}"),
        }
        assert!(good.is_alive());
        assert_eq!(soon(good.call(echo(), &Signs::ignored())).await.unwrap()["content"][0]["text"], "hello");
    }

    assert!(status("junk").remarks.junk_lines >= 9);
    assert!(status("junk").remarks.junk.contains(&"{\"level\":\"info\"}".to_owned()));
    eventually("its end is noticed", || status("dies").standing != Standing::Ready).await;
    assert_eq!(reason(&status("dies")), "its process ended with exit code 0; it wrote: panic: the disk is on fire");
    assert_eq!(world.lines("dies.ledger").len(), 1);
    eventually("all of stderr is read", || status("floods").remarks.stderr.ends_with('x')).await;
    assert_eq!(status("floods").remarks.stderr.len(), 64 << 10);
    assert_eq!(oddities(&status("cursor")), ["pagination does not end: no more than 64 pages are read"]);
    eventually("the other schema is there", || {
        status("changes").listing.unwrap().tools[0].input_schema["required"][0] == "text"
    })
    .await;
    let repeated = "twice: another tool of this server has the same name";
    assert_eq!(oddities(&status("duplicates")), [repeated, repeated]);
    assert!(oddities(&status("longnames"))[0].ends_with("its name has 300 characters; at most 128 are taken"));
    let odd = status("odd");
    assert_eq!(
        oddities(&odd),
        [
            "a tool without a usable name is ignored: its name is no text",
            "a tool without a usable name is ignored: it is no object",
            "truth: its inputSchema is no object, but a boolean",
            "list: its inputSchema is no object, but a list",
            "text: its inputSchema does not have the type object",
            "none: it has no inputSchema",
            "deep: its inputSchema has 82 levels; at most 64 are taken",
        ]
    );
    let fine = odd.listing.unwrap();
    assert_eq!(fine.usable("echo").unwrap().input_schema["properties"]["anything"], true, "as it was written");
    soon(world.sessions.close_all()).await;
    assert!(!good.is_alive());
}

#[tokio::test]
async fn m42_a_server_that_floods_stderr_is_drained_for_life() {
    let world = World::new();
    let session = soon(world.sessions.open(&world.scripted("floods"))).await.unwrap();
    for _ in 0..5 {
        assert!(soon(session.call(echo(), &Signs::ignored())).await.is_ok());
    }
    soon(world.sessions.close_all()).await;
}

#[tokio::test]
async fn m35_a_process_that_ends_after_each_call_is_started_for_the_next() {
    let world = World::new();
    let launch = world.scripted("once");
    for number in 1..=3 {
        let session = soon(world.sessions.open(&launch)).await.unwrap();
        assert!(soon(session.call(echo(), &Signs::ignored())).await.is_ok());
        soon(session.ended()).await;
        eventually("its end is noticed", || world.sessions.status("once").unwrap().standing != Standing::Ready).await;
        assert_eq!(world.lines("once.starts").len(), number);
    }
}
