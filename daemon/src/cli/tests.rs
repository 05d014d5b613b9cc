//! The arguments: what is understood, what is refused, and what help says.

mod authority;
mod branches;
mod commands;
mod recovering;
mod refused;
mod searching;

use clap::{CommandFactory, Parser};

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(std::iter::once("ropewalk").chain(line.split(' ')))
}

fn refused(line: &str) -> ErrorKind {
    parse(line).expect_err(line).kind()
}

#[test]
fn the_arguments_are_declared_consistently() {
    Cli::command().debug_assert();
}

#[test]
fn the_help_of_every_command_has_an_example_and_a_first_sentence() {
    fn check(command: &clap::Command) {
        let name = command.get_name();
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Example"), "`{name} --help` has no example");
        assert!(help.contains("\n  ropewalk "), "the examples of `{name}` do not say what to type");
        assert!(command.get_about().is_some(), "`{name}` does not say what it does");
        let is_for_people = |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
        command.get_subcommands().filter(is_for_people).for_each(check);
    }
    check(&Cli::command());
}

#[test]
fn every_argument_says_what_it_is_for() {
    fn check(command: &clap::Command) {
        for argument in
            command.get_arguments().filter(|argument| !["help", "version"].contains(&argument.get_id().as_str()))
        {
            assert!(argument.get_help().is_some(), "`{} {}` has no help", command.get_name(), argument.get_id());
        }
        command.get_subcommands().filter(|command| command.get_name() != "help").for_each(check);
    }
    let mut cli = Cli::command();
    cli.build();
    check(&cli);
}

#[test]
fn every_example_of_the_help_is_understood() {
    let mut examples = Vec::new();
    collect_examples(&Cli::command(), &mut examples);
    assert!(examples.len() > 20, "{examples:?}");
    for example in examples {
        assert!(Cli::try_parse_from(shell_words(&example)).is_ok(), "{example}");
    }
}

#[test]
fn every_command_of_the_page_about_endpoints_is_understood() {
    let page = include_str!("../../../docs/endpoints.md");
    let quoted = page.split('`').skip(1).step_by(2);
    let commands: Vec<_> = quoted.filter(|text| text.starts_with("ropewalk endpoint add ")).collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in commands {
        assert!(Cli::try_parse_from(shell_words(command)).is_ok(), "{command}");
    }
}

/// What the examples of a command and of those below it call this program with.
fn collect_examples(command: &clap::Command, into: &mut Vec<String>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let calls = help.lines().filter(|line| line.starts_with("  "));
    into.extend(calls.filter_map(|line| Some(line[line.find("ropewalk ")?..].to_owned())));
    command.get_subcommands().for_each(|command| collect_examples(command, into));
}

/// The words of a line up to what is the shell's; what stands between quotes is one word.
fn shell_words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_quoted = false;
    for word in line.split(' ').take_while(|word| !matches!(*word, "|" | "<" | ">")) {
        match words.last_mut() {
            Some(last) if is_quoted => last.push_str(word),
            _ => words.push(word.trim_start_matches('"').to_owned()),
        }
        is_quoted ^= word.matches('"').count() % 2 == 1;
    }
    words
}

#[test]
fn flags_of_all_commands_stand_before_or_behind_the_command() {
    for line in ["--json --home /h threads", "threads --json --home /h", "endpoint list --json --home /h"] {
        let cli = parse(line).unwrap();
        assert!(cli.global.json, "{line}");
        assert_eq!(cli.global.home.as_deref(), Some(std::path::Path::new("/h")), "{line}");
    }
}

#[test]
fn a_thread_is_named_once() {
    assert!(parse("run --continue hello").is_ok());
    assert_eq!(refused("run --continue --thread t hello"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("run --continue --title t hello"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("run --thread t --project p hello"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("run --unattended never hello"), ErrorKind::InvalidValue);
    assert_eq!(refused("run"), ErrorKind::MissingRequiredArgument);
    assert!(parse("run --image a.png").is_ok());
    assert!(parse("run --image a.png --image b.jpg what").is_ok());
    let advised = |line: &str| is_prompt_without_quotes(&parse(line).unwrap_err());
    assert!(advised("run say hello") && !advised("run --colour") && !advised("threads show a b"));
}

#[test]
fn a_key_is_never_an_argument() {
    assert!(parse("endpoint key work").is_ok());
    assert!(parse("endpoint add work --url http://localhost/v1 --model m --key-env WORK_KEY").is_ok());
    assert_eq!(refused("endpoint add work --model m --key secret"), ErrorKind::UnknownArgument);
    assert_eq!(refused("endpoint key work secret"), ErrorKind::UnknownArgument);
    assert_eq!(refused("endpoint key work --key-stdin --key-env WORK_KEY"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("endpoint key work --remove --key-env WORK_KEY"), ErrorKind::ArgumentConflict);
}

#[test]
fn a_rule_is_about_a_tool_or_a_source_at_one_level() {
    assert!(parse("policy set allow --tool client:bot/get_issue").is_ok());
    assert!(parse("policy set deny --source client:bot --thread t --principal app:mail").is_ok());
    assert_eq!(refused("policy set allow"), ErrorKind::MissingRequiredArgument);
    let missing = parse("policy set allow").unwrap_err().to_string();
    assert!(missing.contains("--tool <SOURCE/NAME>") && missing.contains("--source <SOURCE>"), "{missing}");
    assert_eq!(refused("policy set allow --tool a/b --source a"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("policy set allow --tool a/b --thread t --project p"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("policy set allow --tool get_issue"), ErrorKind::ValueValidation);
    assert_eq!(refused("policy set maybe --tool a/b"), ErrorKind::InvalidValue);
}

#[test]
fn settings_are_shown_unless_something_is_set() {
    assert!(parse("settings").is_ok());
    assert!(parse("settings set --idle-exit-ms never").is_ok());
    assert_eq!(refused("settings set"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("settings set --approval-ms soon"), ErrorKind::ValueValidation);
}

#[test]
fn a_daemon_takes_its_places_and_its_patience() {
    assert!(parse("daemon --home /h --socket /s --idle-exit-ms 900000 --log debug").is_ok());
    assert!(parse("daemon --idle-exit-ms never --log-json").is_ok());
    assert!(parse("daemon --secret-store keyring").is_ok());
    assert_eq!(refused("daemon --secret-store vault"), ErrorKind::ValueValidation);
    assert_eq!(refused("daemon --idle-exit-ms 5"), ErrorKind::ValueValidation);
}
