//! Reads from the repository's own workflows the packages that they install before their tests. A workflow is data:
//! only install commands of known package managers are taken from it, each with its words quoted anew.

use crate::{
    detect::{
        node,
        repository::{Detection, Repository, mentions_tests},
    },
    results::RUNNERS,
    workflows::is_workflow,
};
use domain::{registries, registries::Ecosystem};
use serde_json::{Map, Value};
use text::shell_command::ShellCommand;

/// The steps of one workflow on its machine before its tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workflow {
    pub path: String,
    installs: Vec<Install>,
    /// The services that it starts, which AutoBuild does not start.
    pub services: Vec<String>,
    /// The packages that it installs on its system, which AutoBuild does not install.
    pub system_packages: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Install {
    /// The folder in which it runs; empty for the root.
    folder: String,
    installer: &'static Installer,
    arguments: Vec<String>,
}

/// A package manager's command for installing, without its arguments.
#[derive(Debug, PartialEq, Eq)]
struct Installer {
    call: &'static [&'static str],
    ecosystem: &'static str,
}

/// Every command that is recognised. pip is the first: its arguments become part of one command.
static INSTALLERS: [Installer; 20] = [
    installer(&["pip", "install"], "PyPI"),
    installer(&["uv", "sync"], "PyPI"),
    installer(&["poetry", "install"], "PyPI"),
    installer(&["pdm", "install"], "PyPI"),
    installer(&["pipenv", "install"], "PyPI"),
    installer(&["npm", "ci"], "npm"),
    installer(&["npm", "install"], "npm"),
    installer(&["npm", "i"], "npm"),
    installer(&["pnpm", "install"], "npm"),
    installer(&["pnpm", "i"], "npm"),
    installer(&["yarn", "install"], "npm"),
    installer(&["yarn"], "npm"),
    installer(&["bundle", "install"], "RubyGems"),
    installer(&["composer", "install"], "Packagist"),
    installer(&["go", "mod", "download"], "Go"),
    installer(&["cargo", "fetch"], "Cargo"),
    installer(&["mix", "deps.get"], "Hex"),
    installer(&["dotnet", "restore"], "NuGet"),
    installer(&["deno", "install"], "Deno"),
    installer(&["bundle"], "RubyGems"),
];

const fn installer(call: &'static [&'static str], ecosystem: &'static str) -> Installer {
    Installer { call, ecosystem }
}

/// The options of pip that name a file or a project, and those that change only how pip installs.
const PIP_WITH_VALUE: [&str; 7] = ["-r", "--requirement", "-c", "--constraint", "-e", "--editable", "--group"];
const PIP_WITHOUT_EFFECT: [&str; 12] = [
    "-U",
    "--upgrade",
    "-q",
    "--quiet",
    "-v",
    "--user",
    "--system",
    "--no-cache-dir",
    "--disable-pip-version-check",
    "--no-input",
    "--prefer-binary",
    "--break-system-packages",
];

/// Programs that run tests if their arguments name them.
const TASK_RUNNERS: [&str; 7] = ["make", "tox", "nox", "rake", "just", "task", "ctest"];

/// The most workflows that are read, and the most install commands and system packages that are taken from a job.
const MOST_WORKFLOWS: usize = 30;
const MOST_INSTALLS: usize = 50;
const MOST_PACKAGES: usize = 100;

/// Returns the files that this module reads.
pub(super) fn files_to_read(paths: &[String]) -> impl Iterator<Item = &String> {
    paths.iter().filter(|path| is_workflow(path)).take(MOST_WORKFLOWS)
}

/// Returns the steps of the first workflow that runs tests and installs or starts anything for them.
pub(crate) fn read(repository: &Repository<'_>) -> Option<Workflow> {
    let mut paths = files_to_read(repository.paths).peekable();
    paths.peek()?;
    let open = registries::of_paths(repository.paths);
    paths.find_map(|path| {
        let workflow: Value = serde_saphyr::from_str(&repository.text_from_root(path)?).ok()?;
        let jobs = workflow.get("jobs")?.as_object()?;
        let read = |job: &Value| Job::read(repository, &open, &workflow, job).filter(|job| job.tests);
        let found = jobs.values().filter_map(read).map(|job| job.found);
        let mut telling = found.filter(|found| *found != Workflow::default());
        Some(Workflow { path: path.clone(), ..telling.next()? })
    })
}

struct Job<'r> {
    repository: &'r Repository<'r>,
    /// The ecosystems whose registries set-up may reach.
    open: &'r [&'static Ecosystem],
    found: Workflow,
    tests: bool,
}

impl<'r> Job<'r> {
    fn read(
        repository: &'r Repository<'r>,
        open: &'r [&'static Ecosystem],
        workflow: &Value,
        job: &Value,
    ) -> Option<Self> {
        let text = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let system = text(job, "/runs-on").unwrap_or_default();
        if ["windows", "macos"].iter().any(|other| system.starts_with(other)) {
            return None;
        }
        let services = job.get("services").and_then(Value::as_object);
        let mut read = Self {
            repository,
            open,
            found: Workflow { services: services.map(names).unwrap_or_default(), ..Workflow::default() },
            tests: false,
        };
        const FOLDER: &str = "/defaults/run/working-directory";
        let usual = text(job, FOLDER).or_else(|| text(workflow, FOLDER)).unwrap_or_default();
        let mut needed = 0;
        for step in job.get("steps")?.as_array()? {
            let folder = text(step, "/working-directory").unwrap_or_else(|| usual.clone());
            let is_plain =
                step.get("if").is_none() && step.get("shell").is_none_or(|shell| shell == "bash" || shell == "sh");
            if let Some(run) = step.get("run").and_then(Value::as_str).filter(|_| is_plain)
                && read.step(run, &folder)
            {
                needed = read.found.installs.len();
            }
        }
        // Packages that are installed after the last test are for something else.
        read.found.installs.truncate(needed);
        Some(read)
    }

    /// Reads the lines of a step. Returns `true` if it runs tests.
    fn step(&mut self, run: &str, folder: &str) -> bool {
        let mut folder = folder.trim_start_matches("./").trim_end_matches('/').to_owned();
        let mut tests = false;
        for (_, words) in commands(run) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["cd", below] => folder = inside(&folder, below),
                ["sudo", rest @ ..] => self.system(rest),
                words if self.install(words, &folder) => {}
                words => {
                    self.system(words);
                    tests |= is_test(words);
                }
            }
        }
        self.tests |= tests;
        tests
    }

    /// Notes packages of the system's own package manager.
    fn system(&mut self, words: &[&str]) {
        if let ["apt-get" | "apt", rest @ ..] = words {
            let packages = rest.iter().skip_while(|word| **word != "install").skip(1);
            let packages = packages.filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned());
            let left = MOST_PACKAGES.saturating_sub(self.found.system_packages.len());
            self.found.system_packages.extend(packages.take(left));
        }
    }

    /// Records a command that installs packages. Returns `true` for every such command, even if AutoBuild could not run
    /// it.
    fn install(&mut self, words: &[&str], folder: &str) -> bool {
        let words = match words {
            ["python" | "python3" | "py" | "uv", rest @ ..] => match rest {
                ["-m", rest @ ..] | rest if rest.starts_with(&["pip", "install"]) => rest,
                _ => words,
            },
            ["pip3", rest @ ..] if rest.starts_with(&["install"]) => &[&["pip"], rest].concat(),
            ["corepack", rest @ ..] => rest,
            words => words,
        };
        let called = |installer: &&Installer| words.starts_with(installer.call);
        let Some(installer) = INSTALLERS.iter().find(called) else {
            return false;
        };
        let rest = words.get(installer.call.len()..).unwrap_or_default();
        let has_subcommand = installer.call.len() == 1 && rest.iter().any(|word| !word.starts_with('-'));
        if has_subcommand {
            return false;
        }
        let is_open = self.open.iter().any(|ecosystem| ecosystem.name == installer.ecosystem);
        if !is_open || self.found.installs.len() >= MOST_INSTALLS {
            return true;
        }
        let arguments = match installer.call {
            ["pip", ..] => pip(self.repository, folder, rest),
            _ => rest.iter().all(|word| is_argument(word)).then(|| owned(rest)),
        };
        if let Some(arguments) = arguments.filter(|_| is_folder(folder)) {
            let folder = folder.to_owned();
            self.found.installs.push(Install { folder, installer, arguments });
        }
        true
    }
}

/// Returns the commands of a step, each as written and as its words.
fn commands(run: &str) -> Vec<(String, Vec<String>)> {
    let run = run.replace("\\\n", " ");
    let parts = run.lines().flat_map(|line| line.split("&&")).map(str::trim);
    let split = |part: &str| {
        let command: ShellCommand = part.parse().ok()?;
        Some((part.to_owned(), command.as_written()?.words))
    };
    parts.filter_map(split).collect()
}

/// Returns the commands of workflows that run tests: by their own words, or by the name of their step or job.
pub(super) fn test_commands(repository: &Repository<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for path in files_to_read(repository.paths) {
        let text = repository.text_from_root(path).unwrap_or_default();
        let workflow: Value = serde_saphyr::from_str(&text).unwrap_or_default();
        let jobs = workflow.get("jobs").and_then(Value::as_object);
        for (id, job) in jobs.into_iter().flatten() {
            found.extend(test_command(id, job));
        }
    }
    found
}

/// Returns the first command of a job whose words name tests, else the last one of a step or job named after tests.
fn test_command(id: &str, job: &Value) -> Option<String> {
    let name = |value: &Value| {
        let name = value.get("name").and_then(Value::as_str);
        name.is_some_and(mentions_tests)
    };
    let is_job = mentions_tests(id) || name(job);
    let mut last = None;
    for step in job.get("steps")?.as_array()? {
        for (command, words) in commands(step.get("run").and_then(Value::as_str).unwrap_or_default()) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if words.first() == Some(&"cd") || words.contains(&"install") {
                continue;
            }
            if names_tests(&words) {
                return Some(command);
            }
            if is_job || name(step) {
                last = Some(command);
            }
        }
    }
    last
}

impl Workflow {
    /// Returns its steps inside a folder, which ends with a slash, or is empty for the root.
    pub(super) fn below(&self, folder: &str) -> Self {
        let inside = |install: &Install| {
            let whole = format!("{}/", install.folder);
            let below = if folder.is_empty() { whole.as_str() } else { whole.strip_prefix(folder)? };
            Some(Install { folder: below.trim_matches('/').to_owned(), ..install.clone() })
        };
        Self { installs: self.installs.iter().filter_map(inside).collect(), ..self.clone() }
    }

    pub(super) fn pip_arguments(&self) -> Vec<String> {
        let of_pip = self.installs.iter().filter(|install| install.is_pip() && install.folder.is_empty());
        let mut all: Vec<String> = Vec::new();
        for group in of_pip.flat_map(|install| groups(&install.arguments)) {
            let is_there = all.windows(group.len()).any(|known| known == group);
            if !is_there {
                all.extend_from_slice(group);
            }
        }
        all
    }

    /// Adds to a set-up the packages that the workflow installs besides.
    pub(super) fn complete(&self, found: Detection, repository: &Repository<'_>) -> Detection {
        let mut setup = found.setup.clone();
        let mut more: Vec<String> = Vec::new();
        let mut pip = self.pip_arguments();
        for install in &self.installs {
            let is_covered = install.folder.is_empty() && covers(&found.setup, install.installer.ecosystem);
            if is_covered {
                setup = install.with_options(&setup).unwrap_or(setup);
                if install.is_pip() {
                    pip.clear();
                }
            } else if install.is_pip() && install.folder.is_empty() {
                if !pip.is_empty() {
                    more.push(venv(&std::mem::take(&mut pip)));
                }
            } else {
                more.extend(install.line(repository));
            }
        }
        more.dedup();
        if setup == found.setup && more.is_empty() {
            return found;
        }
        let whole: Vec<String> = Some(setup).filter(|setup| !setup.is_empty()).into_iter().chain(more).collect();
        Detection { setup: whole.join(" && "), files: format!("{} and {}", found.files, self.path), ..found }
    }
}

impl Install {
    fn is_pip(&self) -> bool {
        self.installer.call.starts_with(&["pip"])
    }

    /// Returns a set-up with the options that this command has and the set-up lacks, if it calls the same program.
    fn with_options(&self, setup: &str) -> Option<String> {
        let known: ShellCommand = setup.parse().ok()?;
        let mut words = known.simple()?.words;
        let program = words.iter().find(|word| *word != "corepack");
        if program.map(String::as_str) != self.installer.call.first().copied() {
            return None;
        }
        let lacks: Vec<String> = self.arguments.iter().filter(|word| !words.contains(word)).cloned().collect();
        words.extend(lacks);
        Some(shell_words::join(words))
    }

    /// Returns the line that runs it; `None` for pip in a folder, whose environment would not be used.
    fn line(&self, repository: &Repository<'_>) -> Option<String> {
        let call = self.installer.call.iter().copied();
        let starter = node::starter(repository, call.clone().next().unwrap_or_default());
        let words = shell_words::join(call.chain(self.arguments.iter().map(String::as_str)));
        let words = format!("{starter}{words}");
        match (self.is_pip(), self.folder.as_str()) {
            (true, _) => None,
            (false, "") => Some(words),
            (false, folder) => Some(format!("(cd {} && {words})", shell_words::quote(folder))),
        }
    }
}

/// Returns the line that installs Python packages into the checkout's own environment.
pub(super) fn venv(packages: &[String]) -> String {
    let packages: Vec<_> = packages.iter().map(|package| shell_words::quote(package)).collect();
    let pip = ".venv/bin/python3 -m pip install -q";
    format!("python3 -m venv .venv && {pip} -U pip && {pip} {}", packages.join(" "))
}

/// `true` if a set-up installs packages of an ecosystem.
fn covers(setup: &str, ecosystem: &str) -> bool {
    let programs = INSTALLERS.iter().filter(|installer| installer.ecosystem == ecosystem);
    let mut programs = programs.filter_map(|installer| installer.call.first());
    let mut words = setup.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.by_ref().collect();
    programs.any(|program| words.contains(program))
}

/// Returns pip's arguments without the options that have no effect here; `None` if they name anything that is not in
/// the repository or in the registry.
fn pip(repository: &Repository<'_>, folder: &str, words: &[&str]) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        // Set-up installs a new pip anyway.
        if PIP_WITHOUT_EFFECT.contains(word) || *word == "pip" {
            continue;
        }
        let (option, value) = match word.split_once('=').filter(|_| word.starts_with("--")) {
            Some((option, value)) => (option, Some(value)),
            None => (*word, None),
        };
        if !option.starts_with('-') {
            arguments.push(is_argument(word).then(|| (*word).to_owned())?);
            continue;
        }
        let option = PIP_WITH_VALUE.iter().find(|known| **known == option)?;
        let value = value.or_else(|| words.next().copied()).filter(|value| is_argument(value))?;
        let is_list = ["-r", "--requirement", "-c", "--constraint"].contains(option);
        if is_list && !repository.has_from_root(&inside(folder, value)) {
            return None;
        }
        arguments.extend([(*option).to_owned(), value.to_owned()]);
    }
    Some(arguments).filter(|arguments| !arguments.is_empty())
}

/// Splits pip's arguments: each option with its value is one group.
pub(super) fn groups(arguments: &[String]) -> impl Iterator<Item = &[String]> {
    let mut rest = arguments;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let (group, after) = rest.split_at_checked(if first.starts_with('-') { 2 } else { 1 })?;
        rest = after;
        Some(group)
    })
}

/// `true` if a word of a workflow may be passed on: it leads neither out of the checkout nor to another host, and asks
/// for nothing outside the checkout.
fn is_argument(word: &str) -> bool {
    let is_global = ["-g", "--global", "--prefix", "--location", "--index-url", "--registry"];
    let leads_out = word.starts_with(['/', '~']) || word.split('/').any(|part| part == "..");
    let has_host = word.contains("://") || word.contains("git+") || word.contains(" @ ");
    let name = word.split('=').next().unwrap_or_default();
    !leads_out && !has_host && !is_global.contains(&name) && !word.contains("${{")
}

fn is_folder(folder: &str) -> bool {
    is_argument(folder) && !folder.starts_with('-')
}

fn inside(folder: &str, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    match folder {
        "" => path.to_owned(),
        folder if path.is_empty() => folder.to_owned(),
        folder => format!("{folder}/{path}"),
    }
}

fn is_test(words: &[&str]) -> bool {
    let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    names_tests(words) || TASK_RUNNERS.contains(&program)
}

/// `true` if the words alone show that a command runs tests.
fn names_tests(words: &[&str]) -> bool {
    let mut ends = (0..words.len()).filter_map(|at| words.get(at..));
    let calls = |end: &[&str]| RUNNERS.iter().any(|runner| runner.is_called_by(end));
    words.iter().any(|word| mentions_tests(word)) || ends.any(calls)
}

fn names(services: &Map<String, Value>) -> Vec<String> {
    services.keys().cloned().collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
