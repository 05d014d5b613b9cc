//! What the handlers for approvals and questions may return.

use std::collections::BTreeMap;

use ropewalk_protocol::{ApprovalAnswer, Decision, InputAnswer, QuestionAnswer};

/// What an approval handler may return: a [`Decision`], an [`ApprovalAnswer`] with a note or scope, or an `Option` of
/// either, where `None` means that this client cannot decide and others may be asked.
pub trait IntoApprovalAnswer {
    /// The answer, if there is one.
    fn into_approval_answer(self) -> Option<ApprovalAnswer>;
}

impl IntoApprovalAnswer for ApprovalAnswer {
    fn into_approval_answer(self) -> Option<ApprovalAnswer> {
        Some(self)
    }
}

impl IntoApprovalAnswer for Decision {
    fn into_approval_answer(self) -> Option<ApprovalAnswer> {
        Some(ApprovalAnswer { decision: self, scope: None, note: None })
    }
}

impl<A: IntoApprovalAnswer> IntoApprovalAnswer for Option<A> {
    fn into_approval_answer(self) -> Option<ApprovalAnswer> {
        self.and_then(A::into_approval_answer)
    }
}

/// The answer to questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputReply {
    /// Answers by question; questions left out are left to the model.
    Answers(BTreeMap<String, QuestionAnswer>),
    /// You decide.
    Dismissed,
    /// Stop asking.
    Declined,
}

/// What an input handler may return: an [`InputReply`], an [`InputAnswer`] of the wire, or an `Option` of either, where
/// `None` means that this client cannot answer and others may be asked.
pub trait IntoInputAnswer {
    /// The answer, if there is one.
    fn into_input_answer(self) -> Option<InputAnswer>;
}

impl IntoInputAnswer for InputAnswer {
    fn into_input_answer(self) -> Option<InputAnswer> {
        Some(self)
    }
}

impl IntoInputAnswer for InputReply {
    fn into_input_answer(self) -> Option<InputAnswer> {
        let mut answer = InputAnswer::default();
        match self {
            Self::Answers(answers) => answer.answers = Some(answers),
            Self::Dismissed => answer.dismissed = Some(true),
            Self::Declined => answer.declined = Some(true),
        }
        Some(answer)
    }
}

impl<A: IntoInputAnswer> IntoInputAnswer for Option<A> {
    fn into_input_answer(self) -> Option<InputAnswer> {
        self.and_then(A::into_input_answer)
    }
}
