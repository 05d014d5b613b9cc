//! Slugs, and the names that are made of them.

use super::*;

fn free(name: &str) -> String {
    slug(name, |_| false)
}

#[test]
fn mcp_11_a_slug_has_letters_and_digits_of_ascii_and_begins_with_a_letter() {
    assert_eq!(free("7 Ünïts GmbH & Co"), "unitsgmbhco");
    assert_eq!(free("Linear"), "linear");
    assert_eq!(free("GitHub 2"), "github2");
    assert_eq!(free("12345"), "server");
    assert_eq!(free("!!! ---"), "server");
    assert_eq!(free("日本"), "server");
    assert_eq!(free(""), "server");
}

#[test]
fn mcp_11_a_slug_has_at_most_24_characters() {
    assert_eq!(free(&"a".repeat(24)), "a".repeat(24));
    assert_eq!(free(&"a".repeat(25)), "a".repeat(24));
    assert_eq!(free(&"ä".repeat(120)), "a".repeat(24));
}

#[test]
fn mcp_12_a_taken_slug_is_counted_up_and_stays_within_24_characters() {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for _ in 0..3 {
        taken.insert(slug("Linear", |slug| taken.contains(slug)));
    }
    assert_eq!(taken, ["linear", "linear2", "linear3"].map(str::to_owned).into());

    let long = "b".repeat(40);
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for _ in 0..120 {
        let slug = slug(&long, |slug| taken.contains(slug));
        assert!(slug.len() <= 24, "{slug}");
        assert!(taken.insert(slug));
    }
    assert!(taken.contains(&format!("{}120", "b".repeat(21))));
}

#[test]
fn mcp_15_to_18_names_have_their_formats() {
    assert_eq!(connection_type("linear"), "mcp-linear");
    assert_eq!(permission("linear", "listIssues"), "mcp-linear.listIssues");
    assert_eq!(function("linear", "listIssues"), "mcp.linear.listIssues");
    assert_eq!(agent_tool("linear", "listIssues"), "mcp_linear_listIssues");
}

#[test]
fn mcp_18_m08_no_agent_tool_has_more_than_61_characters() {
    let slug = free(&"Server with a long name ".repeat(5));
    let ids = tool_ids(&BTreeMap::new(), [&*"tool with a long name ".repeat(9)]);
    let name = agent_tool(&slug, ids.values().next().unwrap());
    assert_eq!(name.len(), 61);
    assert!(crate::tools::names::check_name(&name).is_ok(), "{name}");
}

#[test]
fn k03_no_added_server_has_names_of_the_bundled_ones() {
    let bundled = crate::tools::names::server_flat_name("app", "read");
    assert_ne!(agent_tool("app", "read"), bundled);
    assert!(!tool_ids(&BTreeMap::new(), ["_read"]).values().any(|id| id.starts_with('_')));
}
