//! What a server may be started with.

use std::{collections::BTreeMap, path::Path};

use ropewalk_protocol::ServerAddParams;

use super::{Refusal, ServerRecord, rules};

/// Servers of one daemon beside those that are part of it (MCP-130).
pub(super) const SERVERS: usize = 256;

/// Characters of a name (MCP-129).
const NAME_CHARACTERS: usize = 120;

/// Characters of a command.
const COMMAND_CHARACTERS: usize = 4_096;

/// Arguments, and characters of one.
const ARGUMENTS: usize = 128;
const ARGUMENT_CHARACTERS: usize = 8_192;

/// Variables, characters of the name of one, and of its value.
const VARIABLES: usize = 64;
const VARIABLE_CHARACTERS: usize = 128;
const VALUE_CHARACTERS: usize = 32_768;

/// Checks what is said of a new server, and gives its command.
pub(super) fn check_new(params: &ServerAddParams) -> Result<String, Refusal> {
    if params.url.is_some() {
        let message = "Servers with an address cannot be added in this version: it reaches servers that are programs on this \
                       computer. Name the program as `command`; many servers with an address have one that forwards to it.";
        return Err(Refusal::invalid("/url", "transport_not_supported", message));
    }
    for (path, is_there) in
        [("/token", params.token.is_some()), ("/privateNetwork", params.private_network == Some(true))]
    {
        if is_there {
            let message = "Only a server with an address has this, and this version has none of those. Leave it out; a \
                           program gets its secrets in `env`.";
            return Err(Refusal::invalid(path, "transport_not_supported", message));
        }
    }
    let command = rules::required("/command", params.command.clone(), "A server")?;
    check_command(&command)?;
    check_name(params.name.as_deref())?;
    check_arguments(params.args.as_deref())?;
    check_variables(params.env.as_ref())?;
    Ok(command)
}

/// A name, where there is one.
pub(super) fn check_name(name: Option<&str>) -> Result<(), Refusal> {
    let Some(name) = name else { return Ok(()) };
    let characters = name.chars().count();
    if characters > NAME_CHARACTERS {
        let message = format!("The name has {characters} characters; at most {NAME_CHARACTERS} are allowed.");
        return Err(Refusal::invalid("/name", "name_too_long", message));
    }
    if is_reserved(name) {
        let message = format!(
            "\"{name}\" is what a part of the daemon is called, and two of one name cannot be told apart where somebody \
             decides about them. Choose another name."
        );
        return Err(Refusal::invalid("/name", "name_reserved", message));
    }
    rules::name("/name", name)
}

/// Whether a name is, but for capitals and blanks around it, the id or the name of a server that is part of the daemon.
pub(super) fn is_reserved(name: &str) -> bool {
    let is_called = |record: &ServerRecord, name: &str| {
        record.server_id.as_str().eq_ignore_ascii_case(name) || record.name.eq_ignore_ascii_case(name)
    };
    ServerRecord::builtin().iter().any(|record| is_called(record, name.trim()))
}

fn check_command(command: &str) -> Result<(), Refusal> {
    rules::line("/command", command, COMMAND_CHARACTERS)?;
    let has_folder = command.contains(std::path::is_separator);
    if has_folder && !Path::new(command).is_absolute() {
        let message = "A command is an absolute path, or the name of a program in the daemon's PATH: where a relative path \
                       leads depends on where the daemon was started.";
        return Err(Refusal::invalid("/command", "not_absolute", message));
    }
    Ok(())
}

/// The arguments of a program.
pub(super) fn check_arguments(args: Option<&[String]>) -> Result<(), Refusal> {
    let args = args.unwrap_or_default();
    if args.len() > ARGUMENTS {
        let message = format!("There are {} arguments; at most {ARGUMENTS} are allowed.", args.len());
        return Err(Refusal::invalid("/args", "too_many", message));
    }
    for (at, arg) in args.iter().enumerate() {
        let path = format!("/args/{at}");
        if arg.contains('\0') {
            return Err(Refusal::invalid(path, "control_character", "No program can be given an argument with a NUL."));
        }
        if arg.chars().count() > ARGUMENT_CHARACTERS {
            let message = format!("An argument has at most {ARGUMENT_CHARACTERS} characters.");
            return Err(Refusal::invalid(path, "too_long", message));
        }
    }
    Ok(())
}

/// The variables of a program. No refusal repeats a value.
pub(super) fn check_variables(env: Option<&BTreeMap<String, String>>) -> Result<(), Refusal> {
    let Some(env) = env else { return Ok(()) };
    if env.len() > VARIABLES {
        let message = format!("There are {} variables; at most {VARIABLES} are allowed.", env.len());
        return Err(Refusal::invalid("/env", "too_many", message));
    }
    for (name, value) in env {
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && (1..=VARIABLE_CHARACTERS).contains(&name.len());
        if !is_name {
            let message = format!(
                "The name of a variable is 1 to {VARIABLE_CHARACTERS} letters, digits and underscores, and begins with no \
                 digit."
            );
            return Err(Refusal::invalid("/env", "not_a_name", message));
        }
        if value.contains('\0') || value.chars().count() > VALUE_CHARACTERS {
            let message = format!("The value of {name} must have at most {VALUE_CHARACTERS} characters and no NUL.");
            return Err(Refusal::invalid(format!("/env/{name}"), "not_a_value", message));
        }
    }
    Ok(())
}
