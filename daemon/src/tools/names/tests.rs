//! Flat names: their form, their limit, and the near ones of a wrong one.

use super::{NameProblem, check_client_flat_name, check_name, flat_name, near_names, server_flat_name};

#[test]
fn flat_names_join_with_two_underscores() {
    assert_eq!(flat_name(None, "get_issue"), "get_issue");
    assert_eq!(flat_name(Some("tracker"), "get_issue"), "tracker__get_issue");
    assert_eq!(server_flat_name("app", "ask_user"), "mcp_app__ask_user");
}

#[test]
fn names_hold_their_alphabet_and_their_limit() {
    for good in ["a", "A-b_9", &"x".repeat(64)] {
        assert_eq!(check_name(good), Ok(()), "{good}");
    }
    for bad in ["", "a b", "a.b", "ä", "a/b", &"x".repeat(65)] {
        assert_eq!(check_name(bad), Err(NameProblem::NotAName), "{bad}");
    }
}

#[test]
fn a_client_can_neither_exceed_the_limit_with_its_namespace_nor_look_like_a_server() {
    let name = "x".repeat(30);
    assert_eq!(check_client_flat_name(&flat_name(Some(&"n".repeat(32)), &name)), Ok(()));
    let long = flat_name(Some(&"n".repeat(33)), &name);
    assert_eq!(check_client_flat_name(&long), Err(NameProblem::FlatNameTooLong));
    assert_eq!(check_client_flat_name("mcp_app__ask_user"), Err(NameProblem::KeptForServers));
    assert_eq!(check_client_flat_name("mcp-app"), Ok(()));
}

#[test]
fn near_names_find_typos_cases_and_lost_prefixes() {
    let names = ["get_issue", "list_issues", "mcp_app__ask_user", "tracker__get_issues", "delete_everything"];
    assert_eq!(near_names("get_isue", names)[0], "get_issue");
    assert_eq!(near_names("Get_Issue", names)[0], "get_issue");
    assert_eq!(near_names("ask_user", names), ["mcp_app__ask_user"]);
    assert_eq!(near_names("functions.get_issue", names)[0], "get_issue");
    assert!(near_names("zzz", names).is_empty());
    assert!(near_names("issue", ["get_issue"; 9]).len() <= 3);
}
