//! The words of the step language: each verb, and the members that may stand beside it.

/// A verb of the step language.
pub(super) struct Word {
    /// The member that makes a step this one.
    pub(super) verb: &'static str,
    /// The members that may stand beside it, besides those that all may have.
    pub(super) beside: &'static [&'static str],
    /// Whether it waits for a message, so that `without` may stand beside it.
    pub(super) waits: bool,
}

/// Members that any step may have.
pub(super) const EVERYWHERE: &[&str] = &["on", "note"];

/// Every verb there is.
pub(super) const VERBS: &[Word] = &[
    Word { verb: "connect", beside: &["result", "error"], waits: false },
    Word { verb: "open", beside: &[], waits: false },
    Word { verb: "call", beside: &["params", "id", "result", "error"], waits: true },
    Word { verb: "send", beside: &["params", "id", "as"], waits: false },
    Word { verb: "await", beside: &["result", "error"], waits: true },
    Word { verb: "notify", beside: &["params"], waits: false },
    Word { verb: "asked", beside: &["params", "as"], waits: true },
    Word { verb: "reply", beside: &["result", "error"], waits: false },
    Word { verb: "told", beside: &["params"], waits: true },
    Word { verb: "event", beside: &["thread", "seq"], waits: true },
    Word { verb: "events", beside: &["thread", "seq", "ignoring"], waits: true },
    Word { verb: "ephemeral", beside: &["after"], waits: true },
    Word { verb: "expect", beside: &[], waits: true },
    Word { verb: "message", beside: &[], waits: false },
    Word { verb: "line", beside: &[], waits: false },
    Word { verb: "raw", beside: &[], waits: false },
    Word { verb: "eventually", beside: &["params", "result"], waits: false },
    Word { verb: "cut", beside: &[], waits: false },
    Word { verb: "pause", beside: &[], waits: false },
    Word { verb: "resume", beside: &[], waits: false },
    Word { verb: "finish", beside: &[], waits: false },
    Word { verb: "ended", beside: &[], waits: true },
    Word { verb: "restart", beside: &[], waits: false },
    Word { verb: "exited", beside: &[], waits: false },
    Word { verb: "start", beside: &[], waits: false },
    Word { verb: "repeat", beside: &["steps"], waits: false },
    Word { verb: "let", beside: &[], waits: false },
    Word { verb: "check", beside: &["is"], waits: false },
    Word { verb: "clear", beside: &[], waits: false },
];

impl Word {
    /// Whether this member may stand in a step of this verb.
    pub(super) fn takes(&self, member: &str) -> bool {
        member == self.verb
            || EVERYWHERE.contains(&member)
            || self.beside.contains(&member)
            || (self.waits && member == "without")
    }
}
