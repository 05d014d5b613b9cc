//! Decides what answers a request: a block of the script, its report, or an echo of plain input.

use crate::{
    Action, Turn,
    grammar::{Instruction, blocks},
    names::means,
};

/// What the model does when it is asked with this conversation, oldest message first.
#[must_use]
pub fn respond(conversation: &[Turn]) -> Vec<Action> {
    let Some((start, text)) = last_script(conversation) else { return echo(conversation) };
    let blocks = blocks(&text);
    let after = &conversation[start + 1..];
    let answered = after.iter().filter(|turn| matches!(turn, Turn::Assistant(_))).count();
    match blocks.get(answered) {
        Some(block) => perform(block),
        None if answered == blocks.len() && makes_calls(after) => report(&blocks, after),
        None => echo(conversation),
    }
}

/// The last user message with an instruction: its place and its text.
fn last_script(conversation: &[Turn]) -> Option<(usize, String)> {
    conversation.iter().enumerate().rev().find_map(|(place, turn)| {
        let text = user_text(turn)?;
        let is_script = !blocks(&text).is_empty();
        is_script.then_some((place, text))
    })
}

/// Parts are lines of their own: two parts never make one instruction.
fn user_text(turn: &Turn) -> Option<String> {
    match turn {
        Turn::User(texts) => Some(texts.join("\n")),
        _ => None,
    }
}

/// Whether the last answer made calls, so that there is something to report.
fn makes_calls(turns: &[Turn]) -> bool {
    let last = turns.iter().rev().find_map(|turn| match turn {
        Turn::Assistant(calls) => Some(calls),
        _ => None,
    });
    last.is_some_and(|calls| !calls.is_empty())
}

fn perform(block: &[Instruction<'_>]) -> Vec<Action> {
    let (mut actions, mut said, mut thought) = (Vec::new(), false, false);
    for instruction in block {
        match *instruction {
            Instruction::Say(text) => {
                let line = next_line(&mut said, text);
                actions.extend(words(&line).map(Action::Say));
            }
            Instruction::Think(text) => {
                let line = next_line(&mut thought, text);
                actions.extend(words(&line).map(Action::Think));
            }
            Instruction::Call { tool, arguments } => {
                actions.push(Action::Call { tool: tool.to_owned(), arguments: arguments.to_owned() });
            }
            Instruction::Sleep(ms) => actions.push(Action::Sleep { ms }),
            Instruction::Fail(kind) => {
                actions.push(Action::Fail { kind });
                break;
            }
        }
    }
    actions
}

fn next_line(begun: &mut bool, text: &str) -> String {
    let separator = if std::mem::replace(begun, true) { "\n" } else { "" };
    format!("{separator}{text}")
}

fn report(blocks: &[Vec<Instruction<'_>>], turns: &[Turn]) -> Vec<Action> {
    let mut blocks = blocks.iter();
    let mut calls = Vec::new().into_iter();
    let mut lines = Vec::new();
    for turn in turns {
        match turn {
            Turn::User(_) => {}
            Turn::Assistant(_) => calls = blocks.next().map(calls_of).unwrap_or_default().into_iter(),
            Turn::Result { tool, texts } => {
                // The script's own word for the tool, unless the history tells of another call.
                let written = calls.next().filter(|written| means(written, tool)).unwrap_or(tool);
                lines.push(format!("{written}: {}", texts.first().map_or("", String::as_str)));
            }
        }
    }
    words(&lines.join("\n")).map(Action::Say).collect()
}

fn calls_of<'a>(block: &Vec<Instruction<'a>>) -> Vec<&'a str> {
    let calls = block.iter().filter_map(|instruction| match *instruction {
        Instruction::Call { tool, .. } => Some(tool),
        _ => None,
    });
    calls.collect()
}

fn echo(conversation: &[Turn]) -> Vec<Action> {
    let input = conversation.iter().rev().find_map(user_text).unwrap_or_default();
    words(&format!("You said: {input}")).map(Action::Say).collect()
}

/// The words of a text, each with the blanks behind it: joined, they are the text.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.find(|c: char| !c.is_whitespace())?;
        let blank = rest[word..].find(char::is_whitespace).map_or(rest.len(), |at| word + at);
        let end = rest[blank..].find(|c: char| !c.is_whitespace()).map_or(rest.len(), |at| blank + at);
        let (head, tail) = rest.split_at(end);
        rest = tail;
        Some(head.to_owned())
    })
}
