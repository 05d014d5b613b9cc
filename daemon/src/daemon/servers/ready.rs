//! Getting servers ready for a step: all at once, each for as long as it deserves.

use std::time::Duration;

use futures::future::join_all;

use super::ServerHub;
use crate::{
    sessions::Launch,
    tools::servers::{Missing, Place},
};

/// How long a step waits for a source that was ready before.
const PATIENCE: Duration = Duration::from_secs(1);

impl ServerHub {
    /// Opens what is needed, and says what is missing.
    pub(super) async fn ready_all(&self, place: &Place, needed: &[String]) -> Vec<Missing> {
        let opened = join_all(needed.iter().map(|source| self.ready(place, source))).await;
        opened.into_iter().flatten().collect()
    }

    async fn ready(&self, place: &Place, source: &str) -> Option<Missing> {
        let launch = self.book().launch(source, place)?;
        let missing = |reason| Missing { source: source.to_owned(), name: launch.name.clone(), reason };
        let opening = self.open(source, &launch);
        // A first list is worth waiting for: without it the model would not know what the server can do, and make something
        // up (M19). The start has an end of its own.
        if !self.was_tried(&launch) {
            return opening.await.err().map(|reason| missing(format!("{reason}.")));
        }
        tokio::select! {
            biased;
            opened = opening => opened.err().map(|reason| missing(format!("{reason}."))),
            () = self.clock.sleep(PATIENCE) => Some(missing("it is still starting.".to_owned())),
        }
    }

    /// Whether a start of it has ended in this life of the daemon, well or not.
    fn was_tried(&self, launch: &Launch) -> bool {
        use crate::sessions::Standing;
        let status = self.sessions().status(&launch.key);
        status.is_some_and(|status| status.listing.is_some() || matches!(status.standing, Standing::Failed { .. }))
    }
}
