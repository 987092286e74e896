//! What programs really sent, for the tests of what reads it.

use std::collections::BTreeMap;

/// Returns what programs sent, by the names of its files in a folder of the corpus.
pub(super) fn corpus(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = format!("{}/corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    files
        .map(|file| {
            (
                file.file_name().into_string().unwrap(),
                std::fs::read(file.path()).unwrap(),
            )
        })
        .collect()
}
