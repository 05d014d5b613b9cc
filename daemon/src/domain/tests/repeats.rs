//! Steps that repeat earlier ones, in rows.

use ropewalk_protocol::RunId;

use super::{bench::Bench, fixtures::told};

/// A step whose calls come to these; how many steps in a row have repeated earlier ones with it.
fn step(bench: &mut Bench, run: &RunId, results: &[&str]) -> u64 {
    let calls = bench.calls(run, &vec!["look"; results.len()]);
    for (call, result) in calls.iter().zip(results) {
        bench.change(|change| {
            change.call_came_to(run, (*result).to_owned());
            change.complete_call(run, call, told(result));
        });
    }
    bench.change(|change| change.repeated_steps(run)).value
}

#[test]
fn k12_steps_that_bring_nothing_new_are_counted_in_a_row() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let rows: Vec<u64> =
        ["a", "a", "a", "b", "a", "b", "c"].iter().map(|result| step(&mut bench, &run, &[result])).collect();
    assert_eq!(rows, [0, 1, 2, 0, 1, 2, 0], "also in a circle of several");
}

#[test]
fn k12_one_new_result_in_a_step_is_news_and_steps_count_not_calls() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    assert_eq!(step(&mut bench, &run, &["a"; 10]), 0, "ten equal calls of one message are one step");
    assert_eq!(step(&mut bench, &run, &["a"; 10]), 1);
    assert_eq!(step(&mut bench, &run, &["a", "news", "a"]), 0);
    assert_eq!(step(&mut bench, &run, &["news", "a"]), 1);
}

#[test]
fn a_step_is_counted_when_its_last_result_is_there() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    step(&mut bench, &run, &["a"]);
    step(&mut bench, &run, &["a"]);
    let calls = bench.calls(&run, &["look", "look"]);
    bench.change(|change| {
        change.call_came_to(&run, "a".to_owned());
        change.complete_call(&run, &calls[0], told("a"));
    });
    assert_eq!(bench.change(|change| change.repeated_steps(&run)).value, 0, "there is more to come");
    bench.change(|change| {
        change.call_came_to(&run, "a".to_owned());
        change.complete_call(&run, &calls[1], told("a"));
    });
    assert_eq!(bench.change(|change| change.repeated_steps(&run)).value, 2);
}

#[test]
fn what_is_remembered_has_a_bound() {
    let mut bench = Bench::new();
    let run = bench.submit("go").value.run_id;
    let results: Vec<String> = (0..400).map(|number| format!("{number:016}")).collect();
    for some in results.chunks(100) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        step(&mut bench, &run, &some);
    }
    let row = serde_json::to_vec(&bench.state.runs[&run].repeats).unwrap();
    assert!(row.len() < 4_096, "{} bytes", row.len());
    assert_eq!(step(&mut bench, &run, &[&results[399]]), 1);
    assert_eq!(step(&mut bench, &run, &[&results[0]]), 0, "it was forgotten");
}
