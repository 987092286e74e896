//! The published JSON Schema of `.github/autobuild.yml` says what the code reads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

const FILE: &str = "src/config/autobuild.schema.json";

#[test]
fn the_published_schema_is_the_one_that_the_code_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let mut schema = serde_json::to_string_pretty(&autobuild::config::json_schema()).unwrap();
    schema.push('\n');
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == schema,
        "{FILE} differs from the settings that the code knows; it should be:\n{schema}"
    );
}
