//! Files of tests that the program no longer takes in: their `mod` is gone, and they are still there.

use crate::{
    Change, finding, language,
    language::{Role, role},
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};

/// Every file of tests that lost the line that took it in.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let still: Vec<&String> = files.iter().flat_map(|file| file.after.includes.iter()).collect();
    let mut findings = Vec::new();
    for file in files {
        for name in file.before.includes.iter().filter(|name| !still.contains(name)) {
            let found = places(file.path, name)
                .into_iter()
                .find(|path| change.head.contains(path));
            if let Some(path) = found.filter(|path| role(path) == Role::Test) {
                let what = format!("`{path}` is no longer part of the program, and its tests are not run");
                findings.push(finding(Rule::TestRenamedAway, file.path, None, what));
            }
        }
    }
    findings
}

/// Where a module of this name stands that `path` takes in.
fn places(path: &str, name: &str) -> [String; 2] {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let stem = language::file_name(path).trim_end_matches(".rs");
    let at_root = matches!(stem, "lib" | "main" | "mod") || folder.ends_with("tests");
    let inside = if at_root {
        folder.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    let inside = inside.trim_start_matches('/');
    let start = if inside.is_empty() {
        String::new()
    } else {
        format!("{inside}/")
    };
    [format!("{start}{name}.rs"), format!("{start}{name}/mod.rs")]
}
