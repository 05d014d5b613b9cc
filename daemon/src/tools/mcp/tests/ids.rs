//! Tool ids: short, one to one, and the same tomorrow.

use super::*;

fn id(name: &str) -> String {
    tool_ids(&BTreeMap::new(), [name]).remove(name).unwrap()
}

#[test]
fn mcp_13_words_are_joined_in_camel_case() {
    for name in ["list_issues", "list-issues", "list.issues", "list issues", "List Issues", "listIssues", "LIST_ISSUES"]
    {
        assert_eq!(id(name), "listIssues", "{name}");
    }
    assert_eq!(id("search"), "search");
    assert_eq!(id("get__user__by_id"), "getUserById");
}

#[test]
fn mcp_13_a_name_without_a_letter_to_begin_with_gets_one() {
    assert_eq!(id("2fa"), "tool2fa");
    assert_eq!(id("検索"), "tool");
    assert_eq!(id("--"), "tool");
}

#[test]
fn mcp_14_a_tool_id_has_at_most_32_characters() {
    assert_eq!(id(&"a".repeat(32)).len(), 32);
    assert_eq!(id(&"a".repeat(40)), "a".repeat(32));
}

#[test]
fn mcp_19_m10_tools_that_would_share_an_id_have_ids_of_their_own() {
    let ids = tool_ids(&BTreeMap::new(), ["list_issues", "listIssues", "list.issues"]);
    let distinct: BTreeSet<_> = ids.values().collect();
    assert_eq!(distinct.len(), 3);
    assert!(ids.values().all(|id| id.starts_with("listIssues") && id.len() <= 32), "{ids:?}");
}

#[test]
fn k03_the_same_set_gets_the_same_ids_in_whatever_order_it_is_listed() {
    let there = tool_ids(&BTreeMap::new(), ["list_issues", "listIssues", "search"]);
    let back = tool_ids(&BTreeMap::new(), ["search", "listIssues", "list_issues"]);
    assert_eq!(there, back);
}

#[test]
fn k03_an_id_that_was_given_stays_when_another_tool_joins_that_would_have_had_it() {
    let first = tool_ids(&BTreeMap::new(), ["list_issues"]);
    assert_eq!(first["list_issues"], "listIssues");
    let both = tool_ids(&first, ["listIssues", "list_issues"]);
    assert_eq!(both["list_issues"], "listIssues");
    assert_ne!(both["listIssues"], "listIssues");
}

#[test]
fn k03_an_id_of_a_tool_that_is_gone_is_not_given_to_another() {
    let given = BTreeMap::from([("list_issues".to_owned(), "listIssues".to_owned())]);
    assert_ne!(tool_ids(&given, ["list-issues"])["list-issues"], "listIssues");
}

#[test]
fn m12_200_names_alike_but_for_the_last_character_have_200_ids() {
    let names: Vec<String> =
        (0..200_u32).map(|number| format!("{}{}", "x".repeat(119), char::from_u32(0x100 + number).unwrap())).collect();
    let ids = tool_ids(&BTreeMap::new(), names.iter().map(String::as_str));
    assert_eq!(ids.values().collect::<BTreeSet<_>>().len(), 200);
    assert!(ids.values().all(|id| id.len() <= 32 && crate::tools::names::check_name(id).is_ok()));
}
