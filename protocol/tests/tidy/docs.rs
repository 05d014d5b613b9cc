//! Documentation that names files names files that exist, and its links lead somewhere.

use std::{collections::BTreeSet, path::Path};

use crate::tree::{File, files_with, root};

/// Pages whose every path is a promise.
const PAGES_OF_PATHS: &[&str] = &["docs/architecture.md", "docs/contributing.md"];

/// The folders a path of the repository begins with.
const TOP: &[&str] = &["protocol/", "daemon/", "sdk-rust/", "sdk-ts/", "conformance/", "docs/", ".ci/"];

#[test]
fn every_path_named_in_the_pages_about_the_code_exists() {
    let pages: Vec<_> = files_with(".md").into_iter().filter(|page| PAGES_OF_PATHS.contains(&&*page.path)).collect();
    assert_eq!(pages.len(), PAGES_OF_PATHS.len(), "a page about the code is missing");
    let mut missing = Vec::new();
    for page in pages {
        for path in quoted(&page.text).filter(|text| TOP.iter().any(|top| text.starts_with(top))) {
            let without_function = path.split("::").next().unwrap();
            // `<noun>` stands for any: then the folder has to be there.
            let fixed = without_function.split('<').next().unwrap();
            if !root().join(fixed).exists() {
                missing.push(format!("{}: {path}", page.path));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn dyn_15_where_tools_are_introduced_the_page_says_that_nothing_sandboxes_them() {
    let first = first_paragraph("docs/tools.md");
    for words in ["with your application's permissions", "Nothing sandboxes it", "validates", "checks for itself"] {
        assert!(first.contains(words), "docs/tools.md does not begin by saying `{words}`: {first}");
    }
}

#[test]
fn dyn_26_every_production_client_is_told_to_register_an_approval_handler() {
    let advice = "very production client should register an approval handler";
    for page in ["docs/tools.md", "docs/approvals.md"] {
        let first = first_paragraph(page);
        assert!(first.contains(advice), "{page} does not begin by saying so: {first}");
    }
}

/// The first paragraph after the title, as one line.
fn first_paragraph(page: &str) -> String {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let lines = text.lines().skip_while(|line| line.is_empty() || line.starts_with('#'));
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_readme_begins_with_the_two_commands_and_can_be_read_in_one_go() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands: Vec<_> = readme.lines().skip_while(|line| !line.starts_with("```sh")).skip(1).take(2).collect();
    assert!(commands[0].starts_with("cargo run -- demo"), "{commands:?}");
    assert!(commands[1].starts_with("sh .ci/test"), "{commands:?}");
    assert!(readme.lines().count() <= 120, "the README is over 120 lines");
}

#[test]
fn the_raw_client_is_short_and_needs_nothing_but_node() {
    let client = std::fs::read_to_string(root().join("docs/examples/raw-client.mjs")).unwrap();
    assert!(client.lines().count() <= 40, "the raw client is over 40 lines");
    let imports: Vec<_> = client.lines().filter(|line| line.starts_with("import ")).collect();
    assert_eq!(imports, ["import { connect } from \"node:net\";"]);
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let mut broken = Vec::new();
    for page in files_with(".md") {
        for target in links(&page) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let folder = root().join(Path::new(&page.path).parent().unwrap());
            let file = if path.is_empty() { root().join(&page.path) } else { folder.join(path) };
            if !file.exists() {
                broken.push(format!("{}: {target}", page.path));
            } else if !anchor.is_empty() && !anchors(&std::fs::read_to_string(&file).unwrap()).contains(anchor) {
                broken.push(format!("{}: {target} (no such heading)", page.path));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_page_can_be_reached_from_the_index() {
    let index = files_with(".md").into_iter().find(|page| page.path == "docs/README.md").unwrap();
    let linked: BTreeSet<_> = links(&index).into_iter().map(|link| format!("docs/{link}")).collect();
    let lost: Vec<_> = files_with(".md")
        .into_iter()
        .map(|page| page.path)
        .filter(|path| path.starts_with("docs/") && path != "docs/README.md" && !linked.contains(path))
        .collect();
    assert!(lost.is_empty(), "docs/README.md does not link to {lost:#?}");
}

/// What stands between single backticks, outside of code blocks.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    prose(text).split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// The targets of `[text](target)`, outside of code.
fn links(page: &File) -> Vec<String> {
    let prose: String = prose(&page.text).split('`').step_by(2).collect();
    prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

fn prose(text: &str) -> String {
    let mut code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// What a link can name: headings as they are commonly spelled in links, and explicit anchors.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors: BTreeSet<String> =
        text.split("<a id=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(id, _)| id.to_owned()).collect();
    for heading in text.lines().filter_map(|line| line.strip_prefix('#')) {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
        anchors.insert(kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect());
    }
    anchors
}
