//! Ranges, and changes laid over rows.

use super::*;

struct Map(BTreeMap<Key, Vec<u8>>);

impl Rows for Map {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.get(key).cloned())
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        Ok(scan_map(&self.0, scan, |key, value| (key.clone(), value.clone())))
    }
}

fn key(text: &str) -> Key {
    Key(text.as_bytes().to_vec())
}

fn map(keys: &[&str]) -> Map {
    Map(keys.iter().map(|text| (key(text), b"old".to_vec())).collect())
}

fn names(rows: &dyn Rows, prefix: &str, after: Option<&str>, reverse: bool, limit: usize) -> Vec<String> {
    let scan = Scan { prefix: key(prefix), after: after.map(key), reverse, limit };
    let found = rows.scan(&scan).unwrap();
    found.into_iter().map(|(key, _)| String::from_utf8(key.0).unwrap()).collect()
}

#[test]
fn a_scan_stays_within_its_prefix_in_both_directions() {
    let rows = map(&["a", "b1", "b2", "b3", "c"]);
    assert_eq!(names(&rows, "b", None, false, 9), ["b1", "b2", "b3"]);
    assert_eq!(names(&rows, "b", None, true, 2), ["b3", "b2"]);
    assert_eq!(names(&rows, "", None, true, 9), ["c", "b3", "b2", "b1", "a"]);
}

#[test]
fn a_scan_goes_on_after_a_key_wherever_that_lies() {
    let rows = map(&["a", "b1", "b2", "b3", "c"]);
    assert_eq!(names(&rows, "b", Some("b1"), false, 9), ["b2", "b3"]);
    assert_eq!(names(&rows, "b", Some("b3"), true, 9), ["b2", "b1"]);
    assert_eq!(names(&rows, "b", Some("a"), false, 9), ["b1", "b2", "b3"]);
    assert_eq!(names(&rows, "b", Some("c"), true, 9), ["b3", "b2", "b1"]);
    assert!(names(&rows, "b", Some("c"), false, 9).is_empty());
    assert!(names(&rows, "b", Some("a"), true, 9).is_empty());
    assert!(names(&rows, "b", Some("b"), true, 9).is_empty());
}

#[test]
fn the_greatest_keys_have_a_range_too() {
    let mut rows = map(&["a"]);
    rows.0.insert(Key(vec![255, 255, 1]), Vec::new());
    let scan = Scan { prefix: Key(vec![255, 255]), after: None, reverse: true, limit: 9 };
    assert_eq!(rows.scan(&scan).unwrap().len(), 1);
}

#[test]
fn changes_that_wait_are_seen_as_if_they_were_written() {
    let base = map(&["b1", "b2", "b3", "b5"]);
    let mut overlay = Overlay::new(&base);
    overlay.add(vec![
        RowChange::Delete(key("b1")),
        RowChange::Put(key("b4"), b"new".to_vec()),
        RowChange::Put(key("b2"), b"new".to_vec()),
        RowChange::Delete(key("b5")),
    ]);
    assert_eq!(names(&overlay, "b", None, false, 2), ["b2", "b3"]);
    assert_eq!(names(&overlay, "b", None, true, 2), ["b4", "b3"]);
    assert_eq!(overlay.get(&key("b1")).unwrap(), None);
    assert_eq!(overlay.get(&key("b2")).unwrap(), Some(b"new".to_vec()));
    assert_eq!(overlay.take().len(), 4);
    assert_eq!(names(&overlay, "b", None, false, 9), ["b1", "b2", "b3", "b5"]);
}
