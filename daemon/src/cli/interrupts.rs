//! Ctrl-C, one press after the other.

use tokio::sync::mpsc;

/// How many presses wait to be looked at; more say nothing new.
const PRESSES: usize = 4;

/// The presses of Ctrl-C from now on: they no longer end the process.
pub(crate) struct Interrupts(mpsc::Receiver<()>);

impl Interrupts {
    /// Those of the process.
    pub(crate) fn of_process() -> Self {
        let (presses, receiver) = mpsc::channel(PRESSES);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if matches!(presses.try_send(()), Err(mpsc::error::TrySendError::Closed(()))) {
                    break;
                }
            }
        });
        Self(receiver)
    }

    /// Those of a test.
    #[cfg(test)]
    pub(crate) fn from_test(receiver: mpsc::Receiver<()>) -> Self {
        Self(receiver)
    }

    /// Resolves at the next press.
    pub(crate) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending().await
        }
    }
}
