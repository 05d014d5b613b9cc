//! Pages at their bounds.

use ropewalk_protocol::Page;

use super::*;

fn numbers(query: &PageQuery, count: u32) -> Page<String> {
    let after = query.after().map(ToOwned::to_owned);
    let all = (0..count).map(|number| format!("{number:05}"));
    query.fill(all.filter(|text| after.as_ref().is_none_or(|after| text > after)), Clone::clone)
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let query = PageQuery::new(&["numbers"], cursor.as_deref(), Some(7)).unwrap();
        let page = numbers(&query, 23);
        seen.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..23).map(|number| format!("{number:05}")).collect::<Vec<_>>());
}

#[test]
fn a_page_has_a_hundred_items_unless_told_otherwise_and_a_thousand_at_most() {
    for (limit, expected) in
        [(None, 100), (Some(1), 1), (Some(1_000), 1_000), (Some(1_001), 1_000), (Some(u64::MAX), 1_000)]
    {
        let query = PageQuery::new(&["numbers"], None, limit).unwrap();
        assert_eq!(numbers(&query, 2_000).items.len(), expected, "limit {limit:?}");
    }
    assert_eq!(PageQuery::new(&["numbers"], None, Some(0)), Err(PageError::NoItems));
}

#[test]
fn a_page_that_holds_everything_has_no_next_cursor() {
    let query = PageQuery::new(&["numbers"], None, Some(10)).unwrap();
    assert!(numbers(&query, 10).next_cursor.is_none());
    assert!(numbers(&query, 11).next_cursor.is_some());
    assert!(numbers(&query, 0).next_cursor.is_none());
}

#[test]
fn a_page_ends_at_its_characters_and_always_holds_its_first_item() {
    let query = PageQuery::new(&["texts"], None, None).unwrap();
    // Two bytes a character, and the quotes around it.
    let half = "ä".repeat(131_070);
    let filled = query.fill(vec![half.clone(), half.clone(), "x".into()], |text| text.len().to_string());
    assert_eq!(filled.items.len(), 2);
    assert!(filled.next_cursor.is_some());

    let over = query.fill(vec![half.clone(), format!("{half}ä")], |text| text.len().to_string());
    assert_eq!(over.items.len(), 1);

    let huge = query.fill(vec!["x".repeat(300_000), "y".into()], |text| text.len().to_string());
    assert_eq!(huge.items.len(), 1);
    assert!(huge.next_cursor.is_some());
}

#[test]
fn a_cursor_that_is_none_of_ours_or_of_another_list_is_refused() {
    let query = PageQuery::new(&["grant/list ", "p-1"], None, Some(1)).unwrap();
    let cursor = numbers(&query, 2).next_cursor.unwrap();
    assert!(PageQuery::new(&["grant/list ", "p-1"], Some(&cursor), None).is_ok());

    let foreign = PageQuery::new(&["grant/list ", "p-2"], Some(&cursor), None);
    assert_eq!(foreign, Err(PageError::ForeignCursor));
    for cursor in ["", "42", "not a cursor!", "AAAA", "_w"] {
        let malformed = PageQuery::new(&["grant/list ", "p-1"], Some(cursor), None);
        assert_eq!(malformed, Err(PageError::MalformedCursor), "{cursor:?}");
    }
}

#[test]
fn a_refused_cursor_is_told_with_its_path() {
    for (error, path, reason) in [
        (PageError::MalformedCursor, "/cursor", "malformed_cursor"),
        (PageError::ForeignCursor, "/cursor", "foreign_cursor"),
        (PageError::NoItems, "/limit", "out_of_range"),
    ] {
        assert_eq!(RpcError::from(error), RpcError::invalid_params(path, reason, error.to_string()));
    }
}
