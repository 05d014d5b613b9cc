//! `ropewalk answer`: deciding an approval or answering a question from any terminal.

use std::collections::BTreeMap;

use clap::Args;
use ropewalk::{Client, IntoInputAnswer as _};
use ropewalk_protocol::{
    ApprovalAnswer, ApprovalRequest, Decision, DecisionScope, InputAnswer, InputRequest, Interaction,
    InteractionAnswered, InteractionBody, InteractionId, InteractionSettleParams, Outcome, Question, QuestionAnswer,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    approve,
    failure::{Exit, Failure},
    pending::{asked, holders, open},
    person::Person,
    question,
    session::Context,
    text::one_line,
    words::{spelled, words},
};

/// Characters of a question beside what it was taken to be answered with.
const QUESTION_CHARACTERS: usize = 60;

/// Answer an approval or a question that waits
///
/// An approval takes one word: `accept`, `accept-for-session` (this tool for the rest of the thread), `accept-always` (for
/// the project, or everywhere with `--scope global`), `decline`, or `cancel`, which also stops the run. Questions take an
/// answer each, in order: the number, letter or label of an option, several as `1,3`, or words of your own; an empty one,
/// `""`, leaves that question to the model. What was understood is printed. Without an answer you are asked at the terminal.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk pending
  ropewalk answer 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 accept
  ropewalk answer 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 decline --note \"Not on a Friday.\"
  ropewalk answer 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 2 \"after 18:00\"
  ropewalk answer 1")]
pub(crate) struct AnswerArgs {
    /// What is answered: its id, or at a terminal its number in `pending`
    #[arg(value_name = "ID")]
    id: String,
    /// The answer; for several questions one each, `""` for one that is left to the model
    #[arg(value_name = "ANSWER")]
    answers: Vec<String>,
    /// Where `accept-always` holds
    #[arg(long, value_name = "project|global", value_parser = words::<DecisionScope>(&["project", "global"]))]
    scope: Option<DecisionScope>,
    /// What the model is told of a decision
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Decline an approval, or have the model stop asking
    #[arg(long, conflicts_with_all = ["answers", "scope", "note"])]
    decline: bool,
}

/// Runs it.
pub(crate) async fn run(args: AnswerArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let items = open(&client, None).await?;
    let person = Person::find(&context.out);
    let item = match find(&items, &args, person.is_some())? {
        Some(item) => item,
        // Not open: the daemon says whether it was settled, by whom, or never was. An empty answer is none in any case.
        None => return settle(&client, args.id.as_str().into(), json!({}), context, "").await,
    };
    let answer = answer(item, &args, person.as_ref(), context.environment.program()).await?;
    let taken = if args.answers.is_empty() { String::new() } else { taken(item, &answer) };
    settle(&client, item.interaction_id.clone(), answer, context, &format!("{}{taken}", asked(item))).await
}

/// What each question was taken to be answered with, a line each.
fn taken(item: &Interaction, answer: &Value) -> String {
    let InteractionBody::Input(request) = &item.body else { return String::new() };
    let answers = serde_json::from_value::<InputAnswer>(answer.clone()).ok().and_then(|answer| answer.answers);
    let answers = answers.unwrap_or_default();
    let line = |asked: &Question| {
        format!(
            "\n  {} = {}",
            one_line(&asked.text, QUESTION_CHARACTERS),
            question::understood(answers.get(&asked.id), asked)
        )
    };
    request.questions.iter().map(line).collect()
}

/// What is meant: an id, or a number where a person sees what it stands for before they answer.
fn find<'a>(items: &'a [Interaction], args: &AnswerArgs, is_asked: bool) -> Result<Option<&'a Interaction>, Failure> {
    let Ok(number) = args.id.parse::<usize>() else {
        return Ok(items.iter().find(|item| item.interaction_id.as_str() == args.id));
    };
    if !is_asked || !args.answers.is_empty() || args.decline {
        let message = "A number may stand for something else by now, so it takes no answer with it. Name the id that `pending` shows.";
        return Err(Failure::Usage(message.to_owned()));
    }
    let item = number.checked_sub(1).and_then(|position| items.get(position));
    let many = items.len();
    item.map(Some)
        .ok_or_else(|| Failure::Failed(format!("Nothing has number {number}: {many} wait. `pending` lists them.")))
}

async fn answer(
    item: &Interaction,
    args: &AnswerArgs,
    person: Option<&Person>,
    program: &str,
) -> Result<Value, Failure> {
    let is_given = !args.answers.is_empty() || args.decline;
    match &item.body {
        InteractionBody::ToolCall(_) => {
            let (who, thread) = (holders(item), &item.thread_id);
            let message = format!(
                "This is a tool call, and only the program whose tool it is can answer it: {who}. `{program} stop {thread}` \
                 ends the run."
            );
            Err(Failure::Failed(message))
        }
        InteractionBody::Approval(request) if is_given => Ok(as_json(&decision(request, args)?)),
        InteractionBody::Input(request) if is_given => Ok(as_json(&answers(request, args)?)),
        InteractionBody::Approval(request) => match person {
            Some(person) => Ok(as_json(&approve::ask(person, request).await)),
            None => Err(no_terminal(&format!("an answer: {}", listed(&request.choices)))),
        },
        InteractionBody::Input(request) => match person {
            Some(person) => {
                let reply = question::ask(person, request).await;
                Ok(reply
                    .into_input_answer()
                    .map(|answer| as_json(&answer))
                    .unwrap_or_else(|| json!({"declined": true})))
            }
            None => Err(no_terminal(&format!("{} answers, one a question", request.questions.len()))),
        },
    }
}

fn no_terminal(wanted: &str) -> Failure {
    Failure::Usage(format!("There is no terminal to ask at. Give {wanted}."))
}

/// The decision about a call.
fn decision(request: &ApprovalRequest, args: &AnswerArgs) -> Result<ApprovalAnswer, Failure> {
    let choices = || listed(&request.choices);
    if args.decline {
        return Ok(ApprovalAnswer { decision: Decision::Decline, scope: None, note: None });
    }
    let [word] = &args.answers[..] else {
        let message = format!("An approval takes one answer: {}.", choices());
        return Err(Failure::Usage(message));
    };
    let decision = request.choices.iter().copied().find(|choice| spelled(choice) == *word);
    let decision =
        decision.ok_or_else(|| Failure::Usage(format!("`{word}` is no answer here. There is: {}.", choices())))?;
    if args.scope.is_some() && decision != Decision::AcceptAlways {
        return Err(Failure::Usage("--scope goes with `accept-always`.".to_owned()));
    }
    Ok(ApprovalAnswer { decision, scope: args.scope, note: args.note.clone() })
}

fn listed(choices: &[Decision]) -> String {
    choices.iter().map(spelled).collect::<Vec<_>>().join(", ")
}

/// The answers to questions.
fn answers(request: &InputRequest, args: &AnswerArgs) -> Result<InputAnswer, Failure> {
    if args.scope.is_some() || args.note.is_some() {
        return Err(Failure::Usage("--scope and --note go with approvals; this is a question.".to_owned()));
    }
    if args.decline {
        return Ok(InputAnswer { declined: Some(true), ..InputAnswer::default() });
    }
    let mut found = BTreeMap::new();
    for (question, given) in request.questions.iter().zip(&args.answers) {
        if let Some(answer) = one(question, given)? {
            found.insert(question.id.clone(), answer);
        }
    }
    let (given, asked) = (args.answers.len(), request.questions.len());
    if given != asked {
        let message = format!(
            "Answers given: {given}, questions asked: {asked}. Give one each, in order; `\"\"` leaves a question to the \
             model. Quote an answer of several words."
        );
        return Err(Failure::Usage(message));
    }
    if found.is_empty() {
        return Ok(InputAnswer { dismissed: Some(true), ..InputAnswer::default() });
    }
    Ok(InputAnswer { answers: Some(found), ..InputAnswer::default() })
}

/// The answer to one question, as at the terminal.
fn one(question: &Question, given: &str) -> Result<Option<QuestionAnswer>, Failure> {
    question::read(given, question)
        .map_err(|problem| Failure::Usage(format!("`{given}` does not answer \"{}\". {problem}", question.text)))
}

fn as_json(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("an answer of ours can be written")
}

async fn settle(
    client: &Client,
    interaction_id: InteractionId,
    answer: Value,
    context: &Context,
    asked: &str,
) -> Result<Exit, Failure> {
    let params = InteractionSettleParams { interaction_id, answer, operation_id: None };
    let settled: InteractionAnswered = client.interactions().settle(params).await?;
    let word = match settled.outcome {
        Outcome::Declined => "Declined",
        _ => "Answered",
    };
    context.result(&settled, &format!("{word}: {asked}"));
    Ok(Exit::DONE)
}

#[cfg(test)]
mod tests;
