//! Reads the source files of the product, in which experiments break functions.

use crate::gates::{
    run::{context::GateError, overlay::FileToWrite},
    turn::Run,
};
use git::Blob;
use integrity::{
    language,
    language::{Role, role},
};

/// The most source files that are searched for names from the tests, and the largest one in bytes.
const MOST_FILES: usize = 1_500;
const LARGEST: u64 = 512 * 1024;

/// A file at the change's commit.
#[derive(Clone, Debug)]
pub(crate) struct SourceCode {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) mode: u32,
}

impl SourceCode {
    pub(crate) fn with_text(&self, text: &str) -> FileToWrite {
        FileToWrite { path: self.path.clone(), bytes: text.as_bytes().to_vec(), mode: self.mode }
    }
}

/// Returns the source files at the change's commit; none if there are too many.
pub(crate) async fn code(run: &Run<'_>) -> Result<Vec<SourceCode>, GateError> {
    let mut files = run.list(|path| role(path) == Role::Source && language::language_of(path).is_some()).await?;
    if files.len() > MOST_FILES {
        files.clear();
    }
    let blobs = run.blobs(&files, LARGEST).await?;
    let read = |((path, mode), blob)| match blob {
        Blob::Bytes(bytes) => String::from_utf8(bytes).ok().map(|text| SourceCode { path, text, mode }),
        Blob::Large(_) | Blob::None => None,
    };
    Ok(files.into_iter().zip(blobs).filter_map(read).collect())
}
