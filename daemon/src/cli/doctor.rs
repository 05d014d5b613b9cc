//! `ropewalk doctor`: what is wrong, and how to mend it.

mod places;
mod running;
mod servers;

use clap::Args;
use ropewalk::Error;
use serde::Serialize;

use super::{
    failure::{Exit, Failure},
    out::Style,
    session::Context,
    text::printable,
};

/// Say what is wrong and how to mend it
///
/// Looks at the home, the socket and the disk, and asks the daemon how it is if one runs; none is started but for
/// `--check`. Exits with 1 when there is a problem, with 0 when there are warnings at most.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  ropewalk doctor\n  ropewalk doctor --check\n  ropewalk doctor --test-endpoints\n  ropewalk doctor --json"
)]
pub(crate) struct DoctorArgs {
    /// Send every endpoint a short request too; with a provider that charges, it costs a few tokens
    #[arg(long)]
    test_endpoints: bool,
    /// Read every log and payload, and hold the index against what follows from them; work goes on meanwhile
    #[arg(long)]
    check: bool,
}

/// What the doctor found, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether there is no problem.
    ok: bool,
    findings: Vec<Finding>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What was looked at.
    check: &'static str,
    state: State,
    /// What was found.
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Ok,
    /// Good to know.
    Note,
    /// It works, and could be better.
    Warning,
    /// Something does not work, or others can read what they should not.
    Problem,
}

impl Finding {
    fn new(check: &'static str, state: State, message: impl Into<String>) -> Self {
        Self { check, state, message: message.into(), fix: None }
    }

    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, State::Ok, message)
    }

    fn note(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, State::Note, message)
    }

    fn note_with(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(check, State::Note, message) }
    }

    fn warning(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(check, State::Warning, message) }
    }

    fn problem(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(check, State::Problem, message) }
    }
}

/// Runs it.
pub(crate) async fn run(args: DoctorArgs, context: &Context) -> Result<Exit, Failure> {
    let home = context.home()?;
    let mut findings = places::check(&home);
    match context.connecting()?.start_on_demand(args.check).await {
        Ok(client) => {
            findings.push(Finding::ok("socket", format!("{} answers", home.socket.display())));
            findings.extend(running::check(&client, args.test_endpoints, context).await);
            if args.check {
                findings.extend(running::stored(&client).await);
            }
        }
        Err(Error::NotRunning { .. }) => findings
            .push(Finding::note("daemon", "none runs now; the first command or program that needs one starts it")),
        Err(error) => findings.push(Finding::problem(
            "daemon",
            error.to_string(),
            "stop what listens there, or name another socket with --socket",
        )),
    }
    let report = Report { ok: !findings.iter().any(|finding| finding.state == State::Problem), findings };
    if context.global.json {
        context.out.json(&report);
    } else {
        report.findings.iter().for_each(|finding| show(finding, context));
    }
    Ok(if report.ok { Exit::DONE } else { Exit::FAILED })
}

fn show(finding: &Finding, context: &Context) {
    let out = &context.out;
    let (mark, style) = match finding.state {
        State::Ok => ("✓", Style::Green),
        State::Note => ("·", Style::Dim),
        State::Warning => ("!", Style::Yellow),
        State::Problem => ("✗", Style::Red),
    };
    out.line(&format!("{} {:10} {}", out.paint(style, mark), finding.check, printable(&finding.message)));
    if let Some(fix) = &finding.fix {
        out.line(&format!("  {:10} → {}", "", printable(fix)));
    }
}

#[cfg(test)]
mod tests;
