//! Every recorded and every crafted answer, whole, byte by byte and in a hundred random pieces each: always the same
//! reading, and the right one.

mod bodies;
mod mutations;
mod splits;

use rand::{SeedableRng, rngs::StdRng};
use ropewalk_conformance::{RawReply, RawServer};
use ropewalk_protocol::Provider;
use serde_json::{Value, json};

use self::bodies::{Case, Expected, cases_about};
pub(super) use self::{
    bodies::{cases_of, read},
    splits::random_offsets,
};
pub(super) use super::holds::{content_type, pieces};
use super::{
    holds::hear,
    testing::{Heard, listen, model_of, request, user},
};

/// How often each body is cut at random, beside once nowhere and once everywhere.
pub(super) const SPLITS: usize = 100;

/// The longest body that is decoded that often. Larger ones are few and hold most of the bytes: their records are compared
/// that often, and they are decoded [`LARGE_SPLITS`] times, or as often as all others with `SLOW=1`.
pub(super) const LARGE_BYTES: usize = 4_096;

/// How often a large body is cut and decoded.
const LARGE_SPLITS: usize = 6;

/// All that are behind the provider library.
pub(super) const SHAPES: [Provider; 5] =
    [Provider::OpenaiCompatible, Provider::Anthropic, Provider::OpenaiResponses, Provider::Gemini, Provider::Ollama];

/// What a body has to come to, as the words it fails with otherwise.
fn check(heard: &Heard, expected: &Expected) -> Result<(), String> {
    let same = |what: &str, found: Value, expected: Value| {
        if found == expected { Ok(()) } else { Err(format!("{what} is {found}, not {expected}")) }
    };
    let (kind, words) = expected.end.split_once(' ').unwrap_or((&expected.end, ""));
    let end = match &heard.end {
        Ok(answer) if answer.is_cut => json!("length"),
        Ok(_) => json!("done"),
        Err(error) => json!(error.kind),
    };
    let said = heard.end.as_ref().map_or_else(ToString::to_string, |answer| format!("{answer:?}"));
    same("the end", end, json!(kind)).map_err(|difference| format!("{difference}: {said}"))?;
    same("the text", json!(heard.text), json!(expected.text))?;
    same("the reasoning", json!(heard.reasoning), json!(expected.reasoning))?;
    let answer = match &heard.end {
        Ok(answer) => answer,
        Err(error) if error.message.contains(words) => return Ok(()),
        Err(error) => return Err(format!("`{words}` is not in `{error}`")),
    };
    same("the answer's text", json!(answer.text), json!(heard.text))?;
    same("the answer's reasoning", json!(answer.reasoning), json!(heard.reasoning))?;
    let usage = (!answer.usage.estimated).then_some((answer.usage.input_tokens, answer.usage.output_tokens));
    if kind == "done" {
        let calls = answer.calls.iter().map(|call| json!([call.name, call.arguments])).collect::<Vec<_>>();
        same("the calls", json!(calls), json!(expected.calls))?;
        same("the usage", json!(usage), json!(expected.usage))?;
    }
    let parts = format!("{:?}", answer.provider_parts);
    let lost = expected.keeps.iter().find(|kept| !parts.contains(kept.as_str()));
    lost.map_or(Ok(()), |lost| Err(format!("{lost} is not kept for the provider: {parts}")))
}

/// Plays a case whole, byte by byte and in random pieces; says what is wrong with the first that is.
async fn replay(case: &Case, splits: usize) -> Result<(), String> {
    let (body, shape) = (case.body.as_bytes(), case.expected.shape);
    let mut random = StdRng::seed_from_u64(9);
    let is_large = body.len() > LARGE_BYTES;
    let splits = if is_large && std::env::var_os("SLOW").is_none() { LARGE_SPLITS } else { splits };
    for split in 0..splits + 2 {
        let offsets = match split {
            0 => Vec::new(),
            1 => (1..body.len()).step_by(if is_large { 7 } else { 1 }).collect(),
            _ => random_offsets(&mut random, body.len()),
        };
        let heard = hear(shape, body, &offsets).await;
        check(&heard, &case.expected).map_err(|wrong| format!("{}, split {split}: {wrong}", case.name))?;
    }
    Ok(())
}

async fn replay_all(cases: Vec<Case>, at_least: usize, splits: usize) {
    assert!(cases.len() >= at_least, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        wrong.extend(replay(case, splits).await.err());
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[tokio::test]
async fn chat_completions_decode_right_however_they_are_cut() {
    replay_all(cases_of(Provider::OpenaiCompatible), 90, SPLITS).await;
}

#[tokio::test]
async fn anthropics_messages_decode_right_however_they_are_cut() {
    replay_all(cases_of(Provider::Anthropic), 40, SPLITS).await;
}

#[tokio::test]
async fn responses_decode_right_however_they_are_cut() {
    replay_all(cases_of(Provider::OpenaiResponses), 33, SPLITS).await;
}

#[tokio::test]
async fn gemini_decodes_right_however_it_is_cut() {
    replay_all(cases_of(Provider::Gemini), 27, SPLITS).await;
}

#[tokio::test]
async fn ollama_decodes_right_however_it_is_cut() {
    replay_all(cases_of(Provider::Ollama), 17, SPLITS).await;
}

/// The way without a socket must not be easier than the real one.
#[tokio::test]
async fn over_a_real_socket_the_reading_is_the_same() {
    let server = RawServer::start([RawReply::stream("")]).await.unwrap();
    let mut random = StdRng::seed_from_u64(9);
    for shape in SHAPES {
        for case in cases_of(shape) {
            let offsets = random_offsets(&mut random, case.body.len());
            let headers = vec![("content-type".to_owned(), content_type(shape).to_owned())];
            server.play(RawReply { headers, ..RawReply::stream(case.body.clone()).split_at(&offsets) });
            let heard = listen(&*model_of(shape, &server.base_url()), request(vec![user("hi")], &["weather"])).await;
            check(&heard, &case.expected).unwrap_or_else(|wrong| panic!("{}: {wrong}", case.name));
        }
    }
}

/// One test a requirement, so that each can be seen to hold by its name.
macro_rules! requirements {
    ($($test:ident: $requirement:literal, $at_least:literal;)*) => {$(
        #[tokio::test]
        async fn $test() {
            replay_all(cases_about($requirement), $at_least, 5).await;
        }
    )*};
}

requirements! {
    l05_calls_under_one_index_stay_as_many_as_they_have_ids: "L05", 2;
    l06_calls_are_told_apart_by_whatever_tells_them_apart: "L06", 11;
    l07_arguments_under_an_index_without_a_name_are_never_cut_or_mixed: "L07", 2;
    k28_l08_repeated_ids_make_as_many_calls_in_every_shape: "L08", 5;
    l10_absent_arguments_are_empty_in_every_shape: "L10", 8;
    l11_broken_arguments_come_as_they_are_in_every_shape: "L11", 7;
    l12_without_proof_of_its_end_no_answer_is_whole_in_any_shape: "L12", 19;
    k29_l16_characters_survive_every_cut_in_every_shape: "L16", 7;
    l27_what_the_output_limit_cut_says_so_in_every_shape: "L27", 7;
    l28_a_limit_that_is_relabelled_shows_in_the_arguments: "L28", 1;
    k10_l29_odd_but_legal_chunks_do_no_harm_in_any_shape: "L29", 5;
}
