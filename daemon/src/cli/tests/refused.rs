//! What a command leaves behind that was refused: nothing.

use super::commands::Bench;
use crate::cli::Exit;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_refused_leaves_no_thread_behind_and_one_that_exists_alone() {
    let bench = Bench::new().await;
    let file = bench.home.path().join("schema.json");
    let file = file.to_str().unwrap();
    std::fs::write(file, r#"{"type": 3}"#).unwrap();
    for refused in [&["run", "--endpoint", "nowhere", "hello"][..], &["run", "--output-schema", file, "hello"]] {
        let done = bench.run(refused).await;
        assert_ne!(done.exit, Exit::DONE, "{refused:?}: {}", done.stdout);
        assert!(done.stderr.contains("nowhere") || done.stderr.contains("outputSchema"), "{}", done.stderr);
        assert_eq!(bench.run(&["--json", "threads"]).await.json()[0]["items"], serde_json::json!([]), "{refused:?}");
    }

    assert_eq!(bench.run(&["run", "hello"]).await.exit, Exit::DONE);
    let listed = bench.run(&["threads"]).await.stdout;
    let done = bench.run(&["run", "--continue", "--output-schema", file, "hello"]).await;
    assert_ne!(done.exit, Exit::DONE);
    assert_eq!(bench.run(&["threads"]).await.stdout, listed, "a thread that was there before stays");
    bench.end().await;
}
