//! The App tools: `ask_user`, whose call is a question to a person, and `tool_search`.

use futures::future::BoxFuture;
use ropewalk_protocol::{
    Effect, InputAnswer, InputRequest, InteractionBody, InteractionId, InteractionKind, Outcome, Part, Question,
    Severity, Unattended,
};
use serde_json::Value;

use super::{
    report::Reporter,
    toolbox,
    waiting::{self, Asking, Now},
};
use crate::{
    domain::World,
    engine::live::Claim,
    tools::{CallFailure, SourceCall, SourceResult, ToolSource, ask_user, tool_search},
};

/// The App tools, for one call of one run.
pub struct AppSource<'a> {
    /// Who drives the run.
    pub reporter: &'a Reporter,
    /// What happens to a question nobody can answer.
    pub unattended: Unattended,
    /// How long a question stays open.
    pub input_ms: Option<u64>,
}

impl ToolSource for AppSource<'_> {
    fn call(&self, call: SourceCall) -> BoxFuture<'_, Result<SourceResult, CallFailure>> {
        Box::pin(async move {
            match call.tool.name.as_str() {
                tool_search::NAME => self.search(call).await,
                _ => self.ask(call).await,
            }
        })
    }
}

impl AppSource<'_> {
    /// Finds tools that were left out, and has them defined from the run's next step on.
    async fn search(&self, call: SourceCall) -> Result<SourceResult, CallFailure> {
        let query = tool_search::query(&call.arguments).to_owned();
        let searched = self.reporter.report(move |turn, run_id| {
            let left_out = toolbox::of_run(turn, run_id).left_out();
            let found = tool_search::found(&left_out, &query);
            let told = tool_search::told(&query, &found, &left_out);
            let names = found.iter().map(|tool| tool.flat_name.clone()).collect();
            turn.change.pin_tools(run_id, names, tool_search::FOUND);
            told
        });
        let text = searched.await.map_err(|_| CallFailure::Cancelled { sent: false })?;
        Ok(told(text, None))
    }

    async fn ask(&self, call: SourceCall) -> Result<SourceResult, CallFailure> {
        let reporter = self.reporter;
        let questions = match ask_user::check_questions(&call.arguments) {
            Ok(questions) => questions,
            Err(problems) => {
                let text = ask_user::invalid_text(&problems);
                return Ok(told(text, Some(CallFailure::InvalidArguments { problems })));
            }
        };
        let (thread_id, run_id, call_id) =
            (reporter.thread().id().clone(), reporter.run_id().clone(), call.call_id.clone());
        let asked = questions.clone();
        let body = move |id: &InteractionId, expires_at| {
            InteractionBody::Input(InputRequest {
                interaction_id: id.clone(),
                thread_id,
                run_id,
                call_id,
                attempt: 1,
                questions: asked,
                path: Vec::new(),
                expires_at,
            })
        };
        let asking = Asking {
            id: reporter.shared().next_id().into(),
            body: Box::new(body),
            kind: InteractionKind::Input,
            call_id: call.call_id,
            owner: None,
            lifetime_ms: self.input_ms,
            silence_ms: None,
        };
        let cancelled = |_| CallFailure::Cancelled { sent: false };
        let waiting = waiting::open(reporter, asking).await.map_err(cancelled)?;
        let (id, opened_at) = (waiting.id.clone(), waiting.opened_at);
        let claim = waiting.person(reporter, self.unattended, Now::default).await.map_err(cancelled)?;
        reporter.stage(move |turn, _| turn.settle_claimed(&id));
        let mut result = result(&questions, &claim);
        result.call_ms = Some(claim.at.millis_since(opened_at));
        Ok(result)
    }
}

fn result(questions: &[Question], claim: &Claim) -> SourceResult {
    let answer: Option<InputAnswer> =
        claim.answer.clone().and_then(|answer: Value| serde_json::from_value(answer).ok());
    let text = match &answer {
        Some(answer) => ask_user::answered_text(questions, answer),
        None => ask_user::unanswered_text(claim.outcome),
    };
    let failure = match claim.outcome {
        Outcome::Answered => None,
        Outcome::Declined => Some(CallFailure::Declined { note: None, stopped: false }),
        Outcome::Expired => Some(CallFailure::Expired),
        Outcome::Undeliverable => Some(CallFailure::Undeliverable),
        Outcome::Cancelled | Outcome::OutcomeUnknown => Some(CallFailure::Cancelled { sent: false }),
    };
    told(text, failure)
}

fn told(text: String, failure: Option<CallFailure>) -> SourceResult {
    SourceResult {
        content: vec![Part::text(text)],
        structured_content: None,
        meta: None,
        failure,
        effect: Effect::None,
        severity: Severity::Info,
        call_ms: None,
    }
}
