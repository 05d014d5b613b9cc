//! The files of vectors: those of the kit, which are part of the program, or those of a folder.

use std::{collections::BTreeSet, fs, io, path::Path};

use super::{BadVector, Vector, read};

/// A topic and its file.
macro_rules! files {
    ($($topic:literal)*) => {
        &[$(($topic, include_str!(concat!("../../../vectors/daemon/", $topic, ".jsonl")))),*]
    };
}

/// The files of the kit, in the order in which an implementer gets to them.
const FILES: &[(&str, &str)] = files! {
    "framing"
    "ids"
    "batches"
    "handshake"
    "errors"
    "threads"
    "runs"
    "events"
    "interactions"
    "approvals"
    "questions"
    "declarations"
    "queue"
    "branches"
    "recovery"
    "transcripts"
    "faults"
    "deletion"
    "projects"
    "memory"
    "policies"
    "servers"
    "endpoints"
    "settings"
    "limits"
    "writes"
    "daemon"
};

/// Vectors, in the order of their files.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// Each vector.
    pub vectors: Vec<Vector>,
}

/// The vectors for daemons that are part of the kit.
///
/// # Errors
/// When one of them cannot be read, which a test rules out.
pub fn daemon_vectors() -> Result<Vectors, BadVector> {
    let mut vectors = Vectors::default();
    FILES.iter().try_for_each(|(topic, text)| vectors.read(topic, text))?;
    Ok(vectors)
}

impl Vectors {
    /// The vectors in the files `*.jsonl` of a folder, by name.
    ///
    /// # Errors
    /// When the folder or a file cannot be read, or a vector in it cannot.
    pub fn of_folder(folder: &Path) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::other(format!("{}: {error}", folder.display()));
        let entries = fs::read_dir(folder).map_err(named)?.map(|entry| entry.map(|entry| entry.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        paths.sort();
        let mut vectors = Self::default();
        for path in paths {
            let topic = path.file_stem().unwrap_or_default().to_string_lossy();
            vectors.read(&topic, &fs::read_to_string(&path)?).map_err(io::Error::other)?;
        }
        Ok(vectors)
    }

    fn read(&mut self, topic: &str, text: &str) -> Result<(), BadVector> {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            self.vectors.push(read::vector(topic, line)?);
        }
        let mut names = BTreeSet::new();
        match self.vectors.iter().find(|vector| !names.insert(&vector.name)) {
            Some(twice) => {
                Err(BadVector { place: topic.to_owned(), problem: format!("`{}` is there twice", twice.name) })
            }
            None => Ok(()),
        }
    }
}
