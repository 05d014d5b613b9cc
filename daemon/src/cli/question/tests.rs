//! What a person sees of a question, and what the answers mean.

use ropewalk_protocol::QuestionOption;

use super::*;
use crate::cli::{out::testing::captured, person::testing::person};

fn question(id: &str, options: &[&str]) -> Question {
    let options =
        options.iter().map(|label| QuestionOption { label: (*label).to_owned(), description: None, recommended: None });
    Question {
        id: id.to_owned(),
        text: "Which one?".to_owned(),
        label: None,
        options: options.collect(),
        multi_select: None,
        allow_other: None,
    }
}

fn request(questions: Vec<Question>) -> InputRequest {
    InputRequest {
        interaction_id: "int-1".into(),
        thread_id: "th-1".into(),
        run_id: "run-1".into(),
        call_id: "call-1".into(),
        attempt: 1,
        questions,
        path: Vec::new(),
        expires_at: None,
    }
}

fn selected(positions: &[u64]) -> QuestionAnswer {
    QuestionAnswer { selected: positions.to_vec(), other: None }
}

#[tokio::test]
async fn options_are_letters_and_words_are_an_answer_of_ones_own() {
    let (out, _, stderr) = captured(true);
    let mut first = question("env", &["staging", "production"]);
    first.options[0].recommended = Some(true);
    first.options[1].description = Some("real users".to_owned());
    let asked = request(vec![first, question("when", &["now", "tonight"]), question("why", &[])]);
    let reply = ask(&person(&["b", "after six", ""], &out), &asked).await;
    let other = QuestionAnswer { selected: Vec::new(), other: Some("after six".to_owned()) };
    let answers = BTreeMap::from([("env".to_owned(), selected(&[1])), ("when".to_owned(), other)]);
    assert_eq!(reply, InputReply::Answers(answers));
    let text = stderr.text();
    let taken = ["  = production\n", "  = in your words: after six\n", "  = left to the model\n"];
    assert!(taken.iter().all(|line| text.contains(line)), "{text}");
    assert!(
        text.contains("? Which one? (question 1 of 3)\n  [a] staging (recommended)\n  [b] production: real users\n")
    );
    assert!(
        text.contains("  A letter, number or label, or your own words; Enter leaves it to the model\n  > "),
        "{text}"
    );
}

#[tokio::test]
async fn what_does_not_fit_is_asked_again() {
    let (out, _, stderr) = captured(true);
    let mut closed = question("env", &["staging", "production"]);
    closed.allow_other = Some(false);
    let reply = ask(&person(&["a b", "c", "maybe", "A"], &out), &request(vec![closed])).await;
    assert_eq!(reply, InputReply::Answers(BTreeMap::from([("env".to_owned(), selected(&[0]))])));
    assert!(stderr.text().contains("Only one of them, please."));
    assert!(stderr.text().contains("`c` names no option. There is: [a] or 1 staging, [b] or 2 production.\n"));
    assert_eq!(stderr.text().matches("A letter, number or label, please.").count(), 1);
}

#[test]
fn an_option_is_named_by_its_number_its_letter_or_its_label() {
    let mut asked = question("env", &["staging", "real, with users"]);
    for line in ["2", "b", "B", " real, with users "] {
        assert_eq!(read(line, &asked), Ok(Some(selected(&[1]))), "{line}");
    }
    for line in ["0", "3", "7", "c", "7 c"] {
        let refused = read(line, &asked).unwrap_err();
        assert!(refused.starts_with(&format!("`{line}` names no option. There is: [a] or 1 staging")), "{refused}");
        assert!(refused.ends_with("more than a letter or a number."), "{refused}");
    }
    let own = QuestionAnswer { selected: Vec::new(), other: Some("7 of them".to_owned()) };
    assert_eq!(read("7 of them", &asked), Ok(Some(own)));
    asked.multi_select = Some(true);
    assert_eq!(read("2, staging", &asked), Ok(Some(selected(&[1, 0]))));
    assert!(read("1,7", &asked).is_err(), "no part of an answer is left out");
    assert_eq!(read("7", &question("many", &[])).unwrap().unwrap().other.as_deref(), Some("7"));
}

#[test]
fn what_can_mean_two_options_is_asked_again() {
    let asked = question("many", &["2", "5"]);
    assert!(read("2", &asked).unwrap_err().starts_with("`2` can mean two of them"));
    assert_eq!((read("a", &asked), read("5", &asked)), (Ok(Some(selected(&[0]))), Ok(Some(selected(&[1])))));
}

#[tokio::test]
async fn several_letters_are_several_positions_where_that_is_asked() {
    let (out, ..) = captured(true);
    let mut many = question("which", &["one", "two", "three"]);
    many.multi_select = Some(true);
    let reply = ask(&person(&["c, a c"], &out), &request(vec![many])).await;
    assert_eq!(reply, InputReply::Answers(BTreeMap::from([("which".to_owned(), selected(&[2, 0]))])));
}

#[tokio::test]
async fn nothing_answered_leaves_it_to_the_model_and_the_end_of_input_declines() {
    let (out, ..) = captured(true);
    let asked = request(vec![question("a", &["x"]), question("b", &[])]);
    assert_eq!(ask(&person(&["", ""], &out), &asked).await, InputReply::Dismissed);
    assert_eq!(ask(&person(&["a"], &out), &asked).await, InputReply::Declined);
}
