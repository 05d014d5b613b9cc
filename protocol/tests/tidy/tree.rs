//! The files of the repository, as every other test here sees them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders that hold nothing written by hand.
const SKIPPED: &[&str] = &["target", "node_modules", "dist", ".git"];

/// A text file of the repository.
pub(crate) struct File {
    /// Where it is, from the root, with `/` between the parts.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
}

impl File {
    /// Whether it holds tests rather than what is tested.
    pub(crate) fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap();
        name == "tests.rs" || self.path.contains("/tests/") || self.path.contains("/benches/")
    }

    /// How many lines it has.
    pub(crate) fn lines(&self) -> usize {
        self.text.lines().count()
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every text file, in the order of the paths.
pub(crate) fn files() -> Vec<File> {
    let mut files = Vec::new();
    collect(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The files whose names end so.
pub(crate) fn files_with(extension: &str) -> Vec<File> {
    files().into_iter().filter(|file| file.path.ends_with(extension)).collect()
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !SKIPPED.contains(&&*name) {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push(File { path, text });
        }
    }
}
