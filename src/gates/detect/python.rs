//! Detects pytest and unittest, and sets them up with uv, poetry, tox, nox, or a virtual environment in the checkout.

use crate::gates::detect::{Found, Repository, jvm};
use std::collections::BTreeSet;
use toml::{Table, Value};

pub(super) const FILES: &[&str] = &[
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    OWN_NEEDS,
    "requirements-test.txt",
    "requirements_test.txt",
    "test-requirements.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements/testing.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements/dev.txt",
];

/// The file that lists the project's own dependencies.
const OWN_NEEDS: &str = "requirements.txt";

/// Files that only pytest reads.
const CONFIGURED: [&str; 4] = ["pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"];

/// Names of extras and groups for tests, the likeliest first.
const FOR_TESTS: [&str; 6] = ["test", "tests", "testing", "dev", "develop", "development"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Found> {
    let mentions = |path: &&str| repository.text(path).is_some_and(|text| text.contains("pytest"));
    let evidence = repository
        .first(&CONFIGURED)
        .or_else(|| FILES.iter().find(|path| mentions(path)).copied())
        .or_else(|| {
            repository
                .own()
                .find(|path| is_test(path) && repository.first(jvm::FILES).is_none())
        })?
        .to_owned();
    let project = Project::read(repository);
    let unittest = unittest(repository, &evidence);
    let is_unittest = unittest.is_some();
    let test = unittest.unwrap_or_else(|| "python3 -m pytest".to_owned());
    let (setup, test, more) = project.commands(repository, test, is_unittest);
    let evidence = match is_unittest {
        true => format!("{evidence}, which imports unittest"),
        false => evidence,
    };
    let more: Vec<&str> = more.into_iter().filter(|file| *file != evidence).collect();
    let evidence = std::iter::once(evidence.as_str())
        .chain(more)
        .collect::<Vec<_>>()
        .join(" and ");
    Some(Found { setup, test, evidence })
}

/// The dependencies that a project declares.
#[derive(Default)]
struct Project {
    manifest: Table,
    /// Whether `pip install .` works.
    is_package: bool,
    /// Whether any package must be installed.
    needs: bool,
    /// The pip arguments that install what the tests need.
    packages: Vec<String>,
    /// Whether pytest is one of the packages.
    has_pytest: bool,
}

impl Project {
    fn read(repository: &Repository<'_>) -> Self {
        let manifest = repository
            .text("pyproject.toml")
            .and_then(|text| text.parse::<Table>().ok());
        let manifest = manifest.unwrap_or_default();
        let legacy = ["setup.cfg", "setup.py"].map(|file| repository.text(file).unwrap_or_default());
        let requires = |text: &String| {
            ["install_requires", "tests_require", "extras_require"]
                .iter()
                .any(|key| text.contains(key))
        };
        let project = manifest.get("project").and_then(Value::as_table);
        let named = project.and_then(|project| project.get("dependencies")?.as_array());
        let is_dynamic =
            project.is_some_and(|project| list(project.get("dynamic")).contains(&"dependencies".to_owned()));
        let mut found = Self {
            is_package: project.is_some() || manifest.contains_key("build-system") || repository.has("setup.py"),
            needs: named.is_some_and(|named| !named.is_empty()) || is_dynamic || legacy.iter().any(requires),
            ..Self::default()
        };
        let extras = project.and_then(|project| project.get("optional-dependencies")?.as_table());
        let extra = extras.and_then(chosen);
        if found.is_package {
            let with_extra = extra.as_ref().map(|(name, _)| format!(".[{name}]"));
            let itself = with_extra.unwrap_or_else(|| ".".to_owned());
            found.packages.extend(["-e".to_owned(), itself]);
        }
        found.add(extra.map(|(_, packages)| packages));
        let groups = manifest.get("dependency-groups").and_then(Value::as_table);
        if let Some((name, packages)) = groups.and_then(chosen) {
            found.packages.extend(["--group".to_owned(), name]);
            found.add(Some(packages));
        }
        let asked = FILES
            .iter()
            .copied()
            .filter(|file| file.contains("requirements") && repository.has(file));
        let (own, more): (Vec<&str>, Vec<&str>) = asked.partition(|file| *file == OWN_NEEDS);
        // Separate pinned lists for tests and for development often conflict, so only one is installed.
        for file in own.into_iter().chain(more.into_iter().take(1)) {
            found.packages.extend(["-r".to_owned(), file.to_owned()]);
            found.add(repository.text(file).map(|text| vec![text]));
        }
        let environments = ["hatch-test", "test", "default"];
        let hatch =
            |name: &str| at(&manifest, &["tool", "hatch", "envs", name, "dependencies"]).map(|value| list(Some(value)));
        if let Some(packages) = environments.into_iter().find_map(hatch).filter(|_| !found.has_pytest) {
            found.packages.extend(packages.iter().cloned());
            found.add(Some(packages));
        }
        found.manifest = manifest;
        found
    }

    fn add(&mut self, packages: Option<Vec<String>>) {
        self.needs |= packages.as_ref().is_some_and(|packages| !packages.is_empty());
        self.has_pytest |= packages.is_some_and(|packages| packages.iter().any(|package| package.contains("pytest")));
    }

    /// Returns the set-up command, the test command, and the files that led to them.
    fn commands(
        &self,
        repository: &Repository<'_>,
        test: String,
        is_unittest: bool,
    ) -> (String, String, Vec<&'static str>) {
        let own = |setup: &str, test: &str, files: &[&'static str]| (setup.to_owned(), test.to_owned(), files.to_vec());
        let bare = test
            .strip_prefix("python3 -m ")
            .filter(|bare| bare.starts_with("pytest"))
            .unwrap_or(&test);
        if repository.has("uv.lock") {
            let group = self
                .option("--group")
                .map(|group| format!(" --group {group}"))
                .unwrap_or_default();
            let setup = format!("uv sync --frozen{}{group}", self.extra());
            return own(&setup, &format!("uv run --no-sync {bare}"), &["uv.lock"]);
        }
        if repository.has("poetry.lock") || at(&self.manifest, &["tool", "poetry", "dependencies"]).is_some() {
            return own(
                "poetry install --all-extras",
                &format!("poetry run {bare}"),
                &["pyproject.toml"],
            );
        }
        if !self.has_pytest && !is_unittest && repository.has("tox.ini") {
            return own("tox run --notest", "tox run --skip-pkg-install", &["tox.ini"]);
        }
        if !self.has_pytest && !is_unittest && repository.has("noxfile.py") {
            return own("nox --install-only", "nox --no-install", &["noxfile.py"]);
        }
        if !self.needs {
            let is_src = self.is_package && repository.own().any(|path| is_module_below(path, "src/"));
            let way = if is_src { "PYTHONPATH=src " } else { "" };
            return own("", &format!("{way}{test}"), &[]);
        }
        let mut packages = self.packages.clone();
        if !self.has_pytest && !is_unittest {
            packages.push("pytest".to_owned());
        }
        let packages: Vec<_> = packages.iter().map(|package| shell_words::quote(package)).collect();
        let pip = ".venv/bin/python3 -m pip install -q";
        let setup = format!("python3 -m venv .venv && {pip} -U pip && {pip} {}", packages.join(" "));
        let test = format!(".venv/bin/{test}");
        let told: Vec<&'static str> = FILES
            .iter()
            .copied()
            .filter(|file| repository.has(file))
            .take(1)
            .collect();
        (setup, test, told)
    }

    /// Returns the value of a pip option.
    fn option(&self, option: &str) -> Option<&str> {
        let at = self.packages.iter().position(|word| word == option)?;
        self.packages.get(at.saturating_add(1)).map(String::as_str)
    }

    fn extra(&self) -> String {
        let extra = self
            .option("-e")
            .and_then(|target| target.strip_prefix(".[")?.strip_suffix(']'));
        extra.map(|extra| format!(" --extra {extra}")).unwrap_or_default()
    }
}

/// Returns the extra or group for tests with its packages: the first that contains pytest, else the first by name.
fn chosen(table: &Table) -> Option<(String, Vec<String>)> {
    let all = || {
        FOR_TESTS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), resolved(table, name, 0)?)))
    };
    let with_pytest = all().find(|(_, packages)| packages.iter().any(|package| package.contains("pytest")));
    with_pytest.or_else(|| all().next())
}

/// Returns the packages of an extra or group, including those of the groups that it includes.
fn resolved(table: &Table, name: &str, depth: usize) -> Option<Vec<String>> {
    let packages = table.get(name)?.as_array()?;
    let mut all = Vec::new();
    for package in packages {
        match package {
            Value::String(package) => all.push(package.clone()),
            Value::Table(include) if depth < 5 => {
                let group = include.get("include-group").and_then(Value::as_str);
                all.extend(
                    group
                        .and_then(|group| resolved(table, group, depth.saturating_add(1)))
                        .unwrap_or_default(),
                );
            }
            _ => {}
        }
    }
    Some(all)
}

fn at<'v>(table: &'v Table, path: &[&str]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(*key))
}

fn list(value: Option<&Value>) -> Vec<String> {
    let all = value.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|value| Some(value.as_str()?.to_owned())).collect()
}

/// Returns the command for tests written for unittest, if nothing mentions pytest.
fn unittest(repository: &Repository<'_>, evidence: &str) -> Option<String> {
    let texts: Vec<String> = repository
        .own()
        .filter(|path| is_test(path))
        .take(MOST_TESTS)
        .filter_map(|path| repository.text(path))
        .collect();
    let is_for = |text: &String| text.contains("unittest") && !text.contains("pytest");
    if !is_test(evidence) || texts.is_empty() || !texts.iter().all(is_for) {
        return None;
    }
    let folder = common_folder(repository.own().filter(|path| is_test(path)));
    // Discovery finds a package from the root; any other folder must be named. A folder with an unusual name is left to
    // people.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    match folder.is_empty() || repository.has(&format!("{folder}/__init__.py")) {
        true => Some("python3 -m unittest discover".to_owned()),
        false if folder.chars().all(is_plain) => Some(format!("python3 -m unittest discover -s {folder}")),
        false => None,
    }
}

/// The most test files that are read.
const MOST_TESTS: usize = 10;

/// Returns some Python test files, by name: enough to see for which framework they are written.
pub(super) fn tests(paths: &[String]) -> impl Iterator<Item = &String> {
    paths.iter().filter(|path| is_test(path)).take(MOST_TESTS)
}

/// Returns the innermost folder that contains all these files.
fn common_folder<'p>(files: impl Iterator<Item = &'p str>) -> String {
    let mut folders: BTreeSet<Vec<&str>> = files
        .map(|path| {
            path.rsplit_once('/')
                .map_or(Vec::new(), |(folder, _)| folder.split('/').collect())
        })
        .collect();
    let first = folders.pop_first().unwrap_or_default();
    let is_common = |length: &usize| {
        folders
            .iter()
            .all(|folder| folder.get(..*length) == first.get(..*length))
    };
    let length = (0..=first.len()).rev().find(is_common).unwrap_or_default();
    first.get(..length).unwrap_or_default().join("/")
}

fn is_module_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.ends_with(".py"))
}

fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_foreign = path
        .split('/')
        .any(|part| matches!(part, "node_modules" | "vendor" | "third_party"));
    let is_named = name.starts_with("test_") && name.ends_with(".py") || name.ends_with("_test.py");
    is_named && !is_foreign
}
