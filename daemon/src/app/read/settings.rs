//! `Settings`: what holds for the whole daemon, and with it what a refusal can come from (APP-4). Keys are nowhere in it, and
//! neither is what may hold one: headers, proxies, the arguments of programs. How many tools a rule
//! matches now is the owner's to look up.

use serde_json::{Map, Value};

use super::{
    ReadPage, ReadParams, ReadResource,
    page::page,
    query,
    resources::{POLICY_WORDS, fields},
};
use crate::app::{AppServer, answer::ToolError, surroundings::Setting};

/// What is left out of a server and of an endpoint.
const PRIVATE: &[&str] = &["command", "args", "envNames", "stderrTail", "headers", "proxyUrl", "matches"];

const SERVER_WORDS: &[&str] = &["transport", "signIn", "state", "accounts/*/kind", "accounts/*/state"];
const SETTINGS_WORDS: &[&str] = &["secretStore"];
const ENDPOINT_WORDS: &[&str] = &["provider"];

impl AppServer {
    pub(super) fn settings(&self, params: &ReadParams, limit: u64) -> Result<ReadPage, ToolError> {
        let query = query(params, &["app_read Settings"], limit)?;
        let all = self.reader.settings();
        let total = all.len() as u64;
        let beyond = all.into_iter().filter(|setting| query.after().is_none_or(|after| *key(setting) > *after));
        let cursor = |setting: &Setting| query.cursor(&key(setting));
        let page = page(ReadResource::Settings, beyond.collect(), query.limit(), shown, cursor);
        Ok(ReadPage { total: Some(total), ..page })
    }
}

/// Where a thing stands in the list.
fn key(setting: &Setting) -> String {
    match setting {
        Setting::Settings(_) => "1".to_owned(),
        Setting::Server(server) => format!("2 {}", server.server_id),
        Setting::Policy(policy) => format!("3 {}", policy.policy_id),
        Setting::Endpoint(endpoint) => format!("4 {}", endpoint.endpoint_id),
    }
}

fn shown(setting: &Setting) -> Map<String, Value> {
    let words = match setting {
        Setting::Settings(_) => SETTINGS_WORDS,
        Setting::Server(_) => SERVER_WORDS,
        Setting::Policy(_) => POLICY_WORDS,
        Setting::Endpoint(_) => ENDPOINT_WORDS,
    };
    let mut shown = fields(setting, words);
    for private in PRIVATE {
        shown.remove(*private);
    }
    shown
}
