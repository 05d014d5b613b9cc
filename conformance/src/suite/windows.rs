//! Threads longer than the window of the model that answers them, in every shape: whatever is left out, what is sent fits
//! and is refused by nobody.

use serde_json::{Value, json};

use super::{
    Fresh,
    received::{Talk, endpoint},
    success, tool,
};
use crate::{ServerOptions, Shape};

scenarios! { $ windows
    wire:
        l24_a_thread_of_60000_tokens_goes_on_in_a_window_of_8000_in_every_shape
        l24_a_window_that_nobody_told_is_learned_and_no_request_is_made_twice;
    clock:;
}

/// The tokens of the window.
const WINDOW: u64 = 8_000;

/// Turns of about three thousand tokens each: said by the user, and said again or told by a tool.
const TURNS: usize = 20;

pub(super) async fn l24_a_thread_of_60000_tokens_goes_on_in_a_window_of_8000_in_every_shape(subject: Fresh) {
    let words = long();
    for shape in Shape::ALL {
        let options = ServerOptions { window_tokens: Some(WINDOW), ..ServerOptions::default() };
        let mut talk = Talk::with(&subject, *shape, &[tool("act")], options).await;
        let mut known = endpoint(&talk.server, *shape);
        known["contextTokens"] = json!(WINDOW);
        talk.bot.call("endpoint/set", known).await;
        for turn in 0..TURNS {
            match turn % 4 {
                // A call whose result is long, and one that is stopped before it has any.
                1 => drop(talk.play("think hm\ncall act {\"n\":1}\nthen say well", &[success(&words)]).await),
                3 => {
                    let run = talk.bot.submit(&talk.thread, &format!("call act {{\"text\":\"{words}\"}}")).await;
                    talk.bot.asked("tool/call").await;
                    talk.bot.call("run/stop", json!({"threadId": talk.thread})).await;
                    talk.bot.ended(&run).await;
                }
                _ => drop(talk.play(&format!("say {turn} {words}"), &[]).await),
            }
            talk.bot.kept.clear();
        }
        talk.play("say at last", &[]).await;
        talk.same_as_shown().await;
        let chain = talk.bot.chain(&talk.thread).await;
        assert!(chain.iter().any(|message| message["summary"] == true), "{shape:?}: something was summarised");
        let is_short = |message: &Value| message.to_string().len() < 40_000;
        assert!(chain.iter().all(is_short) && chain.len() < 2 * TURNS, "{shape:?}: {}", chain.len());
    }
}

pub(super) async fn l24_a_window_that_nobody_told_is_learned_and_no_request_is_made_twice(subject: Fresh) {
    let words = long();
    for shape in Shape::ALL {
        // Wide enough that a quarter of what is learned of it has room for the tools.
        let options = ServerOptions { window_tokens: Some(2 * WINDOW), ..ServerOptions::default() };
        let mut talk = Talk::with(&subject, *shape, &[tool("act")], options).await;
        for turn in 0..12 {
            talk.play(&format!("say {turn} {words}"), &[]).await;
        }
        talk.play("call act\nthen say at last", &[success(&words)]).await;
        let requests = talk.server.requests();
        let refused: Vec<_> = requests.iter().filter_map(|request| request.refused.as_deref()).collect();
        let is_for_length = |refusal: &&str| ["context", "too long"].iter().any(|word| refusal.contains(word));
        assert!(!refused.is_empty() && refused.iter().all(is_for_length), "{shape:?}: {refused:?}");
        assert!(refused.len() <= 3, "{shape:?}: what was learned is kept: {refused:?}");
        assert!(requests.windows(2).all(|two| two[0].body != two[1].body), "{shape:?}: nothing is asked twice");
        assert_eq!(requests.last().unwrap().refused, None, "{shape:?}");
    }
}

/// A text of fifteen hundred tokens that is one delta when it is said.
fn long() -> String {
    "word-".repeat(1_200)
}
