//! Questions of a model at the terminal: options as letters, or words of one's own.

use std::collections::BTreeMap;

use ropewalk::{InputReply, Questions};
use ropewalk_protocol::{InputRequest, Question, QuestionAnswer};

use super::{
    out::{Out, Style},
    person::{Attention, Person},
    seen::Seen,
    text::printable,
};

/// How a command answers questions.
#[derive(Clone)]
pub(crate) enum Answerer {
    /// It asks.
    Person(Person, Seen),
    /// It answers none, for this reason.
    Nobody(&'static str),
}

impl Answerer {
    /// Answers; none when the answer is not needed any more.
    pub(crate) async fn answer(&self, questions: &Questions, out: &Out) -> Option<InputReply> {
        match self {
            Self::Person(person, seen) => tokio::select! {
                reply = async {
                    seen.call(&questions.call_id).await;
                    ask(person, questions).await
                } => Some(reply),
                () = questions.cancelled() => None,
            },
            Self::Nobody(reason) => {
                let first = questions.questions.first().map(|question| printable(&question.text)).unwrap_or_default();
                out.note(&format!("{} \"{first}\": {reason}", out.paint_note(Style::Yellow, "not answered")));
                Some(InputReply::Declined)
            }
        }
    }
}

/// Asks one question after the other. Enter leaves one to the model, Ctrl-D declines them all.
pub(crate) async fn ask(person: &Person, request: &InputRequest) -> InputReply {
    let mut attention = person.attention().await;
    let mut answers = BTreeMap::new();
    for (position, question) in request.questions.iter().enumerate() {
        show(&attention, question, position + 1, request.questions.len());
        loop {
            let Some(line) = attention.ask("  > ").await else { return InputReply::Declined };
            match read(&line, question) {
                Ok(Some(answer)) => drop(answers.insert(question.id.clone(), answer)),
                Ok(None) => {}
                Err(problem) => {
                    attention.show(&format!("  {problem}"));
                    continue;
                }
            }
            break;
        }
    }
    if answers.is_empty() { InputReply::Dismissed } else { InputReply::Answers(answers) }
}

fn show(attention: &Attention<'_>, question: &Question, position: usize, total: usize) {
    let out = attention.out();
    let label = question.label.as_ref().map(|label| format!("{label}: ")).unwrap_or_default();
    let text = out.paint_note(Style::Bold, &printable(&format!("{label}{}", question.text)));
    let which = if total > 1 { format!(" (question {position} of {total})") } else { String::new() };
    attention.show(&format!("{} {text}{which}", out.paint_note(Style::Yellow, "?")));
    for (option, letter) in question.options.iter().zip('a'..) {
        let recommended = if option.recommended == Some(true) { " (recommended)" } else { "" };
        let description = option.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        attention.show(&format!("  [{letter}] {}{recommended}", printable(&format!("{}{description}", option.label))));
    }
    attention.show(&out.paint_note(Style::Dim, &format!("  {}; Enter leaves it to the model", how(question))));
}

/// How the question can be answered.
fn how(question: &Question) -> &'static str {
    let is_open = question.allow_other != Some(false);
    match (question.options.is_empty(), question.multi_select == Some(true), is_open) {
        (true, ..) => "In your words",
        (false, false, false) => "One letter",
        (false, false, true) => "One letter, or your own words",
        (false, true, false) => "Letters, such as `a c`",
        (false, true, true) => "Letters, such as `a c`, or your own words",
    }
}

/// What a line says: positions, or text of one's own; none for an empty line.
fn read(line: &str, question: &Question) -> Result<Option<QuestionAnswer>, String> {
    if line.is_empty() {
        return Ok(None);
    }
    if let Some(selected) = letters(line, question.options.len()) {
        if selected.len() > 1 && question.multi_select != Some(true) {
            return Err("Only one of them, please.".to_owned());
        }
        return Ok(Some(QuestionAnswer { selected, other: None }));
    }
    // A question without options can only be answered in words.
    if question.allow_other == Some(false) && !question.options.is_empty() {
        return Err(format!("{}, please.", how(question)));
    }
    Ok(Some(QuestionAnswer { selected: Vec::new(), other: Some(line.to_owned()) }))
}

/// The positions that letters between blanks and commas stand for; none if there is anything else.
fn letters(line: &str, options: usize) -> Option<Vec<u64>> {
    let mut positions = Vec::new();
    for word in line.split([' ', ',']).filter(|word| !word.is_empty()) {
        let letter: char = word.to_lowercase().parse().ok()?;
        let position = ('a'..).take(options).position(|candidate| candidate == letter)? as u64;
        if !positions.contains(&position) {
            positions.push(position);
        }
    }
    (!positions.is_empty()).then_some(positions)
}

#[cfg(test)]
mod tests;
