//! The recipes of the documentation.

use std::{fs, path::Path};

/// The recipes of the page about the App tools: their titles, and their last steps.
fn recipes() -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/app-tools.md");
    let page = fs::read_to_string(page).unwrap();
    let sections = page.split("\n### ").skip(1).map(|section| {
        let (title, rest) = section.split_once('\n').unwrap();
        let steps = rest.split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
        (title.to_owned(), steps.lines().last().unwrap().to_owned())
    });
    sections.collect()
}

#[test]
fn app_201_each_of_the_three_recipes_ends_by_showing_what_it_made() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 3, "{recipes:?}");
    for (field, (title, last)) in ["projectId", "threadId", "branchId"].iter().zip(recipes) {
        assert!(last.contains(&format!("app_navigate {{\"{field}\": ")), "{title} ends with {last}");
    }
}
