//! Values made from the schema bundle pass through the types: what is described is what is read and written.

use ropewalk_protocol::bundle;
use serde_json::{Map, Value, json};

use crate::{
    bundle::{Bundle, problems},
    typed::{RoundTrip, round_trip, types},
};

#[test]
fn every_value_the_bundle_describes_passes_through_its_type_without_a_loss() {
    let checks = Bundle::new();
    let document = bundle();
    let maker = Maker { defs: &document["$defs"] };
    let mut count = 0;
    let mut pass = |schema: &Value, check: &jsonschema::Validator, through: RoundTrip, what: &str| {
        for sample in maker.samples(schema, 0) {
            count += 1;
            let problems = problems(check, &sample);
            assert!(problems.is_empty(), "{what}: {problems:#?}\n{sample}");
            let written = through(sample.clone()).unwrap_or_else(|error| panic!("{what}: {error}\n{sample}"));
            assert!(is_kept(&sample, &written), "{what}:\n{sample}\nbecame\n{written}");
        }
    };
    for (name, types) in types() {
        if let Some(method) = document["methods"].get(name) {
            pass(&method["params"], &checks.params(name), types.params, &format!("the parameters of {name}"));
            pass(&method["result"], &checks.result(name), types.result.unwrap(), &format!("the result of {name}"));
        } else {
            pass(&document["notifications"][name]["params"], &checks.params(name), types.params, name);
        }
    }
    let error = json!({ "$ref": "#/$defs/RpcError" });
    pass(&error, &checks.definition("RpcError"), round_trip::<ropewalk_protocol::RpcError>, "errors");
    assert!(count > 300, "only {count} values were made");
}

/// Whether everything of a value is in what was written; fields with a default may have joined.
fn is_kept(value: &Value, written: &Value) -> bool {
    match (value, written) {
        (Value::Object(fields), Value::Object(others)) => {
            fields.iter().all(|(name, field)| others.get(name).is_some_and(|other| is_kept(field, other)))
        }
        (Value::Array(items), Value::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(item, other)| is_kept(item, other))
        }
        _ => value == written,
    }
}

/// Makes values that fit a schema: one with every field and, of each choice, each alternative once; one with what is
/// required alone.
struct Maker<'a> {
    defs: &'a Value,
}

impl Maker<'_> {
    fn samples(&self, schema: &Value, depth: usize) -> Vec<Value> {
        assert!(depth < 30, "the types refer to themselves");
        if let Some(target) = schema["$ref"].as_str() {
            return self.samples(&self.defs[target.rsplit('/').next().unwrap()], depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return vec![value.clone()];
        }
        if let Some(values) = schema["enum"].as_array() {
            return values.clone();
        }
        if let Some(choices) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            return choices.iter().flat_map(|choice| self.samples(choice, depth + 1)).collect();
        }
        if let Some(parts) = schema["allOf"].as_array() {
            return together(&parts.iter().map(|part| self.samples(part, depth + 1)).collect::<Vec<_>>());
        }
        match &schema["type"] {
            Value::Array(types) => types.iter().flat_map(|name| self.of_type(name, schema, depth)).collect(),
            name => self.of_type(name, schema, depth),
        }
    }

    fn of_type(&self, name: &Value, schema: &Value, depth: usize) -> Vec<Value> {
        match name.as_str() {
            Some("object") => self.objects(schema, depth),
            Some("array") => vec![Value::Array(self.samples(&schema["items"], depth + 1))],
            Some("string") if schema["format"] == "date-time" => vec![json!("2026-11-30T10:00:00Z")],
            Some("string") => vec![json!("text")],
            Some("integer") => vec![json!(3)],
            Some("number") => vec![json!(0.5)],
            Some("boolean") => vec![json!(true)],
            Some("null") => vec![Value::Null],
            _ => vec![json!({ "any": [1, "JSON", null] })],
        }
    }

    fn objects(&self, schema: &Value, depth: usize) -> Vec<Value> {
        if let Some(values @ Value::Object(_)) = schema.get("additionalProperties") {
            return self.samples(values, depth + 1).into_iter().map(|value| json!({ "running": value })).collect();
        }
        let none = Map::new();
        let fields: Vec<_> = schema["properties"]
            .as_object()
            .unwrap_or(&none)
            .iter()
            .map(|(name, field)| (name, self.samples(field, depth + 1)))
            .collect();
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let rounds = fields.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
        let nth = |round: usize, all: bool| -> Value {
            let kept = fields.iter().filter(|(name, _)| all || required.iter().any(|other| other == *name));
            kept.map(|(name, values)| ((*name).clone(), values[round % values.len()].clone())).collect()
        };
        (0..rounds).map(|round| nth(round, true)).chain([nth(0, false)]).collect()
    }
}

/// Objects that have the fields of one sample of each part.
fn together(parts: &[Vec<Value>]) -> Vec<Value> {
    let rounds = parts.iter().map(Vec::len).max().unwrap_or(0);
    let nth = |round: usize| -> Value {
        let objects = parts.iter().map(|samples| samples[round % samples.len()].as_object().unwrap().clone());
        Value::Object(objects.flatten().collect())
    };
    (0..rounds).map(nth).collect()
}
