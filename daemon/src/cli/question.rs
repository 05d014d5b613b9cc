//! Questions of a model: how they are shown at the terminal, and what an answer means there and on the command line.

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
                Ok(answer) => {
                    attention.show(&format!("  = {}", printable(&understood(answer.as_ref(), question))));
                    answers.extend(answer.map(|answer| (question.id.clone(), answer)));
                }
                Err(problem) => {
                    attention.show(&format!("  {}", printable(&problem)));
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
        (false, false, false) => "A letter, number or label",
        (false, false, true) => "A letter, number or label, or your own words",
        (false, true, false) => "Letters, numbers or labels, such as `a c`",
        (false, true, true) => "Letters, numbers or labels, such as `a c`, or your own words",
    }
}

/// What a line says: options by letter, number or label, or text of one's own; none for an empty line. A letter or a number
/// that stands for no option is refused, and is no text of one's own where there are options.
///
/// # Errors
/// A sentence that says what is wrong and what there is.
pub(super) fn read(line: &str, question: &Question) -> Result<Option<QuestionAnswer>, String> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    if question.options.is_empty() {
        // A question without options can only be answered in words.
        return Ok(Some(QuestionAnswer { selected: Vec::new(), other: Some(line.to_owned()) }));
    }
    if let Some(selected) = options(line, question)? {
        if selected.len() > 1 && question.multi_select != Some(true) {
            return Err(format!("Only one of them, please. {}", there_is(question)));
        }
        return Ok(Some(QuestionAnswer { selected, other: None }));
    }
    if words(line).all(looks_chosen) {
        return Err(format!("`{line}` names no option. {}", there_is(question)));
    }
    if question.allow_other == Some(false) {
        return Err(format!("{}, please. {}", how(question), there_is(question)));
    }
    Ok(Some(QuestionAnswer { selected: Vec::new(), other: Some(line.to_owned()) }))
}

/// What an answer was taken for.
pub(super) fn understood(answer: Option<&QuestionAnswer>, question: &Question) -> String {
    let Some(answer) = answer else { return "left to the model".to_owned() };
    let positions = answer.selected.iter().filter_map(|position| usize::try_from(*position).ok());
    let labels = positions.filter_map(|position| question.options.get(position)).map(|option| option.label.clone());
    let other = answer.other.iter().map(|text| format!("in your words: {text}"));
    labels.chain(other).collect::<Vec<_>>().join(", ")
}

/// The positions of the options that a line names; none if there is anything else in it.
fn options(line: &str, question: &Question) -> Result<Option<Vec<u64>>, String> {
    // A label may have blanks and commas in it.
    if let Some(position) = option(line, question)? {
        return Ok(Some(vec![position]));
    }
    let mut positions = Vec::new();
    for part in line.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let named = match option(part, question)? {
            Some(position) => Some(vec![position]),
            None => words(part).map(|word| option(word, question)).collect::<Result<Option<Vec<_>>, _>>()?,
        };
        let Some(named) = named else { return Ok(None) };
        for position in named {
            if !positions.contains(&position) {
                positions.push(position);
            }
        }
    }
    Ok((!positions.is_empty()).then_some(positions))
}

/// The position of the option that a word names: by its label, its letter, or its number from 1 on.
fn option(word: &str, question: &Question) -> Result<Option<u64>, String> {
    let labels = question.options.iter().map(|option| option.label.trim());
    let of_label = labels.clone().position(|label| label == word);
    let letter = word.to_lowercase().parse::<char>().ok();
    let of_letter = ('a'..='z').zip(labels).position(|(candidate, _)| Some(candidate) == letter);
    let number = Some(word).filter(|word| is_number(word)).and_then(|word| word.parse::<usize>().ok());
    let of_number =
        number.and_then(|number| number.checked_sub(1)).filter(|position| *position < question.options.len());
    let mut meant = [of_label, of_letter, of_number].into_iter().flatten();
    let Some(position) = meant.next() else { return Ok(None) };
    if meant.any(|other| other != position) {
        return Err(format!(
            "`{word}` can mean two of them: it is a label, and the place of another. {}",
            there_is(question)
        ));
    }
    Ok(Some(position as u64))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', ',']).filter(|word| !word.is_empty())
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether whoever wrote the word meant an option by it.
fn looks_chosen(word: &str) -> bool {
    is_number(word) || matches!(word.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

/// The options by letter, number and label, and how to say something else.
fn there_is(question: &Question) -> String {
    let options = question.options.iter().zip('a'..).zip(1..);
    let listed: Vec<_> =
        options.map(|((option, letter), number)| format!("[{letter}] or {number} {}", option.label)).collect();
    let own = match question.allow_other {
        Some(false) => "",
        _ => " An answer in your own words is more than a letter or a number.",
    };
    format!("There is: {}.{own}", listed.join(", "))
}

#[cfg(test)]
mod tests;
