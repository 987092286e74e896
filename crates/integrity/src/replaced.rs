//! What tests put in the place of the very things that they are about.

use crate::{
    Change, finding,
    language::{Role, file_name, role},
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};

/// Everything that is replaced although it is under test.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    for file in files {
        let known = |name: &str| file.before.replaced.iter().any(|old| old.name == name);
        for replaced in file.after.replaced.iter().filter(|replaced| !known(&replaced.name)) {
            if is_under_test(change, file, &replaced.name) {
                findings.push(finding(
                    Rule::ShadowModule,
                    file.path,
                    Some(replaced.line),
                    replaced.what.clone(),
                ));
            }
        }
    }
    findings
}

/// Whether the thing that is replaced is what the tests are about: a path that the test file is named after, or a name
/// that the product of this very change defines.
fn is_under_test(change: &Change<'_>, file: &ReadFile<'_>, name: &str) -> bool {
    if name.starts_with('.') || name.starts_with("@/") || name.starts_with('~') {
        let stem = |path: &str| {
            file_name(path)
                .split('.')
                .next()
                .unwrap_or_default()
                .trim_start_matches("test-")
                .trim_end_matches("-test")
                .to_lowercase()
        };
        return stem(name) == stem(file.path);
    }
    let parts: Vec<&str> = name.split(['.', '/']).filter(|part| !part.is_empty()).collect();
    let Some((last, modules)) = parts.split_last() else {
        return false;
    };
    let is_module = |module: &str| {
        change.head.iter().any(|path| {
            role(path) == Role::Source
                && (file_name(path) == format!("{module}.py")
                    || path.split('/').rev().skip(1).any(|folder| folder == module))
        })
    };
    let of_tools = matches!(parts.first(), Some(&("pytest" | "_pytest" | "unittest")));
    let whole_module = is_module(last) && modules.iter().all(|module| is_module(module));
    let said = format!("{} {}", change.task.name, change.task.description).to_lowercase();
    let named = |word: &str| word.len() > 2 && said.contains(&word.to_lowercase());
    let changed = || {
        change.files.iter().any(|file| {
            role(&file.path) == Role::Source
                && String::from_utf8_lossy(file.after.bytes().unwrap_or_default()).contains(&format!("def {last}"))
        })
    };
    let of_product = !modules.is_empty() && modules.iter().any(|module| is_module(module));
    of_tools || whole_module || of_product && (changed() || named(last))
}
