//! Placeholder until the daemon is put together.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_peer::{Feed, Peer};
use serde_json::value::RawValue;

use crate::{
    clock::Clock,
    dispatch::{Host, Journal, Standing},
    peer::Client,
};

/// Everything one daemon is made of.
pub enum Daemon {}

impl Host for Daemon {
    type Client = Client;

    fn connected(self: &Arc<Self>, _: &Peer) -> (Arc<Client>, Arc<dyn Feed>) {
        match **self {}
    }

    fn disconnected(self: &Arc<Self>, _: &Arc<Client>) {
        match **self {}
    }

    fn notification(self: &Arc<Self>, _: &Arc<Client>, _: &str, _: Option<&RawValue>) {
        match **self {}
    }

    fn journal(&self) -> &dyn Journal {
        match *self {}
    }

    fn clock(&self) -> &dyn Clock {
        match *self {}
    }

    fn standing(&self) -> Standing {
        match *self {}
    }

    fn wound_down(&self) -> BoxFuture<'_, ()> {
        match *self {}
    }
}
