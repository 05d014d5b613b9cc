//! The schema bundle as a stranger's program uses it.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use jsonschema::Validator;
use ropewalk_protocol::{METHODS, NOTIFICATIONS, bundle, schema_hash};
use serde_json::{Value, json};

use crate::typed::types;

/// The bundle, ready to check values.
pub(crate) struct Bundle {
    document: Value,
    /// Compiled once each: most recorded lines are events.
    checks: RefCell<HashMap<String, Rc<Validator>>>,
}

impl Bundle {
    pub(crate) fn new() -> Self {
        Self { document: bundle(), checks: RefCell::default() }
    }

    /// A check of the parameters of a method or notification.
    pub(crate) fn params(&self, name: &str) -> Rc<Validator> {
        let entry = if self.document["methods"].get(name).is_some() { "methods" } else { "notifications" };
        self.check(&self.document[entry][name]["params"])
    }

    /// A check of the result of a method.
    pub(crate) fn result(&self, name: &str) -> Rc<Validator> {
        self.check(&self.document["methods"][name]["result"])
    }

    /// A check against one definition.
    pub(crate) fn definition(&self, name: &str) -> Rc<Validator> {
        assert!(self.document["$defs"].get(name).is_some(), "{name} is not defined");
        self.check(&json!({ "$ref": format!("#/$defs/{name}") }))
    }

    fn check(&self, schema: &Value) -> Rc<Validator> {
        let mut checks = self.checks.borrow_mut();
        Rc::clone(checks.entry(schema.to_string()).or_insert_with(|| Rc::new(self.compile(schema))))
    }

    fn compile(&self, schema: &Value) -> Validator {
        let mut document = schema.as_object().expect("a schema of the bundle is an object").clone();
        document.insert("$schema".to_owned(), self.document["$schema"].clone());
        document.insert("$defs".to_owned(), self.document["$defs"].clone());
        jsonschema::options().offline().should_validate_formats(true).build(&Value::Object(document)).unwrap()
    }
}

/// All reasons why a value is refused, for a message.
pub(crate) fn problems(check: &Validator, value: &Value) -> Vec<String> {
    check.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_bundle_lists_every_method_notification_error_and_limit() {
    let bundle = bundle();
    let names = |key: &str| bundle[key].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names("methods"), METHODS.iter().map(|entry| entry.name).collect::<Vec<_>>());
    assert_eq!(names("notifications"), NOTIFICATIONS.iter().map(|entry| entry.name).collect::<Vec<_>>());
    assert_eq!(bundle["errors"]["invalidParams"], -32602);
    assert_eq!(bundle["errors"].as_object().unwrap().len(), ropewalk_protocol::ERROR_CODES.len());
    assert_eq!(bundle["limits"]["maxMessageBytes"], 16_777_216);
    assert_eq!(bundle["protocolVersion"], 1);
}

#[test]
fn every_method_and_notification_of_the_catalogue_is_checked_by_type() {
    let listed: Vec<_> =
        METHODS.iter().map(|entry| entry.name).chain(NOTIFICATIONS.iter().map(|entry| entry.name)).collect();
    let checked = types();
    assert_eq!(checked.len(), listed.len());
    assert!(listed.iter().all(|name| checked.contains_key(name)));
}

#[test]
fn every_definition_is_a_valid_schema_whose_references_lead_somewhere() {
    let bundle = Bundle::new();
    for name in bundle.document["$defs"].as_object().unwrap().keys() {
        bundle.definition(name);
    }
    assert!(jsonschema::meta::is_valid(&bundle.document));
}

#[test]
fn every_mutating_method_takes_an_operation_id_and_says_whether_it_was_replayed() {
    let bundle = bundle();
    let definition = |reference: &Value| {
        let name = reference["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        bundle["$defs"][name]["properties"].clone()
    };
    for entry in METHODS.iter().filter(|entry| entry.mutates) {
        let schema = &bundle["methods"][entry.name];
        assert!(definition(&schema["params"]).get("operationId").is_some(), "{} takes no operationId", entry.name);
        let result = definition(&schema["result"]);
        assert!(
            result.as_object().is_none_or(serde_json::Map::is_empty) || result.get("replayed").is_some(),
            "{} does not say whether it was replayed",
            entry.name
        );
    }
}

#[test]
fn newtype_variants_keep_the_fields_of_what_they_wrap() {
    let bundle = Bundle::new();
    let event = bundle.definition("Event");
    assert!(!event.is_valid(&json!({ "type": "queueChanged" })));
    assert!(event.is_valid(&json!({
        "type": "queueChanged", "branchId": "b", "held": false, "length": 0, "change": "released"
    })));
    assert!(!event.is_valid(&json!({ "type": "toolsChanged" })));
    let item = bundle.definition("Item");
    assert!(!item.is_valid(&json!({
        "itemId": "i", "branchId": "b", "state": "open", "startedAt": "2026-11-30T10:00:00Z", "kind": "toolCall"
    })));
}

#[test]
fn answers_and_declarations_are_closed_and_what_the_daemon_writes_is_open() {
    let bundle = Bundle::new();
    let answer = json!({ "success": true, "contentItems": [{ "type": "text", "text": "x", "extra": 1 }] });
    assert!(!bundle.result("tool/call").is_valid(&answer));
    assert!((types()["tool/call"].result.unwrap())(answer).is_err());

    let declaration =
        json!({ "name": "x", "description": "x", "inputSchema": {}, "annotations": { "readOnly": true } });
    let start = json!({ "tools": [declaration] });
    assert!(!bundle.params("thread/start").is_valid(&start));
    assert!((types()["thread/start"].params)(start).is_err());

    let part = json!({ "type": "text", "text": "x", "extra": 1 });
    assert!(bundle.definition("Part").is_valid(&part));
    assert!(serde_json::from_value::<ropewalk_protocol::Part>(part).is_ok());
}

#[test]
fn an_optional_field_is_absent_rather_than_null_unless_null_clears_it() {
    let bundle = Bundle::new();
    assert!(!bundle.params("thread/start").is_valid(&json!({ "title": null })));
    assert!(bundle.params("thread/update").is_valid(&json!({ "threadId": "t", "title": null })));
}

#[test]
fn the_schema_hash_is_a_sha_256_in_hex_and_always_the_same() {
    assert_eq!(schema_hash().len(), 64);
    assert!(schema_hash().bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)));
    assert_eq!(schema_hash(), schema_hash());
}
