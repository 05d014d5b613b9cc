//! Rule `schema`: what a daemon sends, or a client, is what the bundle of schemas says.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::Broken;

/// The bundle, ready to check values; shared by all connections, since compiling is what takes time.
pub(crate) struct Schemas {
    bundle: Value,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Schemas {
    /// The schemas of the protocol that this kit is for.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Schemas>> =
            LazyLock::new(|| Arc::new(Schemas { bundle: ropewalk_protocol::bundle(), compiled: Mutex::default() }));
        Arc::clone(&SHARED)
    }

    /// The code of a kind of error; `None` for a kind there is not.
    pub(super) fn code(&self, kind: &str) -> Option<i64> {
        self.bundle["errors"].get(kind).and_then(Value::as_i64)
    }

    /// The parameters of a request or notification of the daemon; a method that is not known may be a later one's.
    pub(super) fn params(&self, method: &str, message: &Value) -> Result<(), Broken> {
        let is_request = message.get("id").is_some();
        let entry = if is_request { "methods" } else { "notifications" };
        let known = &self.bundle[entry][method];
        match known["direction"].as_str() {
            Some("toClient") => {
                self.check(&known["params"], &message["params"], &format!("the parameters of {method}"))
            }
            Some(_) => Err(Broken::new("schema", "a method that goes to clients", message.to_string())),
            None => Ok(()),
        }
    }

    /// The result in an answer to a request with this method.
    pub(super) fn result(&self, method: &str, answer: &Value) -> Result<(), Broken> {
        let known = &self.bundle["methods"][method]["result"];
        match answer.get("result") {
            Some(result) if !known.is_null() => self.check(known, result, &format!("the result of {method}")),
            _ => Ok(()),
        }
    }

    /// What a client sends: its requests and notifications, and its answer to a request with the method `asked`. Gives what
    /// should have been, and what is wrong.
    pub(in crate::kit) fn of_client(&self, message: &Value, asked: Option<&str>) -> Result<(), (String, String)> {
        let method = message["method"].as_str();
        let checked = match (method, asked) {
            (Some(method), _) => {
                let entry = if message.get("id").is_some() { "methods" } else { "notifications" };
                match &self.bundle[entry][method]["params"] {
                    Value::Null => Ok(()),
                    params => self.check(params, &message["params"], &format!("the parameters of {method}")),
                }
            }
            (None, Some(asked)) => self.result(asked, message),
            (None, None) => Ok(()),
        };
        checked.map_err(|Broken { expected, came, .. }| (expected, came))
    }

    /// An error as an answer has it.
    pub(super) fn error(&self, error: &Value) -> Result<(), Broken> {
        self.check(&json!({"$ref": "#/$defs/RpcError"}), error, "an error")
    }

    fn check(&self, schema: &Value, value: &Value, what: &str) -> Result<(), Broken> {
        let validator = self.validator(schema);
        let problems: Vec<_> = validator.iter_errors(value).take(3).map(|error| Self::problem(&error)).collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Broken::new("schema", format!("{what} as protocol/schema.json has it"), problems.join("; ")))
    }

    fn problem(error: &jsonschema::ValidationError<'_>) -> String {
        let mut said = error.to_string();
        if let Some((end, _)) = said.char_indices().nth(400) {
            said.truncate(end);
        }
        format!("at {}: {said}", error.instance_path())
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(compiled.entry(schema.to_string()).or_insert_with(|| Arc::new(self.compile(schema))))
    }

    fn compile(&self, schema: &Value) -> Validator {
        let mut document = schema.clone();
        document["$schema"] = self.bundle["$schema"].clone();
        document["$defs"] = self.bundle["$defs"].clone();
        let options = jsonschema::options().offline().should_validate_formats(true);
        options.build(&document).expect("the bundle's own schemas can be compiled, as a test of the protocol checks")
    }
}
