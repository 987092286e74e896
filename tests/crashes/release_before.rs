//! The release before, which runs beside this version on one database.

use std::path::PathBuf;

/// Returns its program. `.ci/thorough chaos` builds it from the commit that the file `release_before` names: stored forms
/// are compatible from there on.
pub fn program() -> PathBuf {
    let program = std::env::var_os("RELEASE_BEFORE").expect("RELEASE_BEFORE names its program");
    PathBuf::from(program)
}
