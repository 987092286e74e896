//! Detects pytest and unittest, and sets them up with uv, poetry, tox, nox, or a virtual environment in the checkout.

use crate::detect::{
    autotools, cmake, jvm, meson, mix, php,
    repository::{DEEPEST, Detection, NOT_OWN, Repository},
    ruby, workflow,
};
use std::{iter::successors, path::Path};
use toml::{Table, Value};

pub(super) const FILES: &[&str] =
    &["pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", "noxfile.py", OWN_NEEDS];

/// The file that lists the project's own dependencies.
const OWN_NEEDS: &str = "requirements.txt";

/// Files that only pytest reads.
const CONFIGURED: [&str; 4] = ["pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"];

/// Names of extras and groups for tests, the likeliest first.
const FOR_TESTS: [&str; 6] = ["test", "tests", "testing", "dev", "develop", "development"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let mentions = |path: &&str| repository.text(path).is_some_and(|text| text.contains("pytest"));
    let is_its = |path: &&str| is_test(path) && !has_other_sign(repository);
    let lists = requirements(repository);
    let file = repository
        .first(&CONFIGURED)
        .or_else(|| FILES.iter().copied().chain(lists).find(mentions))
        .or_else(|| repository.paths_below().find(is_its))?;
    let unittest = unittest(repository, file);
    let project = Project::read(repository);
    let (setup, test, more) = project.commands(repository, unittest.as_deref());
    let imports = if unittest.is_some() { ", which imports unittest" } else { "" };
    let more = more.filter(|other| *other != file);
    let by_workflow = project.workflow.as_deref().filter(|_| setup.contains(" pip "));
    let more = more.into_iter().chain(by_workflow).map(|file| format!(" and {file}"));
    let more: String = more.collect();
    Some(Detection::new(setup, test, format!("{file}{imports}{more}")))
}

/// Returns the set-up, and the form of a line that begins with `python3` after it.
pub(super) fn set_up(repository: &Repository<'_>, line: &str) -> (String, String) {
    let (setup, test, _) = Project::read(repository).commands(repository, Some(line));
    (setup, test)
}

#[derive(Default)]
struct Project {
    manifest: Table,
    /// `true` if `pip install .` works.
    is_package: bool,
    /// The extra for tests, and the group of dependencies for tests.
    extra: Option<String>,
    group: Option<String>,
    /// `true` if any package must be installed.
    needs: bool,
    /// The pip arguments that install the packages that the tests need.
    packages: Vec<String>,
    has_pytest: bool,
    /// The path of the workflow that names some of the packages.
    workflow: Option<String>,
}

impl Project {
    fn read(repository: &Repository<'_>) -> Self {
        let manifest = repository.text("pyproject.toml").unwrap_or_default();
        let manifest: Table = manifest.parse().unwrap_or_default();
        let list_at = |path: &[&str]| at(&manifest, path).map(list).unwrap_or_default();
        let chosen_of = |path: &[&str]| choose_group(at(&manifest, path)?.as_table()?);
        let legacy = ["setup.cfg", "setup.py"].map(|file| repository.text(file).unwrap_or_default());
        let keys = ["install_requires", "tests_require", "extras_require"];
        let requires = |text: &String| keys.iter().any(|key| text.contains(key));
        let is_dynamic = list_at(&["project", "dynamic"]).iter().any(|field| field == "dependencies");
        let mut found = Self {
            is_package: ["project", "build-system"].iter().any(|key| manifest.contains_key(*key))
                || repository.has("setup.py"),
            needs: is_dynamic || legacy.iter().any(requires),
            ..Self::default()
        };
        found.needs |= !list_at(&["project", "dependencies"]).is_empty();
        let (extra, packages) = chosen_of(&["project", "optional-dependencies"]).unzip();
        let workflow = repository.workflow().unwrap_or_default();
        let by_workflow = workflow.pip_arguments();
        let named = by_workflow.iter().find(|value| is_itself(value) && value.len() > 1);
        if let Some(named) = named {
            found.packages.extend(["-e".to_owned(), named.clone()]);
        } else if found.is_package {
            let itself = extra.as_ref().map_or_else(|| ".".to_owned(), |name| format!(".[{name}]"));
            found.packages.extend(["-e".to_owned(), itself]);
        }
        found.add(&packages.unwrap_or_default());
        let (group, packages) = chosen_of(&["dependency-groups"]).unzip();
        let option = group.iter().flat_map(|name| ["--group", name]);
        found.packages.extend(option.map(str::to_owned));
        found.add(&packages.unwrap_or_default());
        found.add_listed(repository, &manifest, &by_workflow);
        found.add_from(&workflow.path, &by_workflow);
        Self { manifest, extra, group, ..found }
    }

    /// Adds the packages that requirements files, hatch and tox list.
    fn add_listed(&mut self, repository: &Repository<'_>, manifest: &Table, by_workflow: &[String]) {
        let own = Some(OWN_NEEDS).filter(|file| repository.has(file));
        let lists = |file: &&&str| by_workflow.windows(2).any(|pair| matches!(pair, [_, named] if named == **file));
        let all = requirements(repository);
        // Separate pinned lists for tests and for development often conflict, so only one is installed: the one of the
        // repository's own CI, or else the likeliest.
        let chosen = all.iter().find(lists).or(all.first());
        for file in own.into_iter().chain(chosen.copied()) {
            self.packages.extend(["-r".to_owned(), file.to_owned()]);
            self.add(repository.text(file).as_slice());
        }
        let environments = ["hatch-test", "test", "default"];
        let hatch = |name: &str| at(manifest, &["tool", "hatch", "envs", name, "dependencies"]).map(list);
        if let Some(packages) = environments.into_iter().find_map(hatch).filter(|_| !self.has_pytest) {
            self.add(&packages);
            self.packages.extend(packages);
        }
        let of_tox = repository.text("tox.ini").map(|text| tox_packages(&text)).unwrap_or_default();
        if !self.has_pytest && of_tox.iter().any(|package| package.contains("pytest")) {
            self.add(&of_tox);
            self.packages.extend(of_tox);
        }
    }

    /// Adds the packages that a workflow installs besides, as pip's arguments.
    fn add_from(&mut self, workflow: &str, arguments: &[String]) {
        for group in workflow::groups(arguments) {
            let Some(value) = group.last() else { continue };
            if self.packages.contains(value) || is_itself(value) && self.packages.iter().any(|known| is_itself(known)) {
                continue;
            }
            self.add(std::slice::from_ref(value));
            if is_itself(value) {
                self.packages.extend(["-e".to_owned(), value.clone()])
            } else {
                self.packages.extend_from_slice(group)
            }
            self.workflow = Some(workflow.to_owned());
        }
    }

    /// Records a list of packages.
    fn add(&mut self, packages: &[String]) {
        self.needs |= !packages.is_empty();
        self.has_pytest |= has_pytest(packages);
    }

    /// Returns the set-up command, the test command, and the file that led to them.
    fn commands<'r>(
        &self,
        repository: &'r Repository<'_>,
        unittest: Option<&str>,
    ) -> (String, String, Option<&'r str>) {
        let (test, bare) = (unittest.unwrap_or("python3 -m pytest"), unittest.unwrap_or("pytest"));
        if repository.has("uv.lock") {
            let option = |name: &str, value: &Option<String>| match value {
                Some(value) => format!(" --{name} {value}"),
                None => String::new(),
            };
            let options = option("extra", &self.extra) + &option("group", &self.group);
            let setup = format!("uv sync --frozen{options}");
            return (setup, format!("uv run --no-sync {bare}"), Some("uv.lock"));
        }
        if repository.has("poetry.lock") || at(&self.manifest, &["tool", "poetry", "dependencies"]).is_some() {
            let setup = "poetry install --all-extras".to_owned();
            return (setup, format!("poetry run {bare}"), Some("pyproject.toml"));
        }
        let lacks_pytest = !self.has_pytest && unittest.is_none();
        for (file, setup, test) in [
            ("tox.ini", "tox run --notest", "tox run --skip-pkg-install"),
            ("noxfile.py", "nox --install-only", "nox --no-install"),
        ] {
            if lacks_pytest && repository.has(file) {
                return (setup.to_owned(), test.to_owned(), Some(file));
            }
        }
        if !self.needs {
            let is_module = |path: &str| path.starts_with("src/") && path.ends_with(".py");
            let is_src = self.is_package && repository.paths_below().any(is_module);
            let way = if is_src { "PYTHONPATH=src " } else { "" };
            return (String::new(), format!("{way}{test}"), None);
        }
        let packages = self.packages.iter().cloned();
        let packages: Vec<String> = packages.chain(lacks_pytest.then(|| "pytest".to_owned())).collect();
        let setup = workflow::venv(&packages);
        let file = repository.first(FILES).or_else(|| requirements(repository).first().copied());
        (setup, format!(".venv/bin/{test}"), file)
    }
}

/// `true` if an argument of pip names the repository itself, perhaps with extras: `.` or `.[test]`.
fn is_itself(argument: &str) -> bool {
    argument == "." || argument.starts_with(".[")
}

/// Returns the files that list the packages for tests, the likeliest first.
pub(super) fn requirements<'r>(repository: &'r Repository<'_>) -> Vec<&'r str> {
    let ranked = repository.paths_below().filter_map(|path| Some((rank(path)?, path)));
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort();
    ranked.into_iter().map(|(_, path)| path).collect()
}

/// Returns the rank of a list of requirements for tests, such as `requirements-dev.txt`, `requirements/test.txt` or
/// `tests/requirements.txt`: by its word, then by its depth. `None` for any other file.
fn rank(path: &str) -> Option<(usize, usize)> {
    let folders: Vec<&str> = path.rsplit_once('/').map_or(Vec::new(), |(folders, _)| folders.split('/').collect());
    let is_foreign = |folder: &&str| NOT_OWN.contains(folder) && !FOR_TESTS.contains(folder);
    if folders.len() > DEEPEST || folders.iter().any(is_foreign) {
        return None;
    }
    let words: Vec<&str> = path.strip_suffix(".txt")?.split(|c: char| !c.is_alphanumeric()).collect();
    let is_list = words.iter().any(|word| ["requirements", "requirement", "reqs"].contains(word));
    let rank = FOR_TESTS.iter().position(|word| words.contains(word))?;
    is_list.then_some((rank, folders.len()))
}

fn has_pytest(packages: &[String]) -> bool {
    packages.iter().any(|package| package.contains("pytest"))
}

/// Returns the pip arguments that tox uses in every environment: `deps` of `[testenv]`, without the lines for some
/// environments only. tox itself would run all environments, also those for lints and for other versions of Python.
/// Empty if pip cannot read a line, or if the tests do not run with pytest.
fn tox_packages(text: &str) -> Vec<String> {
    let section = text.lines().skip_while(|line| line.trim() != "[testenv]").skip(1);
    let section: Vec<&str> = section.take_while(|line| !line.starts_with('[')).collect();
    let commands = tox_value(&section, "commands");
    if !commands.is_empty() && !commands.iter().any(|line| line.contains("pytest") || line.contains("py.test")) {
        return Vec::new();
    }
    let mut arguments = Vec::new();
    for line in tox_value(&section, "deps") {
        let is_of_some = line.split_once(": ").is_some_and(|(names, _)| !names.contains(' '));
        let line = line.split(" #").next().unwrap_or_default().replace("{toxinidir}/", "");
        match line.split_at_checked(2) {
            _ if is_of_some => {}
            _ if line.contains('{') || line.contains("://") => return Vec::new(),
            Some((option @ ("-r" | "-c" | "-e"), rest)) => {
                arguments.extend([option.to_owned(), rest.trim().to_owned()])
            }
            _ => arguments.push(line.trim().to_owned()),
        }
    }
    arguments
}

/// Returns the lines of a key's value: those beside the key, and the indented ones below.
fn tox_value<'t>(section: &[&'t str], key: &str) -> Vec<&'t str> {
    let is_key = |line: &&&str| line.split_once('=').is_some_and(|(name, _)| name.trim_end() == key);
    let mut lines = section.iter().skip_while(|line| !is_key(line));
    let first = lines.next().and_then(|line| line.split_once('='));
    let more = lines.take_while(|line| line.is_empty() || line.starts_with(char::is_whitespace));
    let all = first.map(|(_, first)| first).into_iter().chain(more.copied());
    let all = all.map(str::trim);
    all.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Returns the extra or group for tests with its packages: the first that contains pytest, else the first by name.
fn choose_group(table: &Table) -> Option<(String, Vec<String>)> {
    let named = |name: &&str| Some(((*name).to_owned(), resolved(table, name, 0)?));
    let all = || FOR_TESTS.iter().filter_map(named);
    let with_pytest = all().find(|(_, packages)| has_pytest(packages));
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
                let packages = group.and_then(|group| resolved(table, group, depth.saturating_add(1)));
                all.extend(packages.unwrap_or_default());
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

fn list(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(|value| Some(value.as_str()?.to_owned())).collect()
}

/// Returns the command for tests written for unittest, if nothing mentions pytest.
fn unittest(repository: &Repository<'_>, file: &str) -> Option<String> {
    let files = || repository.paths_below().filter(|path| is_test(path));
    let texts = files().take(MOST_TESTS).filter_map(|path| repository.text(path));
    let texts: Vec<String> = texts.collect();
    let is_for = |text: &String| text.contains("unittest") && !text.contains("pytest");
    if !is_test(file) || texts.is_empty() || !texts.iter().all(is_for) {
        return None;
    }
    let folder = common_folder(files());
    // Discovery finds a package from the root; any other folder must be named. A folder with an unusual name is left to
    // people.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    match folder.is_empty() || repository.has(&format!("{folder}/__init__.py")) {
        true => Some("python3 -m unittest discover".to_owned()),
        false if folder.chars().all(is_plain) => Some(format!("python3 -m unittest discover -s {folder}")),
        false => None,
    }
}

/// `true` if the folder has files of a project in another language, some of whose tests may be Python scripts.
fn has_other_sign(repository: &Repository<'_>) -> bool {
    let signs = [jvm::FILES, ruby::FILES, php::FILES, mix::FILES, cmake::FILES, meson::FILES, autotools::FILES];
    signs.iter().any(|files| repository.first(files).is_some())
}

/// The most test files that are read.
const MOST_TESTS: usize = 10;

/// Returns the lists of requirements for tests, and some Python test files, by name: enough to see for which framework
/// they are written.
pub(super) fn files_to_read<'p>(paths: &'p [String], folders: &[String]) -> impl Iterator<Item = &'p String> {
    let is_list = |path: &&String| {
        let mut inside = folders.iter().filter_map(|folder| path.strip_prefix(folder.as_str()));
        inside.any(|path| rank(path).is_some())
    };
    let lists: Vec<&String> = paths.iter().filter(is_list).collect();
    lists.into_iter().chain(paths.iter().filter(|path| is_test(path)).take(MOST_TESTS))
}

fn common_folder<'p>(files: impl Iterator<Item = &'p str>) -> String {
    let mut folders = files.map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
    let first = folders.next().unwrap_or_default();
    let common = folders.fold(first, |common, folder| {
        let holds = |above: &&str| above.is_empty() || Path::new(folder).starts_with(above);
        let mut all = successors(Some(common), |above| above.rsplit_once('/').map(|(above, _)| above));
        all.find(holds).unwrap_or_default()
    });
    common.to_owned()
}

fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let foreign = ["node_modules", "vendor", "third_party"];
    let is_foreign = path.split('/').any(|part| foreign.contains(&part));
    let is_named = name.starts_with("test_") && name.ends_with(".py") || name.ends_with("_test.py");
    is_named && !is_foreign
}
