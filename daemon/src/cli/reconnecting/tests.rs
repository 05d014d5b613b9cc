//! What is said of the connection, and what is not said twice.

use ropewalk::Connection;
use tokio::time::Instant;

use super::{BACK, LOST, words};

fn away(attempt: u32) -> Connection {
    Connection::Reconnecting { since: Instant::now(), attempt, reason: "it was lost".into() }
}

#[test]
fn a_loss_is_said_once_and_so_is_its_end() {
    let first = Connection::Connected { daemon: "dm-1".into(), reconnects: 0 };
    let second = Connection::Connected { daemon: "dm-2".into(), reconnects: 1 };
    assert_eq!(words(&first, &away(1)), Some(LOST));
    assert_eq!(words(&away(1), &away(2)), None);
    assert_eq!(words(&away(2), &second), Some(BACK));
    // Both happened before anybody looked.
    assert_eq!(words(&first, &second), Some(BACK));
    assert_eq!(words(&first, &Connection::Closed { error: None }), None);
}
