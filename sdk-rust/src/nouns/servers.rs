//! MCP servers, and the reviews that decide which of their tools may be used.

use super::{noun, verbs};

noun! {
    /// MCP servers.
    Servers
}

impl Servers {
    verbs! {
        /// Adds a server that is a program on the daemon's computer. None of its tools can be used before a review of them is
        /// submitted.
        add = ServerAdd;
        /// The servers: those that are part of the daemon, then those that were added.
        list = ServerList;
        /// A server, with the last of what its process wrote to stderr.
        read = ServerRead;
        /// How servers stand.
        status = ServerStatus;
        /// Changes what is named of a server.
        update = ServerUpdate;
        /// Closes a server and opens it again.
        restart = ServerRestart;
        /// Removes a server, with the values of its environment and every rule about it.
        remove = ServerRemove;
    }
}

noun! {
    /// Reviews of what MCP servers offer.
    ServerReviews
}

impl ServerReviews {
    verbs! {
        /// What a server offers beside what was approved of it, as it was last listed.
        read = ServerReviewRead;
        /// The same, after asking the server.
        check = ServerReviewCheck;
        /// Approves the named tools of the review with this digest, and no others.
        submit = ServerReviewSubmit;
    }
}
