//! Recognises commands and targets that run tests by their own words.

/// `true` if a part of a name or a command speaks of tests, as in `run-tests` and `testament`, but not in `latest`.
pub(super) fn speaks_of_tests(text: &str) -> bool {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_lowercase);
    parts
        .into_iter()
        .any(|part| part.starts_with("test") || part.ends_with("tests"))
}
