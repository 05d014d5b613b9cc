//! What is read of a directory's `AGENTS.md` and `CLAUDE.md`, and what is not.

use std::os::unix::fs::symlink;

use super::*;

const NAME: &str = NAMES[0];

fn read(directory: &tempfile::TempDir) -> Option<Result<String, String>> {
    let file = file(directory.path().to_str().unwrap(), NAME)?;
    assert!(file.path.ends_with("/AGENTS.md"));
    Some(file.text)
}

#[test]
fn a_file_is_read_anew_and_one_that_is_not_there_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(read(&directory), None);
    std::fs::write(directory.path().join(NAME), "Be kind.").unwrap();
    assert_eq!(read(&directory), Some(Ok("Be kind.".to_owned())));
    std::fs::write(directory.path().join(NAME), "Be brief.").unwrap();
    assert_eq!(read(&directory), Some(Ok("Be brief.".to_owned())), "a change is seen");
}

#[test]
fn what_cannot_be_read_is_said_and_never_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(NAME);
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(read(&directory), Some(Err("it is not UTF-8".to_owned())));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(read(&directory), Some(Err("it is no file".to_owned())));
    std::fs::remove_dir(&path).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
    assert!(read(&directory).is_some_and(|text| text.is_err()), "a pipe is no file");
}

#[test]
fn a_link_within_the_directory_is_followed_and_one_that_leaves_it_is_not() {
    let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(elsewhere.path().join("secret"), "SECRET").unwrap();
    symlink(elsewhere.path().join("secret"), directory.path().join(NAME)).unwrap();
    assert_eq!(read(&directory), Some(Err(LEADS_OUT.to_owned())));
    std::fs::remove_file(directory.path().join(NAME)).unwrap();
    std::fs::write(directory.path().join("other.md"), "Inside.").unwrap();
    symlink("other.md", directory.path().join(NAME)).unwrap();
    assert_eq!(read(&directory), Some(Ok("Inside.".to_owned())));
}

#[test]
fn of_a_long_file_the_first_mib_is_read_and_no_character_is_cut_in_two() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(NAME), "é".repeat(1 << 20)).unwrap();
    let text = read(&directory).unwrap().unwrap();
    assert!(text.len() <= (1 << 20) + 64 && text.ends_with("[only the first MiB was read]"));
}

#[test]
fn b2_both_names_are_read_and_nothing_below_the_root_of_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    assert_eq!(of_directory(path), []);
    std::fs::create_dir(directory.path().join("below")).unwrap();
    std::fs::write(directory.path().join("below/AGENTS.md"), "deep").unwrap();
    std::fs::write(directory.path().join("CLAUDE.md"), "two").unwrap();
    std::fs::write(directory.path().join("AGENTS.md"), "one").unwrap();
    let texts: Vec<_> = of_directory(path).into_iter().map(|file| file.text.unwrap()).collect();
    assert_eq!(texts, ["one", "two"]);
}
