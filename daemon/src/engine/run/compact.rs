//! Making a request fit: the oldest part of the chain is summarised, and the summary takes its place.

use std::sync::Arc;

use ropewalk_protocol::{Endpoint, MessageId, RunErrorKind, Severity};

use super::{
    report::{Over, Reporter},
    request::Assembly,
    summarise::{Summarised, Summariser},
};
use crate::{
    context::{
        chain,
        cut::{self, grouped},
        tokens::text_tokens,
    },
    domain::{Carried, ChainMessage, Compaction, Line, Link, Notice, carried_request, summary_says, summary_text},
    engine::{Turn, history},
    models::{Model, ModelError},
};

/// The least that must be left for messages, or a summary would say nothing.
const LEAST_TOKENS: u64 = 256;
/// What is around a summary: that it is one, and the heading of what it carries.
const FRAME_TOKENS: u64 = 80;

/// A chain that has become too long.
pub struct Compacting<'a> {
    /// Whose.
    pub reporter: &'a Reporter,
    /// The request that does not fit.
    pub assembly: &'a Assembly,
    /// The chain it was read from.
    pub line: &'a Line,
    /// The message of the run that asks.
    pub request: Option<&'a MessageId>,
    /// The endpoint of the run.
    pub endpoint: &'a Endpoint,
    /// Its model, which makes the summary.
    pub model: &'a Arc<dyn Model>,
}

/// What of a chain is summarised, and what its summary may have.
struct Choice {
    /// How many messages go.
    covered: usize,
    /// The request the summary has to carry.
    carried: Option<Carried>,
    /// Tokens of the summary, what it carries not counted.
    summary_tokens: u64,
}

/// Summarises the oldest part of the chain and stores that. Returns the chain as it is now; `None` when nothing would be
/// gained.
///
/// # Errors
/// `storage`; `internal` when the run is over, which nobody will be told.
pub async fn compact(compacting: Compacting<'_>) -> Result<Option<Line>, ModelError> {
    let Compacting { reporter, assembly, line, endpoint, model, .. } = compacting;
    let Some(choice) = choose(&compacting) else { return Ok(None) };
    let covered = &assembly.messages[..choice.covered];
    let summariser = Summariser { reporter, endpoint, model, summary_tokens: choice.summary_tokens };
    let (so_far, rest) = material(covered, choice.carried.is_some());
    let made = summariser.summarise(so_far, rest).await;
    let Some(covers) = covers(reporter, line, assembly.messages.len() - choice.covered).await? else { return Ok(None) };
    let text = summary_text(covers.depth + 1, &made.says, choice.carried.as_ref());
    let left: u64 = assembly.message_tokens[choice.covered..].iter().sum();
    let shared = reporter.shared();
    let after = assembly.fixed_tokens(shared) + assembly.corrected(shared, left + text_tokens(&text));
    let notice = notice(rest.len(), assembly.expected, after, made.trouble.as_deref());
    let Summarised { usage, .. } = made;
    let compaction = Compaction { covers, text, usage, notice };
    let stored = store(reporter, line.clone(), compaction).await;
    // Whoever asked has no run to tell this to.
    stored.map_err(|Over| ModelError::new(RunErrorKind::Internal, "The run is over."))
}

fn choose(compacting: &Compacting<'_>) -> Option<Choice> {
    let Compacting { reporter, assembly, request, .. } = compacting;
    let shared = reporter.shared();
    let budgets = &assembly.room.budgets;
    let messages: &[Arc<ChainMessage>] = &assembly.messages;
    let tokens: Vec<u64> = assembly.message_tokens.iter().map(|one| assembly.corrected(shared, *one)).collect();
    let space = budgets.threshold.checked_sub(assembly.fixed_tokens(shared))?;
    let summary_tokens = budgets.summary.min(space / 4);
    let room = space.saturating_sub(summary_tokens + FRAME_TOKENS);
    if room < LEAST_TOKENS {
        return None;
    }
    // Half of the room stays free, so that not every step has to do this again.
    let mut covered = chain::surplus(messages, &tokens, room / 2);
    let place = request.and_then(|id| messages.iter().position(|chained| chained.message.message_id == *id));
    if let Some(place) = place {
        let most = chain::surplus(messages, &tokens, room);
        if covered > place && most <= place {
            covered = most;
        }
        if covered <= place {
            covered = chain::at_a_turn(messages, covered, place);
        }
    }
    let is_summarised = messages.first().is_some_and(|first| first.message.summary);
    if covered <= usize::from(is_summarised) {
        return None;
    }
    let mut carried = request.and_then(|id| chain::carried(messages, covered, id));
    if let Some(carried) = &mut carried {
        let whole = assembly.corrected(shared, text_tokens(&carried.text));
        // Cutting what nobody has answered yet would be answering something else.
        if carried.answers == 0 && whole > room {
            return None;
        }
        let share = if carried.answers == 0 { room } else { room / 2 };
        let ratio = shared.gauges.ratio_percent(&assembly.room.key);
        carried.text = cut::within(&carried.text, share * 100 / ratio.max(100), "the rest is not in your window").0;
    }
    Some(Choice { covered, carried, summary_tokens })
}

/// What the summary goes on from, and what it has to take in. A request that an earlier summary carried for a run that is
/// over is part of the story now.
fn material(covered: &[Arc<ChainMessage>], is_carried_on: bool) -> (String, &[Arc<ChainMessage>]) {
    let Some((first, rest)) = covered.split_first().filter(|(first, _)| first.message.summary) else {
        return (String::new(), covered);
    };
    let text = first.message.content.first().and_then(ropewalk_protocol::Part::as_text).unwrap_or_default();
    let says = summary_says(text);
    match carried_request(text).filter(|_| !is_carried_on) {
        Some(before) => (format!("{says}\nThe user then asked: {}", before.text), rest),
        None => (says.to_owned(), rest),
    }
}

/// The newest message that goes, where `kept` of them stay.
async fn covers(reporter: &Reporter, line: &Line, kept: usize) -> Result<Option<Link>, ModelError> {
    let (found, _) = history::chain(reporter.shared(), reporter.thread().id(), line, kept + 1)
        .await
        .map_err(|error| ModelError::new(RunErrorKind::Storage, error.message))?;
    Ok(found.into_iter().nth(kept).map(|(link, _)| link))
}

async fn store(reporter: &Reporter, line: Line, compaction: Compaction) -> Result<Option<Line>, Over> {
    reporter
        .report(move |turn: &mut Turn<'_>, run_id| {
            let branch_id = turn.state().runs.get(run_id)?.run.branch_id.clone();
            let now = |turn: &Turn<'_>| turn.state().branches.get(&branch_id).map(crate::domain::BranchState::line);
            // What has moved meanwhile is read again, and looked at again.
            if now(turn)? == line {
                turn.change.compact(run_id, compaction);
            }
            now(turn)
        })
        .await
}

fn notice(messages: usize, before: u64, after: u64, trouble: Option<&str>) -> Notice {
    let text = format!(
        "{} messages were summarised so that the conversation fits into the model's window: about {} tokens before, {} after.",
        grouped(messages as u64),
        grouped(before),
        grouped(after)
    );
    match trouble {
        None => Notice { code: "compacted", text, severity: Severity::Info },
        Some(trouble) => Notice {
            code: "compacted",
            text: format!(
                "{text} The model did not summarise all of them, the first words of each stand there instead: {trouble}"
            ),
            severity: Severity::Warning,
        },
    }
}
