//! Finds the tests that a change brings and that have no result, and the condition that kept them from running.

use crate::gates::{change::Change, compare, run::context::GateError, said, turn::Run};
use domain::evidence::{Evidence, TestNames};
use std::collections::BTreeSet;

/// The most of a file that is read for a condition, in bytes.
const MOST_READ: usize = 256 * 1024;

/// Returns where the change's new tests without a result are, and what keeps them from running, as a sentence; `None` if
/// there are none, or the run names no tests.
pub(crate) async fn unrun_tests(run: &Run<'_>, head: &Evidence) -> Result<Option<String>, GateError> {
    let Some(names) = compare::names(head) else {
        return Ok(None);
    };
    let unrun = unrun(run.change, names);
    let Some((_, path)) = unrun.first() else {
        return Ok(None);
    };
    let here = unrun.iter().filter(|(_, other)| other == path);
    let shown: Vec<String> = here.map(|(name, path)| format!("{name} in {path}")).collect();
    let shown = said::list(&shown);
    let Some(condition) = condition(run, path).await? else {
        return Ok(Some(format!(
            "new tests are there and no result of the run names them: {shown}. If the test command leaves them out, set \
             `test` in `.github/autobuild.yml` to one that runs them"
        )));
    };
    let example = example(&condition)
        .map(|example| format!(", such as `{example}`"))
        .unwrap_or_default();
    Ok(Some(format!(
        "new tests are there and did not run, because of {condition}: {shown}. To run them, set `test` in \
         `.github/autobuild.yml` to a command that turns this on{example}"
    )))
}

/// Returns a command that turns the first feature or build tag of a condition on.
fn example(condition: &str) -> Option<String> {
    if let Some((_, rest)) = condition.split_once("feature = \"") {
        let (feature, _) = rest.split_once('"')?;
        return Some(format!("cargo test --features {feature}"));
    }
    let (_, tags) = condition.split_once("//go:build ")?;
    let tag = tags.split(|c: char| !c.is_alphanumeric() && !"_.".contains(c)).next()?;
    (!tag.is_empty()).then(|| format!("go test -tags {tag} ./..."))
}

/// Returns the new tests that no name of the run stands for, each with its file.
fn unrun(change: &Change, names: &TestNames) -> Vec<(String, String)> {
    let ran: BTreeSet<_> = names.all().flat_map(|name| change.after.find(name)).collect();
    let is_new = |name: &str| change.before.find(name).is_empty();
    let tests = change
        .after
        .tests()
        .filter(|(name, site)| is_new(name) && !ran.contains(site));
    tests.map(|(name, site)| (name.to_owned(), site.path.clone())).collect()
}

/// Returns the condition on which a file is compiled: in the file itself, or where a parent module declares it.
async fn condition(run: &Run<'_>, path: &str) -> Result<Option<String>, GateError> {
    let own = run.change.text_after(path).and_then(|text| of_file(path, text));
    if own.is_some() {
        return Ok(own);
    }
    for (parent, declared) in parents(path) {
        let file = run
            .subject
            .mirror
            .read_file(run.subject.head, &parent, MOST_READ)
            .await?;
        let text = file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
        let found = text.and_then(|text| Some((declaration(&text, &declared)?, &parent)));
        if let Some((condition, parent)) = found {
            return Ok(Some(format!("`{condition}` in {parent}")));
        }
    }
    Ok(None)
}

fn of_file(path: &str, text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let found = lines.find(|line| line.starts_with("//go:build ") || line.starts_with("#![cfg("))?;
    Some(format!("`{found}` in {path}"))
}

/// Returns the files that may declare a Rust file as a module, with the declaration.
fn parents(path: &str) -> Vec<(String, String)> {
    let Some((folder, name)) = path.strip_suffix(".rs").and_then(|path| path.rsplit_once('/')) else {
        return Vec::new();
    };
    let (folder, name) = match (name, folder.rsplit_once('/')) {
        ("mod", Some((above, module))) => (above, module),
        _ => (folder, name),
    };
    let declared = format!("mod {name};");
    let files = ["lib.rs", "main.rs", "mod.rs"].map(|file| format!("{folder}/{file}"));
    let files = files.into_iter().chain([format!("{folder}.rs")]);
    files.map(|file| (file, declared.clone())).collect()
}

/// Returns the condition in the attributes directly before a declaration.
fn declaration(text: &str, declared: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|line| *line == declared || line.ends_with(&format!(" {declared}")))?;
    let mut attributes = lines.iter().take(at).rev().take_while(|line| line.starts_with("#["));
    attributes
        .find(|line| line.starts_with("#[cfg("))
        .map(|line| (*line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{declaration, example, of_file, parents};

    #[test]
    fn a_condition_is_found_in_the_file_or_where_its_module_is_declared() {
        let lib = "pub mod a;\n\n#[cfg(feature = \"extra\")]\n#[doc(hidden)]\npub mod extra;\nmod b;\n";
        assert_eq!(
            declaration(lib, "mod extra;").as_deref(),
            Some("#[cfg(feature = \"extra\")]")
        );
        assert_eq!(declaration(lib, "mod b;"), None);
        assert_eq!(declaration(lib, "mod c;"), None);
        let go = of_file("a_test.go", "//go:build integration\n\npackage a\n");
        assert_eq!(go.as_deref(), Some("`//go:build integration` in a_test.go"));
        assert_eq!(
            go.and_then(|go| example(&go)).as_deref(),
            Some("go test -tags integration ./...")
        );
        let cargo = example("`#[cfg(feature = \"extra\")]` in src/lib.rs");
        assert_eq!(cargo.as_deref(), Some("cargo test --features extra"));
        assert_eq!(example("`#[cfg(windows)]` in src/lib.rs"), None);
        let names: Vec<String> = parents("src/a/mod.rs").into_iter().map(|(file, _)| file).collect();
        assert_eq!(names, ["src/lib.rs", "src/main.rs", "src/mod.rs", "src.rs"]);
        assert!(parents("tests/test_a.py").is_empty());
    }
}
