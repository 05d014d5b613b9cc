//! The grammar and the choice of the answer, as tables.

use super::*;

fn call(tool: &str, arguments: &str) -> Action {
    Action::Call { tool: tool.to_owned(), arguments: arguments.to_owned() }
}

fn say(words: &[&str]) -> Vec<Action> {
    words.iter().map(|word| Action::Say((*word).to_owned())).collect()
}

fn text(actions: &[Action]) -> String {
    let said = actions.iter().map(|action| match action {
        Action::Say(text) => text.as_str(),
        other => panic!("not text: {other:?}"),
    });
    said.collect()
}

fn first_answer(script: &str) -> Vec<Action> {
    respond(&[Turn::user([script])])
}

#[test]
fn every_instruction_does_what_the_grammar_says() {
    let sleep = |ms| Action::Sleep { ms };
    let fail = |kind| Action::Fail { kind };
    let table = [
        ("call a", vec![call("a", "{}")]),
        ("call a   ", vec![call("a", "{}")]),
        ("call a {\"x\": 1}", vec![call("a", "{\"x\": 1}")]),
        ("call a  {\"x\":1} ", vec![call("a", " {\"x\":1} ")]),
        ("call a {not json", vec![call("a", "{not json")]),
        ("call a {}\ncall b [1]", vec![call("a", "{}"), call("b", "[1]")]),
        ("call a {}\r\ncall b {}\r\n", vec![call("a", "{}"), call("b", "{}")]),
        ("  call a", vec![call("a", "{}")]),
        ("please\ncall a\nthank you", vec![call("a", "{}")]),
        ("say hello there", say(&["hello ", "there"])),
        ("say a\nsay b", say(&["a", "\nb"])),
        ("say a\ncall x\nsay b", [say(&["a"]), vec![call("x", "{}")], say(&["\nb"])].concat()),
        ("think hard", vec![Action::Think("hard".to_owned())]),
        ("sleep 20\nsay x", vec![sleep(20), Action::Say("x".to_owned())]),
        ("sleep 3600000", vec![sleep(3_600_000)]),
        ("fail overloaded", vec![fail(FailKind::Overloaded)]),
        ("say x\nfail cutOff\nsay never", [say(&["x"]), vec![fail(FailKind::CutOff)]].concat()),
        ("then say x", say(&["x"])),
        ("say x\nthen\nsay y", say(&["x"])),
    ];
    for (script, expected) in table {
        assert_eq!(first_answer(script), expected, "{script:?}");
    }
}

#[test]
fn what_is_no_instruction_is_plain_input() {
    for input in [
        "hello",
        "Call a",
        "callous a",
        "call",
        "say ",
        "think",
        "sleep well",
        "sleep -1",
        "sleep 3600001",
        "fail miserably",
        "fail",
        "then",
        "then we went home",
        "thenceforth say x",
        "",
    ] {
        let expected = format!("You said: {input}");
        assert_eq!(text(&first_answer(input)), expected, "{input:?}");
    }
}

#[test]
fn plain_input_is_answered_a_delta_a_word() {
    assert_eq!(first_answer("one  two\nthree"), say(&["You ", "said: ", "one  ", "two\n", "three"]));
}

#[test]
fn every_kind_of_failure_has_a_word() {
    for kind in FailKind::ALL {
        assert_eq!(first_answer(&format!("fail {}", kind.word())), [Action::Fail { kind: *kind }]);
    }
}

#[test]
fn block_k_answers_the_kth_request_and_the_report_comes_last() {
    let mut chat = vec![Turn::user(["call a {}\ncall b {}\nthen think x\ncall c {}"])];
    assert_eq!(respond(&chat), [call("a", "{}"), call("b", "{}")]);
    chat.extend([Turn::assistant(["a", "b"]), Turn::result("a", ["1", "ignored"]), Turn::result("b", ["2"])]);
    assert_eq!(respond(&chat), [Action::Think("x".to_owned()), call("c", "{}")]);
    chat.extend([Turn::assistant(["ns__c"]), Turn::result("ns__c", Vec::<String>::new())]);
    assert_eq!(text(&respond(&chat)), "a: 1\nb: 2\nc: ");
    chat.extend([Turn::assistant(Vec::<String>::new()), Turn::user(["thanks"])]);
    assert_eq!(text(&respond(&chat)), "You said: thanks");
}

#[test]
fn a_report_about_other_calls_than_the_scripts_names_those() {
    let chat = [Turn::user(["call a {}"]), Turn::assistant(["other"]), Turn::result("other", ["1"])];
    assert_eq!(text(&respond(&chat)), "other: 1");
}

#[test]
fn a_script_that_ends_without_calls_has_nothing_to_report() {
    let mut chat = vec![Turn::user(["call a {}\nthen say done"])];
    chat.extend([Turn::assistant(["a"]), Turn::result("a", ["1"])]);
    assert_eq!(respond(&chat), say(&["done"]));
    chat.extend([Turn::assistant(Vec::<String>::new()), Turn::user(["next"])]);
    assert_eq!(text(&respond(&chat)), "You said: next");
}

#[test]
fn plain_messages_before_the_end_of_a_script_do_not_change_it() {
    let mut chat = vec![Turn::user(["say one\nthen call a {}"]), Turn::user(["hurry"])];
    assert_eq!(respond(&chat), say(&["one"]));
    chat.extend([Turn::assistant(Vec::<String>::new()), Turn::user(["still there?"])]);
    assert_eq!(respond(&chat), [call("a", "{}")]);
    chat.extend([Turn::assistant(["a"]), Turn::result("a", ["1"]), Turn::user(["and now?"])]);
    assert_eq!(text(&respond(&chat)), "a: 1");
}

#[test]
fn a_newer_script_replaces_the_older_one_at_once() {
    let chat = [Turn::user(["say one\nthen say two"]), Turn::assistant(Vec::<String>::new()), Turn::user(["say new"])];
    assert_eq!(respond(&chat), say(&["new"]));
}

#[test]
fn parts_of_a_message_are_lines_of_their_own() {
    assert_eq!(respond(&[Turn::user(["call a", "{}"])]), [call("a", "{}")]);
    assert_eq!(respond(&[Turn::user(["hello", "say x"])]), say(&["x"]));
}

#[test]
fn a_name_is_flat_or_bare_or_kept_as_written() {
    let names = ["ask", "mcp_app__ask_user", "tracker__get_issue", "mcp_hub__tracker__get_issue"];
    for (tool, expected) in [
        ("ask", "ask"),
        ("ask_user", "mcp_app__ask_user"),
        ("mcp_app__ask_user", "mcp_app__ask_user"),
        ("get_issue", "tracker__get_issue"),
        ("hub__tracker__get_issue", "hub__tracker__get_issue"),
        ("user", "user"),
        ("no_such_tool", "no_such_tool"),
    ] {
        assert_eq!(resolve_name(tool, names), expected, "{tool}");
    }
}
