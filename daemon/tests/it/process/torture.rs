//! The daemon under load, killed or without power again and again: what was acknowledged is there, and nothing happens twice.
//!
//! `SLOW=1` takes as many blows as the long run has.

use ropewalk_conformance::{Blow, TortureArgs, TortureReport, can_cut_power, torture};

use super::program;

/// Whoever wants other instants changes this.
const SEED: u64 = 20_261_130;

/// Kills, or cuts of power, of the short run and of the long one.
#[expect(clippy::print_stdout, reason = "the table is what a person who takes the long run waits for")]
async fn tortured(blow: Blow, short: u32, long: u32) -> TortureReport {
    let times = if std::env::var_os("SLOW").is_some() { long } else { short };
    let args = TortureArgs { blow, times, clients: 4, seed: SEED, daemon: Some(program()), dir: None };
    let report = torture(&args).await.unwrap();
    println!("{report}");
    assert_eq!(report.violations, Vec::<String>::new(), "seed {SEED}\n{report}");
    assert_eq!(report.blows, times);
    assert!(report.acknowledged > u64::from(times), "there was load\n{report}");
    assert!(report.histories >= 4, "every client's thread went on at the end\n{report}");
    report
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k17_k37_k50_a_daemon_killed_under_load_loses_nothing_and_does_nothing_twice() {
    let report = tortured(Blow::Kill, 50, 1_000).await;
    let met = |phases: &[&str]| phases.iter().map(|phase| report.phase(phase)).sum::<u64>();
    assert!(met(&["a request not yet answered"]) > 0 && met(&["a run under way"]) > 0, "{report}");
    let open = ["a tool call open", "an approval open", "a question open", "an answer not yet acknowledged"];
    assert!(met(&open) > 0, "no kill met anything open\n{report}");
    assert!(report.offered_again > 0 && report.replayed > 0, "{report}");
}

/// Root and a loop device are not everywhere; where checks run for everybody, they must be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k37_a_power_cut_under_load_takes_nothing_that_was_acknowledged() {
    if let Err(why) = can_cut_power().await {
        assert!(std::env::var_os("CI").is_none(), "no disk can be mounted here: {why}");
        println!("NOT TRIED: no disk can be mounted here, so no power can be cut: {why}");
        return;
    }
    tortured(Blow::Power, 2, 20).await;
}
