//! Approvals at the terminal: what is asked, and what a line of answer means.

use std::sync::{Arc, OnceLock};

use ropewalk::Approval;
use ropewalk_protocol::{Annotations, ApprovalAnswer, ApprovalRequest, Decision, DecisionScope};
use serde_json::Value;

use super::{
    out::{Out, Style},
    person::{Attention, Person},
    seen::Seen,
    text::{cut, printable, quoted},
    words::spelled,
};

/// Characters of arguments that are shown without being asked for.
const ARGUMENT_CHARACTERS: usize = 4_000;

/// How a command decides about calls that need approval.
#[derive(Clone)]
pub(crate) enum Approver {
    /// It asks.
    Person(Person, Seen),
    /// It accepts all, because the person said so beforehand.
    Everything,
    /// It declines all, for this reason.
    Nothing(&'static str),
    /// It decides about none, because nobody can be asked here: that no decision was made is what the model is told, and what
    /// helps is said, where anything does.
    Nobody(Option<Help>),
}

/// What helps where nobody can be asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Help {
    program: String,
    /// How the project of the run is named to a command, once that is known.
    project: Arc<OnceLock<String>>,
}

impl Help {
    /// Help by this program, for a project that is not known yet.
    pub(crate) fn of(program: &str) -> Self {
        Self { program: program.to_owned(), project: Arc::default() }
    }

    /// The project is known.
    pub(crate) fn is_about(&self, project: String) {
        // There is one run, and so one project.
        let _ = self.project.set(project);
    }

    fn about(&self, request: &ApprovalRequest) -> String {
        let program = &self.program;
        let tool = quoted(&format!("{}/{}", request.tool.source, request.tool.name));
        let project = self.project.get().map(|project| format!(" --project {}", quoted(project))).unwrap_or_default();
        format!(
            "; `{program} policy set allow --tool {tool}{project}` allows it from now on, \
             `{program} run --unattended wait` waits for somebody who attaches"
        )
    }
}

impl Approver {
    /// Decides; none when the decision is not needed any more, or nobody here can make it.
    pub(crate) async fn decide(&self, approval: &Approval, out: &Out) -> Option<ApprovalAnswer> {
        match self {
            Self::Person(person, seen) => tokio::select! {
                answer = async {
                    seen.call(&approval.call_id).await;
                    ask(person, approval).await
                } => Some(answer),
                () = approval.cancelled() => None,
            },
            Self::Everything => {
                let summary = printable(&approval.summary);
                out.note(&format!("{} {summary}: --yes", out.paint_note(Style::Yellow, "accepted")));
                Some(answer(Decision::Accept))
            }
            Self::Nothing(reason) => {
                let summary = printable(&approval.summary);
                out.note(&format!("{} {summary}: {reason}", out.paint_note(Style::Yellow, "declined")));
                Some(ApprovalAnswer { note: Some((*reason).to_owned()), ..answer(Decision::Decline) })
            }
            Self::Nobody(help) => {
                out.note(&nobody(approval, help.as_ref(), out));
                None
            }
        }
    }
}

/// That nobody can be asked about a call here, and what allows it another time.
fn nobody(request: &ApprovalRequest, help: Option<&Help>, out: &Out) -> String {
    let unasked = out.paint_note(Style::Yellow, "nobody asked");
    let what_helps = help.map(|help| help.about(request)).unwrap_or_default();
    let text = format!("{}: there is no terminal to ask at{what_helps}", request.summary);
    format!("{unasked} {}", printable(&text))
}

/// Asks until there is an answer. Ctrl-D declines.
pub(crate) async fn ask(person: &Person, request: &ApprovalRequest) -> ApprovalAnswer {
    let mut attention = person.attention().await;
    show(&attention, request);
    let choices = choices(request);
    let prompt = prompt(&choices);
    loop {
        let Some(line) = attention.ask(&prompt).await else { return answer(Decision::Decline) };
        if matches!(&*line, "v" | "view") {
            attention.show(&arguments(request, usize::MAX));
            continue;
        }
        match read(&line, &choices) {
            Some(answer) => return answer,
            None => attention.show("  One of the letters, please; `d` and a reason tells the model why."),
        }
    }
}

fn show(attention: &Attention<'_>, request: &ApprovalRequest) {
    let out = attention.out();
    let which =
        if request.total > 1 { format!(" (call {} of {})", request.index, request.total) } else { String::new() };
    let question = out.paint_note(Style::Bold, &format!("Allow {}?", printable(&request.summary)));
    attention.show(&format!("{} {question}{which}", out.paint_note(Style::Yellow, "?")));
    let title = request.tool.title.as_ref().map(|title| format!("{title}, ")).unwrap_or_default();
    let about = format!("{title}{}/{}{}", request.tool.source, request.tool.name, hints(&request.tool.annotations));
    attention.show(&out.paint_note(Style::Dim, &format!("  {}", printable(&about))));
    attention.show(&arguments(request, ARGUMENT_CHARACTERS));
    if let Some(change) = &request.change {
        attention.show(&format!("  now:\n{}", indented(&pretty(&change.before))));
        attention.show(&format!("  then:\n{}", indented(&pretty(&change.after))));
    }
}

/// What the source of a tool says of its effects.
fn hints(annotations: &Annotations) -> String {
    let said = [
        (annotations.read_only_hint, "read only"),
        (annotations.destructive_hint, "may destroy something"),
        (annotations.open_world_hint, "reaches beyond this machine"),
    ];
    let said: Vec<_> = said.iter().filter(|(hint, _)| *hint == Some(true)).map(|(_, word)| *word).collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}

fn arguments(request: &ApprovalRequest, characters: usize) -> String {
    let Some(arguments) = &request.arguments else { return "  (no arguments)".to_owned() };
    let whole = pretty(arguments);
    let hidden = whole.chars().count().saturating_sub(characters);
    if hidden == 0 {
        return indented(&whole);
    }
    format!("{}\n  ({hidden} more characters; `v` shows all)", indented(&cut(&whole, characters)))
}

fn pretty(value: &Value) -> String {
    printable(&serde_json::to_string_pretty(value).expect("a JSON value can be written"))
}

fn indented(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// One thing that can be answered: its letter, what it does, and the answer.
type Choice = (char, &'static str, Decision, Option<DecisionScope>);

const CHOICES: &[Choice] = &[
    ('a', "accept", Decision::Accept, None),
    ('d', "decline", Decision::Decline, None),
    ('s', "decline and stop the run", Decision::Cancel, None),
    ('t', "always in this thread", Decision::AcceptForSession, None),
    ('p', "always in this project", Decision::AcceptAlways, Some(DecisionScope::Project)),
    ('e', "always and everywhere", Decision::AcceptAlways, Some(DecisionScope::Global)),
];

/// The choices that count here, in the order in which they are shown.
fn choices(request: &ApprovalRequest) -> Vec<Choice> {
    CHOICES.iter().filter(|(_, _, decision, _)| request.choices.contains(decision)).copied().collect()
}

/// The choices in two lines: what counts once, and what makes a rule.
fn prompt(choices: &[Choice]) -> String {
    let makes_rule = |decision| matches!(decision, Decision::AcceptForSession | Decision::AcceptAlways);
    let mut prompt = String::new();
    for of_rules in [false, true] {
        let of_line = choices.iter().filter(|choice| makes_rule(choice.2) == of_rules);
        let shown: Vec<_> = of_line.map(|(letter, words, ..)| format!("[{letter}] {words}")).collect();
        if !shown.is_empty() {
            prompt.push_str(&format!("  {}\n", shown.join("  ")));
        }
    }
    prompt + "  > "
}

/// What a line says: a letter, a word that `answer` takes, `yes` or `no`; behind what declines a reason for the model.
fn read(line: &str, choices: &[Choice]) -> Option<ApprovalAnswer> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let letter = match &*word.to_lowercase() {
        "y" | "yes" => 'a',
        "n" | "no" => 'd',
        word => match choices.iter().find(|choice| spelled(&choice.2) == word) {
            // Of several with one word the first is the one that word means without a scope.
            Some(choice) => choice.0,
            None => word.parse().ok()?,
        },
    };
    let (.., decision, scope) = *choices.iter().find(|choice| choice.0 == letter)?;
    let takes_reason = matches!(decision, Decision::Decline | Decision::Cancel);
    if !rest.is_empty() && !takes_reason {
        return None;
    }
    Some(ApprovalAnswer { decision, scope, note: (!rest.is_empty()).then(|| rest.trim().to_owned()) })
}

const fn answer(decision: Decision) -> ApprovalAnswer {
    ApprovalAnswer { decision, scope: None, note: None }
}

#[cfg(test)]
mod tests;
