//! Recorded requests and greetings of real programs, for the tests of their readers.

use std::collections::BTreeMap;

/// Returns the recordings in a folder of the corpus, by the names of their files.
pub(super) fn corpus(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = format!("{}/corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())).collect()
}
