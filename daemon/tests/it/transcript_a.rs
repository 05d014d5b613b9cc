//! The first transcript of the wire's documentation over the daemon as programs embed it, with the machine's clock.

use ropewalk_daemon::{
    SecretChoice,
    embed::{EmbedConfig, EmbedHome, embed},
};

pub use ropewalk_conformance::suite::{ORDER, play};

use crate::support::Raw;

#[tokio::test]
async fn a_raw_client_plays_transcript_a_over_a_pipe() {
    let daemon =
        embed(EmbedConfig { home: EmbedHome::Memory, listen: false, secret_store: SecretChoice::File }).await.unwrap();
    let mut client = Raw::greeted(daemon.pipe(), "bot", "in-A").await;
    assert_eq!(play(&mut client).await, ORDER);
}
