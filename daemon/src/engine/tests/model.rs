//! A model that says what a test tells it to, when the test tells it, and that refuses histories a real one refuses.

use std::sync::{Arc, Mutex};

use futures::{
    StreamExt as _,
    future::{BoxFuture, FutureExt as _, ready},
    stream::BoxStream,
};
use ropewalk_protocol::{Endpoint, Part, Role, RunErrorKind, Usage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{
    domain::tests::check,
    models::{Model, ModelAnswer, ModelCall, ModelError, ModelEvent, ModelFactory, ModelRequest},
};

type Said = Result<ModelEvent, ModelError>;

/// The model's end, and the factory that gives it to every endpoint.
pub(crate) struct Script(UnboundedSender<Asked>);

/// One request, and where its answer goes.
pub(crate) struct Asked {
    pub(crate) request: ModelRequest,
    says: UnboundedSender<Said>,
}

impl Script {
    pub(crate) fn new() -> (Arc<Self>, UnboundedReceiver<Asked>) {
        let (asks, asked) = unbounded_channel();
        (Arc::new(Self(asks)), asked)
    }
}

impl ModelFactory for Script {
    fn model(&self, _: &Endpoint, _: Option<String>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Self(self.0.clone())))
    }

    fn test(&self, _: &Endpoint, _: Option<String>) -> BoxFuture<'static, Result<(), ModelError>> {
        ready(Ok(())).boxed()
    }
}

impl Model for Script {
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Said> {
        check::history(request.messages.iter().map(AsRef::as_ref));
        let (says, said) = unbounded_channel();
        let _ = self.0.send(Asked { request, says });
        let said = Mutex::new(said);
        futures::stream::poll_fn(move |context| said.lock().unwrap().poll_recv(context)).boxed()
    }
}

impl Asked {
    /// The model says a part of its answer.
    pub(crate) fn says(&self, text: &str) {
        let _ = self.says.send(Ok(ModelEvent::Text(text.to_owned())));
    }

    /// The model ends its answer with text.
    pub(crate) fn ends(self, text: &str) {
        self.answers(text, &[]);
    }

    /// The model ends its answer with calls.
    pub(crate) fn calls(self, calls: &[(&str, &str)]) {
        self.answers("", calls);
    }

    /// The model ends its answer after some reasoning.
    pub(crate) fn only_thinks(self) {
        let _ = self.says.send(Ok(ModelEvent::Reasoning("Hm.".to_owned())));
        self.finishes(ModelAnswer { reasoning: "Hm.".to_owned(), ..answer("", &[]) });
    }

    /// The model's output limit cuts its answer.
    pub(crate) fn breaks_off(self, text: &str, calls: &[(&str, &str)]) {
        self.finishes(ModelAnswer { is_cut: true, ..answer(text, calls) });
    }

    /// The model fails, and would fail the same way again.
    pub(crate) fn fails(self) {
        let message = "The answer was cut off.".to_owned();
        let error = ModelError { kind: RunErrorKind::CutOff, message, retryable: false, retry_after_ms: None };
        let _ = self.says.send(Err(error));
    }

    /// The model fails, and may not do so again.
    pub(crate) fn fails_for_now(self, kind: RunErrorKind, retry_after_ms: Option<u64>) {
        let message = "It did not work.".to_owned();
        let _ = self.says.send(Err(ModelError { kind, message, retryable: true, retry_after_ms }));
    }

    /// The model refuses the request.
    pub(crate) fn refuses(self, kind: RunErrorKind, message: &str) {
        let message = message.to_owned();
        let _ = self.says.send(Err(ModelError { kind, message, retryable: false, retry_after_ms: None }));
    }

    /// Whether nobody listens any more.
    pub(crate) fn is_dropped(&self) -> bool {
        self.says.is_closed()
    }

    /// Who says what in the history it was asked with.
    pub(crate) fn history(&self) -> Vec<String> {
        let say = |message: &Arc<crate::models::ChainMessage>| {
            let texts: Vec<&str> = message.message.content.iter().filter_map(Part::as_text).collect();
            let role = match message.message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            format!("{role}: {}", texts.join(" "))
        };
        self.request.messages.iter().map(say).collect()
    }

    fn answers(self, text: &str, calls: &[(&str, &str)]) {
        self.finishes(answer(text, calls));
    }

    fn finishes(self, answer: ModelAnswer) {
        let _ = self.says.send(Ok(ModelEvent::Finished(answer)));
    }
}

fn answer(text: &str, calls: &[(&str, &str)]) -> ModelAnswer {
    let call =
        |(name, arguments): &(&str, &str)| ModelCall { name: (*name).to_owned(), arguments: (*arguments).to_owned() };
    ModelAnswer {
        text: text.to_owned(),
        calls: calls.iter().map(call).collect(),
        usage: Usage { requests: 1, ..Usage::default() },
        ..ModelAnswer::default()
    }
}
