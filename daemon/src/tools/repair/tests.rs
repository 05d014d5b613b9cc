//! The two slips of a model that are mended, and everything that is not.

use serde_json::{Value, json};

use super::repair;

fn repaired(property: Value, value: Value) -> Option<Value> {
    let schema = json!({"type": "object", "properties": {"p": property}, "$defs": {
        "mode": {"type": "string", "enum": ["Submit", "Stop"]},
        "query": {"type": "object"},
    }});
    let arguments = json!({"p": value, "other": "[1]"});
    repair(arguments.as_object().unwrap(), &schema).map(|arguments| {
        assert_eq!(arguments["other"], "[1]", "an undeclared property is left alone");
        arguments["p"].clone()
    })
}

#[test]
fn app_215_text_of_an_object_or_a_list_is_parsed_where_one_is_declared() {
    assert_eq!(repaired(json!({"type": "array"}), json!(r#"["a","b"]"#)), Some(json!(["a", "b"])));
    assert_eq!(repaired(json!({"type": "object"}), json!(r#" {"a":1} "#)), Some(json!({"a": 1})));
    assert_eq!(repaired(json!({"$ref": "#/$defs/query"}), json!("{}")), Some(json!({})));
    assert_eq!(repaired(json!({"anyOf": [{"type": "array"}, {"type": "null"}]}), json!("[]")), Some(json!([])));
    assert_eq!(repaired(json!({"type": ["object", "null"]}), json!("{}")), Some(json!({})));
}

#[test]
fn app_215_text_stays_text_where_the_schema_would_take_a_string() {
    for property in [
        json!({"type": "string"}),
        json!({"type": ["array", "string"]}),
        json!({"anyOf": [{"type": "array"}, {"type": "string"}]}),
        json!({}),
        json!({"description": "anything"}),
        json!({"anyOf": [{"type": "array"}, {}]}),
    ] {
        assert_eq!(repaired(property.clone(), json!("[1]")), None, "{property}");
    }
}

#[test]
fn text_that_is_something_else_or_broken_is_left_to_the_check() {
    assert_eq!(repaired(json!({"type": "array"}), json!("{}")), None);
    assert_eq!(repaired(json!({"type": "object"}), json!("{\"a\":")), None);
    assert_eq!(repaired(json!({"type": "object"}), json!(r#"{"a":1,"a":2}"#)), None);
    assert_eq!(repaired(json!({"type": "object"}), json!(r#"{"a":99999999999999999999}"#)), None);
}

/// Field cases M06 and M07: what a value looks like never decides.
#[test]
fn m06_m07_numbers_and_truth_values_in_text_are_never_coerced() {
    for property in [
        json!({"type": "integer"}),
        json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        json!({"type": "boolean"}),
        json!({"type": "null"}),
        json!({"type": "string"}),
    ] {
        for value in ["5", "false", "007", "null", "00713"] {
            assert_eq!(repaired(property.clone(), json!(value)), None, "{property} {value}");
        }
    }
}

#[test]
fn app_216_a_word_in_the_wrong_case_becomes_the_one_it_matches() {
    let words = json!({"enum": ["Submit", "Stop", "stop"]});
    assert_eq!(repaired(words.clone(), json!("submit")), Some(json!("Submit")));
    assert_eq!(repaired(words.clone(), json!("STOP")), None, "two words match");
    assert_eq!(repaired(words.clone(), json!("Stop")), None, "it is right already");
    assert_eq!(repaired(words, json!("go")), None);
    assert_eq!(repaired(json!({"$ref": "#/$defs/mode"}), json!("SUBMIT")), Some(json!("Submit")));
    let documented = json!({"oneOf": [{"const": "Open", "description": "…"}, {"const": "Closed"}]});
    assert_eq!(repaired(documented, json!("open")), Some(json!("Open")));
    let optional = json!({"anyOf": [{"$ref": "#/$defs/mode"}, {"type": "null"}]});
    assert_eq!(repaired(optional, json!("stop")), Some(json!("Stop")));
    let free = json!({"anyOf": [{"enum": ["Open"]}, {"type": "string"}]});
    assert_eq!(repaired(free, json!("open")), None, "any string is right here");
}

#[test]
fn only_top_level_values_are_repaired() {
    let schema =
        json!({"type": "object", "properties": {"p": {"type": "object", "properties": {"q": {"type": "array"}}}}});
    assert_eq!(repair(json!({"p": {"q": "[]"}}).as_object().unwrap(), &schema), None);
}

#[test]
fn circles_of_references_end() {
    let schema = json!({"properties": {"p": {"$ref": "#/properties/p"}}});
    assert_eq!(repair(json!({"p": "[]"}).as_object().unwrap(), &schema), None);
}

#[test]
fn app_216_what_could_be_two_words_stays_wrong_however_the_schema_lists_them() {
    let two = [
        json!({"enum": ["on", "ON", "off"]}),
        json!({"oneOf": [{"const": "on"}, {"const": "ON"}]}),
        json!({"anyOf": [{"enum": ["on", "off"]}, {"enum": ["ON"]}]}),
    ];
    for words in two {
        assert_eq!(repaired(words.clone(), json!("On")), None, "{words}");
        assert_eq!(repaired(words, json!("on")), None, "one of them is right as it is");
    }
    let mixed = json!({"enum": ["Auto", 1, null]});
    assert_eq!(repaired(mixed.clone(), json!("AUTO")), Some(json!("Auto")));
    assert_eq!(repaired(mixed, json!("1")), None, "a number in text is no word of the list");
    assert_eq!(repaired(json!({"allOf": [{"enum": ["A", "a"]}, {"enum": ["A"]}]}), json!("a")), Some(json!("A")));
}
