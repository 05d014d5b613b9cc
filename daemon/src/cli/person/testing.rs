//! A person whose answers are known beforehand.

use std::collections::VecDeque;

use super::*;

/// Answers in order; then the input is over.
struct Script(VecDeque<String>);

impl Lines for Script {
    fn forget(&mut self) {}

    fn next(&mut self) -> BoxFuture<'_, Option<String>> {
        std::future::ready(self.0.pop_front()).boxed()
    }
}

/// A person who gives these answers and ends the input.
pub(crate) fn person(answers: &[&str], out: &Out) -> Person {
    Person::new(Script(answers.iter().map(|answer| (*answer).to_owned()).collect()), out)
}
