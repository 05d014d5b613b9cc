//! Which tools a search finds, and what the model is told of them.

use super::*;

fn named(name: &str, description: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec { flat_name: name.to_owned(), description: description.to_owned(), title: None, ..tool() })
}

fn names(found: &[Arc<ToolSpec>]) -> Vec<&str> {
    found.iter().map(|tool| &*tool.flat_name).collect()
}

#[test]
fn words_of_the_name_count_more_than_those_of_the_description() {
    let tools = [
        named("issues__list", "Lists what is open."),
        named("mail__send", "Sends a letter about an ISSUE."),
        named("clock", "The time."),
    ];
    assert_eq!(names(&found(&tools, "list issue")), ["issues__list", "mail__send"]);
    assert_eq!(names(&found(&tools, "TIME, please")), ["clock"]);
    assert!(found(&tools, " ?! ").is_empty());
}

#[test]
fn a_search_finds_at_most_sixteen_and_says_what_there_is_when_it_finds_none() {
    let tools: Vec<_> = (0..60).map(|number| named(&format!("tool_{number:02}"), "Does something.")).collect();
    let found = found(&tools, "something");
    assert_eq!(found.len(), FOUND);
    let told_found = told("something", &found, &tools);
    assert!(told_found.contains("- tool_15: Does something.") && !told_found.contains("tool_16"), "{told_found}");
    let told_none = told("weather", &[], &tools);
    assert!(told_none.contains("tool_49, and more.") && !told_none.contains("tool_50"), "{told_none}");
}
