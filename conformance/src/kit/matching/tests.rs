//! What patterns take and refuse, and what templates become.

use serde_json::{Value, json};

use super::{Captures, Mismatch, check_pattern, check_template, matches};

fn hold(pattern: Value, value: Value) -> Result<Captures, Mismatch> {
    let mut captures = Captures::new();
    captures.set("known", json!("k"));
    captures.set("seven", json!(7));
    matches(&pattern, Some(&value), &mut captures).map(|()| captures)
}

fn takes(pattern: Value, value: Value) -> Captures {
    assert_eq!(check_pattern(&pattern), Ok(()));
    hold(pattern, value).unwrap()
}

fn refuses(pattern: Value, value: Value) -> Mismatch {
    assert_eq!(check_pattern(&pattern), Ok(()));
    hold(pattern, value).unwrap_err()
}

#[test]
fn an_object_takes_more_members_and_an_array_no_more_elements() {
    takes(json!({"a": {"b": 1}}), json!({"a": {"b": 1.0, "c": 2}, "d": 3}));
    takes(json!([1, {"a": true}]), json!([1, {"a": true, "b": 0}]));
    assert_eq!(refuses(json!([1]), json!([1, 2])).expected, "an array of 1");
    let wrong = refuses(json!({"a": {"b/c": 1}}), json!({"a": {"b/c": 2}}));
    assert_eq!((&*wrong.path, &*wrong.expected, &*wrong.came), ("/a/b~1c", "1", "2"));
    assert_eq!(refuses(json!({"a": null}), json!({})).came, "nothing");
    takes(json!({"a": null}), json!({"a": null}));
}

#[test]
fn a_name_captures_once_and_is_compared_afterwards() {
    let captures = takes(json!({"a": "$x", "b": ["$x", "$known"]}), json!({"a": 1, "b": [1, "k"]}));
    assert_eq!(captures.get("x"), Some(&json!(1)));
    refuses(json!({"a": "$x", "b": "$x"}), json!({"a": 1, "b": 2}));
    refuses(json!("$known"), json!("other"));
    takes(json!("${known}-${seven}"), json!("k-7"));
    takes(json!("$$known"), json!("$known"));
    takes(json!("$/cancelRequest"), json!("$/cancelRequest"));
}

#[test]
fn nothing_is_captured_by_what_does_not_match() {
    let mut captures = Captures::new();
    let pattern = json!({"a": "$x", "b": 1});
    matches(&pattern, Some(&json!({"a": 1, "b": 2})), &mut captures).unwrap_err();
    assert_eq!(captures.get("x"), None);
    let captures = takes(json!({"$oneOf": [{"a": "$x", "b": 1}, {"b": "$x"}]}), json!({"a": 5, "b": 2}));
    assert_eq!(captures.get("x"), Some(&json!(2)));
}

#[test]
fn each_operator_takes_what_it_says() {
    for (pattern, taken, refused) in [
        (json!({"$any": true}), json!(null), None),
        (json!({"$type": "integer"}), json!(1), Some(json!(1.5))),
        (json!({"$type": ["string", "null"]}), json!(null), Some(json!([]))),
        (json!({"$regex": "^a+$"}), json!("aa"), Some(json!("ab"))),
        (json!({"$above": "$seven"}), json!(8), Some(json!(7))),
        (json!({"$atLeast": 7, "$atMost": "$seven"}), json!(7), Some(json!(8))),
        (json!({"$length": 2}), json!("äö"), Some(json!([1]))),
        (json!({"$length": {"$above": 1}}), json!([1, 2]), Some(json!({"a": 1}))),
        (json!({"$json": {"a": 1}}), json!("{\"a\":1}"), Some(json!("{"))),
        (json!({"$exactly": {"a": 1}}), json!({"a": 1}), Some(json!({"a": 1, "b": 2}))),
        (json!({"$not": {"a": 1}}), json!({"a": 2}), Some(json!({"a": 1}))),
        (json!({"$oneOf": [1, "x"]}), json!("x"), Some(json!(2))),
        (json!({"$contains": [{"a": 1}, 3]}), json!([3, {"a": 1}, 4]), Some(json!([3, 4]))),
        (json!({"$unordered": [1, 2]}), json!([2, 1]), Some(json!([1, 2, 3]))),
        (json!({"$as": "x", "$type": "string"}), json!("s"), Some(json!(1))),
        (json!({"a": {"$absent": true}}), json!({}), Some(json!({"a": null}))),
        (json!({"a": {"$absent": false}}), json!({"a": null}), Some(json!({}))),
        (json!({"$sum": ["$seven", 1]}), json!(8), Some(json!(7))),
        (json!({"$as": "x", "$is": {"a": 1}}), json!({"a": 1, "b": 2}), Some(json!({"a": 2}))),
    ] {
        takes(pattern.clone(), taken);
        if let Some(refused) = refused {
            refuses(pattern, refused);
        }
    }
}

#[test]
fn a_template_is_filled_with_what_was_captured_and_generated() {
    let mut captures = Captures::new();
    captures.set("id", json!("i"));
    captures.set("seq", json!(5));
    let filled = captures.fill(&json!({
        "a": "$id", "b": "x ${id} ${seq}", "c": {"$sum": ["$seq", -2]}, "d": {"$repeat": "ab", "times": 2},
        "e": {"$list": {"n": "$index"}, "times": 2}, "f": {"$nest": 2}, "g": {"$text": {"id": "$id"}}, "h": "$$id",
    }));
    let expected = json!({
        "a": "i", "b": "x i 5", "c": 3, "d": "abab", "e": [{"n": 0}, {"n": 1}], "f": [[0]], "g": "{\"id\":\"i\"}",
        "h": "$id",
    });
    assert_eq!(filled, Ok(expected));
    assert_eq!(captures.fill(&json!(["$nobody"])).unwrap_err().to_string(), "$nobody was never captured");
    captures.fill(&json!({"$repeat": "a", "times": -1})).unwrap_err();
}

#[test]
fn what_is_misspelt_is_found_before_it_is_used() {
    let problem = check_pattern(&json!({"a": {"$typ": "string"}})).unwrap_err();
    assert_eq!(problem.path, "/a");
    check_pattern(&json!({"$type": "string", "a": 1})).unwrap_err();
    check_pattern(&json!({"$regex": "("})).unwrap_err();
    check_template(&json!({"$typ": 1})).unwrap_err();
    check_template(&json!({"$any": true})).unwrap_err();
}
