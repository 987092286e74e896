//! Finds out from a repository's files how it is set up and tested. Looks at names and small files, runs nothing.

use domain::shell_command::ShellCommand;
use integrity::make::{FILES, rules};
use serde_json::Value;

/// A repository at one commit, as far as detection needs it.
pub struct Repository<'a> {
    /// Every path, relative to the root.
    pub paths: &'a [String],
    /// The text of a file; `None` if it cannot be read as text.
    pub read: &'a dyn Fn(&str) -> Option<String>,
}

/// What the files tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Detected {
    pub(crate) setup: Option<ShellCommand>,
    pub(crate) test: Option<ShellCommand>,
    /// The files that told it.
    pub(crate) evidence: String,
}

impl Repository<'_> {
    fn has(&self, path: &str) -> bool {
        self.paths.iter().any(|known| known == path)
    }

    fn text(&self, path: &str) -> Option<String> {
        self.has(path).then(|| (self.read)(path)).flatten()
    }

    fn first<'a>(&self, paths: &[&'a str]) -> Option<&'a str> {
        paths.iter().find(|path| self.has(path)).copied()
    }
}

/// The first tool chain, in a fixed order, that has a way to run tests.
pub(crate) fn detect(repository: &Repository<'_>) -> Option<Detected> {
    [cargo, node, python, go, make]
        .into_iter()
        .find_map(|detect| detect(repository))
}

fn found(setup: &str, test: &str, evidence: impl Into<String>) -> Option<Detected> {
    Some(Detected {
        setup: setup.parse().ok(),
        test: Some(test.parse().ok()?),
        evidence: evidence.into(),
    })
}

/// Tests run without the network, so what they need is fetched before.
fn cargo(repository: &Repository<'_>) -> Option<Detected> {
    if !repository.has("Cargo.toml") {
        return None;
    }
    let fetch = match repository.text("Cargo.lock") {
        Some(lock) if lock.contains("source = ") => "cargo fetch --locked",
        Some(_) => "",
        None if repository.text("Cargo.toml").is_some_and(|text| needs_crates(&text)) => "cargo fetch",
        None => "",
    };
    found(fetch, "cargo test", "Cargo.toml")
}

/// Whether a manifest names packages that lie elsewhere; of a workspace only its members know.
fn needs_crates(manifest: &str) -> bool {
    fn names_packages(table: &toml::Table) -> bool {
        table.iter().any(|(key, value)| match value {
            toml::Value::Table(packages) if key.ends_with("dependencies") => packages.values().any(is_elsewhere),
            toml::Value::Table(inner) => names_packages(inner),
            _ => false,
        })
    }
    fn is_elsewhere(package: &toml::Value) -> bool {
        package.get("path").is_none()
    }
    let table = manifest.parse::<toml::Table>();
    table.is_ok_and(|table| table.contains_key("workspace") || names_packages(&table))
}

fn node(repository: &Repository<'_>) -> Option<Detected> {
    let text = repository.text("package.json")?;
    let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let script = manifest.get("scripts")?.get("test")?.as_str()?;
    // What `npm init` writes when nobody named a test.
    if script.trim().is_empty() || script.contains("no test specified") {
        return None;
    }
    let lock = repository.first(&[
        "pnpm-lock.yaml",
        "yarn.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
    ]);
    let evidence = match lock {
        Some(lock) => format!("package.json and {lock}"),
        None => "package.json".to_owned(),
    };
    let manager = manifest
        .get("packageManager")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let (install, test) = match lock {
        Some("pnpm-lock.yaml") => ("pnpm install --frozen-lockfile", "pnpm test"),
        Some("yarn.lock") if repository.has(".yarnrc.yml") => ("yarn install --immutable", "yarn test"),
        Some("yarn.lock") => ("yarn install --frozen-lockfile", "yarn test"),
        Some(_) => ("npm ci", "npm test"),
        None if manager.starts_with("pnpm") => ("pnpm install", "pnpm test"),
        None if manager.starts_with("yarn") => ("yarn install", "yarn test"),
        None => ("npm install", "npm test"),
    };
    match lock.is_some() || needs_packages(&manifest) {
        true => found(install, test, evidence),
        false => found("", test, evidence),
    }
}

fn needs_packages(manifest: &Value) -> bool {
    let filled = |key: &str| match manifest.get(key) {
        Some(Value::Object(packages)) => !packages.is_empty(),
        Some(Value::Array(folders)) => !folders.is_empty(),
        _ => false,
    };
    ["dependencies", "devDependencies", "optionalDependencies", "workspaces"]
        .into_iter()
        .any(filled)
}

fn python(repository: &Repository<'_>) -> Option<Detected> {
    let configured = ["pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"];
    let mentioning = [
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "requirements.txt",
        "requirements-dev.txt",
    ];
    let mentions = |path: &&str| repository.text(path).is_some_and(|text| text.contains("pytest"));
    let evidence = repository
        .first(&configured)
        .or_else(|| mentioning.iter().find(|path| mentions(path)).copied())
        .map(str::to_owned)
        .or_else(|| repository.paths.iter().find(|path| is_python_test(path)).cloned())?;
    match (repository.has("uv.lock"), unittest(repository, &evidence)) {
        (true, _) => found("uv sync", "uv run pytest", format!("{evidence} and uv.lock")),
        (false, Some(command)) => found("", &command, format!("{evidence}, which imports unittest")),
        (false, None) => found("", "python3 -m pytest", evidence),
    }
}

/// The command for tests that are written for unittest, where nothing names pytest.
fn unittest(repository: &Repository<'_>, evidence: &str) -> Option<String> {
    let tests = python_tests(repository.paths);
    if !is_python_test(evidence) || tests.is_empty() {
        return None;
    }
    let texts: Vec<String> = tests.iter().filter_map(|path| repository.text(path)).collect();
    let is_for = |text: &String| text.contains("unittest") && !text.contains("pytest");
    if texts.is_empty() || !texts.iter().all(is_for) {
        return None;
    }
    let folder = common_folder(repository.paths);
    // A package is found from the root, other folders are named; a folder with an odd name is left to people.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    match folder.is_empty() || repository.has(&format!("{folder}/__init__.py")) {
        true => Some("python3 -m unittest discover".to_owned()),
        false if folder.chars().all(is_plain) => Some(format!("python3 -m unittest discover -s {folder}")),
        false => None,
    }
}

/// Some files with Python tests, as their names say: enough to see what they are written for.
pub(crate) fn python_tests(paths: &[String]) -> Vec<&String> {
    paths.iter().filter(|path| is_python_test(path)).take(10).collect()
}

/// The innermost folder that holds every file with Python tests.
fn common_folder(paths: &[String]) -> String {
    let folder = |path: &str| {
        path.rsplit_once('/')
            .map_or(String::new(), |(folder, _)| folder.to_owned())
    };
    let mut folders = paths
        .iter()
        .filter(|path| is_python_test(path))
        .map(|path| folder(path));
    let first = folders.next().unwrap_or_default();
    folders.fold(first, |common, next| {
        let same = common
            .split('/')
            .zip(next.split('/'))
            .take_while(|(one, other)| one == other);
        same.map(|(part, _)| part).collect::<Vec<_>>().join("/")
    })
}

fn is_python_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let vendored = path
        .split('/')
        .any(|part| matches!(part, "node_modules" | "vendor" | "third_party"));
    let named = name.starts_with("test_") && name.ends_with(".py") || name.ends_with("_test.py");
    named && !vendored
}

fn go(repository: &Repository<'_>) -> Option<Detected> {
    if !repository.has("go.mod") {
        return None;
    }
    let needs_modules = repository
        .text("go.mod")
        .is_some_and(|text| text.lines().any(|line| line.trim_start().starts_with("require")));
    match needs_modules {
        true => found("go mod download", "go test ./...", "go.mod"),
        false => found("", "go test ./...", "go.mod"),
    }
}

fn make(repository: &Repository<'_>) -> Option<Detected> {
    let file = repository.first(&FILES)?;
    let text = repository.text(file)?;
    match rules(&text).any(|rule| rule.targets.contains(&"test")) {
        true => found("", "make test", format!("the target test in {file}")),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Repository, detect};

    const NPM_INIT: &str = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    const SCRIPT: &str = r#"{"scripts": {"test": "node --test"}}"#;
    const NEEDS: &str = r#"{"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}}"#;

    /// Paths and texts.
    type Files<'a> = &'a [(&'a str, &'a str)];

    fn commands(files: &[(&str, &str)]) -> Option<(String, String)> {
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let read = |path: &str| {
            let found = files.iter().find(|(known, _)| *known == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let repository = Repository {
            paths: &paths,
            read: &read,
        };
        let found = detect(&repository)?;
        let text = |command: Option<domain::shell_command::ShellCommand>| {
            command.map(|c| c.text().to_owned()).unwrap_or_default()
        };
        Some((text(found.setup), text(found.test)))
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn each_tool_chain_is_recognised() {
        let table: [(Files<'_>, &str, &str); 28] = [
            (&[("Cargo.toml", "")], "", "cargo test"),
            (&[("Cargo.toml", ""), ("package.json", SCRIPT)], "", "cargo test"),
            (&[("package.json", SCRIPT)], "", "npm test"),
            (&[("package.json", NEEDS)], "npm install", "npm test"),
            (
                &[("package.json", SCRIPT), ("package-lock.json", "")],
                "npm ci",
                "npm test",
            ),
            (
                &[("package.json", NEEDS), ("pnpm-lock.yaml", "")],
                "pnpm install --frozen-lockfile",
                "pnpm test",
            ),
            (
                &[("package.json", NEEDS), ("yarn.lock", "")],
                "yarn install --frozen-lockfile",
                "yarn test",
            ),
            (
                &[("package.json", NEEDS), ("yarn.lock", ""), (".yarnrc.yml", "")],
                "yarn install --immutable",
                "yarn test",
            ),
            (&[("pytest.ini", "")], "", "python3 -m pytest"),
            (
                &[("pyproject.toml", "[tool.pytest.ini_options]")],
                "",
                "python3 -m pytest",
            ),
            (&[("src/tests/test_a.py", "")], "", "python3 -m pytest"),
            (
                &[("pyproject.toml", "pytest"), ("uv.lock", "")],
                "uv sync",
                "uv run pytest",
            ),
            (
                &[
                    ("tests/test_a.py", "import unittest"),
                    ("tests/more/test_b.py", "from unittest import mock"),
                ],
                "",
                "python3 -m unittest discover -s tests",
            ),
            (
                &[("tests/test_a.py", "import unittest"), ("tests/__init__.py", "")],
                "",
                "python3 -m unittest discover",
            ),
            (
                &[("test_a.py", "import unittest"), ("x/test_b.py", "import pytest")],
                "",
                "python3 -m pytest",
            ),
            (
                &[
                    ("tests/test_a.py", "import unittest"),
                    ("requirements.txt", "pytest==8"),
                ],
                "",
                "python3 -m pytest",
            ),
            (&[("go.mod", "module x")], "", "go test ./..."),
            (
                &[("go.mod", "module x\n\nrequire (\n\ta v1.0.0\n)\n")],
                "go mod download",
                "go test ./...",
            ),
            (
                &[("Cargo.toml", "[dependencies]\nserde = \"1\"\n")],
                "cargo fetch",
                "cargo test",
            ),
            (
                &[(
                    "Cargo.toml",
                    "[target.'cfg(unix)'.dev-dependencies]\nnix = {version = \"1\"}\n",
                )],
                "cargo fetch",
                "cargo test",
            ),
            (
                &[(
                    "Cargo.toml",
                    "[dependencies]\nown = {path = \"own\"}\n[build-dependencies]\n",
                )],
                "",
                "cargo test",
            ),
            (
                &[("Cargo.toml", "[workspace]\nmembers = []\n")],
                "cargo fetch",
                "cargo test",
            ),
            (
                &[
                    ("Cargo.toml", ""),
                    ("Cargo.lock", "name = \"a\"\nsource = \"registry+x\"\n"),
                ],
                "cargo fetch --locked",
                "cargo test",
            ),
            (
                &[
                    ("Cargo.toml", "[dependencies]\nx = \"1\""),
                    ("Cargo.lock", "name = \"a\"\n"),
                ],
                "",
                "cargo test",
            ),
            (
                &[("Makefile", "build:\n\tcc x.c\n\ntest check: build\n\t./x\n")],
                "",
                "make test",
            ),
            (
                &[("package.json", NPM_INIT), ("Makefile", "test:\n\ttrue\n")],
                "",
                "make test",
            ),
            (&[("package.json", "not json"), ("go.mod", "")], "", "go test ./..."),
            (
                &[("package.json", SCRIPT), ("pyproject.toml", "pytest")],
                "",
                "npm test",
            ),
        ];
        for (files, setup, test) in table {
            assert_eq!(commands(files), Some((setup.to_owned(), test.to_owned())), "{files:?}");
        }
    }

    #[test]
    fn what_has_no_tests_has_no_command() {
        let table: [&[(&str, &str)]; 9] = [
            &[],
            &[("README.md", "cargo test")],
            &[("package.json", NPM_INIT)],
            &[("package.json", "{\"scripts\": {\"test\": 3}}")],
            &[("pyproject.toml", "[project]")],
            &[("Makefile", "test := 1\n.PHONY: test\nbuild: test.c\n\ttest: x\n")],
            &[("web/package.json", SCRIPT)],
            &[("node_modules/x/test_a.py", "")],
            &[("sub/Cargo.toml", "")],
        ];
        for files in table {
            assert_eq!(commands(files), None, "{files:?}");
        }
    }
}
