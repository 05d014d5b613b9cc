//! Bodies that something broke on the way: whatever is left of them ends, and ends well only with proof of its end.

use std::time::Duration;

use rand::{Rng, SeedableRng, rngs::StdRng};
use ropewalk_protocol::Provider;

use super::{
    LARGE_BYTES, SHAPES,
    bodies::{Case, cases_of},
    splits::random_offsets,
};
use crate::models::holds::{hear, of_an_answer};

/// How often each body is broken in each way, mostly and with `SLOW=1`; a large one is once, or as often as others mostly.
const TRIES: usize = 5;
const LONG_TRIES: usize = 200;

/// Longer than the reading of any of these bodies takes.
const DEADLINE: Duration = Duration::from_secs(30);

/// What may happen to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mutation {
    Cut,
    DropLine,
    DoubleLine,
    SwapBytes,
    ChangeByte,
}

impl Mutation {
    const ALL: [Self; 5] = [Self::Cut, Self::DropLine, Self::DoubleLine, Self::SwapBytes, Self::ChangeByte];

    fn of(self, body: &[u8], random: &mut StdRng) -> Vec<u8> {
        let mut mutated = body.to_vec();
        let mut lines: Vec<_> = body.split_inclusive(|byte| *byte == b'\n').collect();
        let (line, byte) = (random.random_range(0..lines.len()), random.random_range(0..body.len()));
        match self {
            Self::Cut => mutated.truncate(byte),
            Self::DropLine => {
                lines.remove(line);
                mutated = lines.concat();
            }
            Self::DoubleLine => {
                lines.insert(line, lines[line]);
                mutated = lines.concat();
            }
            Self::SwapBytes => mutated.swap(byte, random.random_range(0..body.len())),
            Self::ChangeByte => mutated[byte] = random.random(),
        }
        mutated
    }
}

async fn break_all(shape: Provider) {
    let mut random = StdRng::seed_from_u64(9);
    let mut ended_well = 0;
    let cases = cases_of(shape);
    for case in &cases {
        let whole = hear(shape, case.body.as_bytes(), &[]).await;
        let tries = match (case.body.len() > LARGE_BYTES, std::env::var_os("SLOW").is_some()) {
            (true, false) => 1,
            (false, true) => LONG_TRIES,
            _ => TRIES,
        };
        for mutation in Mutation::ALL.into_iter().flat_map(|mutation| std::iter::repeat_n(mutation, tries)) {
            let body = mutation.of(case.body.as_bytes(), &mut random);
            let offsets = random_offsets(&mut random, body.len());
            let seen = || format!("{}: {mutation:?}: {}", case.name, String::from_utf8_lossy(&body));
            let heard = tokio::time::timeout(DEADLINE, of_an_answer(shape, &body, &offsets)).await;
            let heard = heard.unwrap_or_else(|_| panic!("no end of {}", seen()));
            ended_well += usize::from(heard.end.is_ok());
            if mutation == Mutation::Cut {
                assert!(whole.text.starts_with(&heard.text), "`{}` was never said: {}", heard.text, seen());
                assert!(whole.reasoning.starts_with(&heard.reasoning), "{}", seen());
            }
        }
    }
    assert!(ended_well > cases.len(), "a doubled or a dropped line seldom harms, yet only {ended_well} ended well");
}

/// Cut after each of its lines, a body ends well only from the line on that proves its end.
#[tokio::test]
async fn k09_l12_a_body_cut_after_any_line_ends_well_only_with_proof() {
    for shape in SHAPES {
        let is_short = |case: &Case| case.body.len() < 4_096;
        for case in cases_of(shape).into_iter().filter(is_short) {
            let whole = hear(shape, case.body.as_bytes(), &[]).await;
            for (line, _) in case.body.match_indices('\n') {
                let body = &case.body.as_bytes()[..=line];
                let heard = of_an_answer(shape, body, &[]).await;
                assert!(whole.text.starts_with(&heard.text), "{} cut after {line}", case.name);
            }
        }
    }
}

#[tokio::test]
async fn broken_chat_completions_never_end_well_without_proof() {
    break_all(Provider::OpenaiCompatible).await;
}

#[tokio::test]
async fn broken_messages_of_anthropic_never_end_well_without_proof() {
    break_all(Provider::Anthropic).await;
}

#[tokio::test]
async fn broken_responses_never_end_well_without_proof() {
    break_all(Provider::OpenaiResponses).await;
}

#[tokio::test]
async fn broken_answers_of_gemini_never_end_well_without_proof() {
    break_all(Provider::Gemini).await;
}

#[tokio::test]
async fn broken_answers_of_ollama_never_end_well_without_proof() {
    break_all(Provider::Ollama).await;
}
