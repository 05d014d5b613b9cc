//! Reads a message as blocks of instructions.

use crate::FailKind;

/// The longest wait a script can ask for in one line: an hour.
pub const MAX_SLEEP_MS: u64 = 3_600_000;

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instruction<'a> {
    Call { tool: &'a str, arguments: &'a str },
    Say(&'a str),
    Think(&'a str),
    Sleep(u64),
    Fail(FailKind),
}

/// The blocks of a message, each with at least one instruction; none for plain text.
pub(crate) fn blocks(text: &str) -> Vec<Vec<Instruction<'_>>> {
    let mut blocks = vec![Vec::new()];
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line).trim_start();
        let rest = match split_word(line) {
            ("then", rest) => {
                blocks.push(Vec::new());
                rest.trim_start()
            }
            _ => line,
        };
        if let (Some(instruction), Some(block)) = (instruction(rest), blocks.last_mut()) {
            block.push(instruction);
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

fn instruction(line: &str) -> Option<Instruction<'_>> {
    let (word, rest) = split_word(line);
    let operand = Some(rest.trim()).filter(|rest| !rest.is_empty())?;
    match word {
        "call" => {
            let (tool, arguments) = split_word(rest.trim_start());
            let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
            Some(Instruction::Call { tool, arguments })
        }
        "say" => Some(Instruction::Say(rest)),
        "think" => Some(Instruction::Think(rest)),
        "sleep" => operand.parse().ok().filter(|ms| *ms <= MAX_SLEEP_MS).map(Instruction::Sleep),
        "fail" => FailKind::from_word(operand).map(Instruction::Fail),
        _ => None,
    }
}

/// The first word of a line and what follows the one blank behind it.
fn split_word(line: &str) -> (&str, &str) {
    line.split_once([' ', '\t']).unwrap_or((line, ""))
}
