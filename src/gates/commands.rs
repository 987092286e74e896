//! Chooses the commands to run, and records where each comes from.

use crate::config::RepositorySettings;
use domain::{
    chosen_commands::{ChosenCommand, ChosenCommands, CommandSource, UnmetNeeds},
    feature::UncalledTests,
    ids::Sha,
    network::HostRule,
    registries,
    registries::{Ecosystem, GoModules},
};
use git::{GitError, Mirror};
use integrity::language::{Role, role};
use runners::{
    detect,
    detect::{Detected, Repository, Workflow},
    results::report_folders,
    test_line::TestLine,
};
use std::collections::BTreeMap;
use text::shell_command::ShellCommand;

/// The commands that the Gates run for a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandChoice {
    /// The command that prepares a checkout; `None` if nothing needs preparing.
    pub setup: Option<ShellCommand>,
    /// `true` if AutoBuild detected the set-up itself, which then calls only package managers.
    pub setup_is_found: bool,
    /// The test command; `None` if none is known.
    pub test: Option<ShellCommand>,
    pub test_line: TestLine,
    /// The path of the results file that the test command writes, if the settings name one.
    pub report: Option<String>,
    /// The folders in which the test command may store results without being asked.
    pub report_folders: Vec<String>,
    /// The reach of every command but set-up: the hosts that the settings allow.
    pub reaches: Reach,
    /// The reasons for these commands.
    pub why: ChosenCommands,
}

impl CommandChoice {
    /// Returns the choice that prepares for both and runs the tests of `earlier` first.
    pub(crate) fn after(&self, earlier: Self) -> Self {
        let both = |first: &Option<ShellCommand>, then: &Option<ShellCommand>| match (first, then) {
            (Some(first), Some(then)) if first != then => format!("({first}) && ({then})").parse().ok(),
            (first, then) => first.clone().or_else(|| then.clone()),
        };
        if self.test.is_none() {
            return earlier;
        }
        let test_line = self.test_line.clone().after(earlier.test_line);
        Self {
            setup: both(&earlier.setup, &self.setup),
            test: test_line.text().parse().ok(),
            test_line,
            ..self.clone()
        }
    }
}

/// The hosts and Go modules that a command may reach, within the server's limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    pub hosts: Vec<HostRule>,
    pub go_modules: GoModules,
}

impl Reach {
    /// Allows the hosts that a repository's settings name.
    fn of_settings(settings: &RepositorySettings) -> Self {
        Self { hosts: settings.network.allow.clone(), go_modules: GoModules::Any }
    }
}

/// The largest file with checksums of Go modules that is read, in bytes, and the most such files.
const MAX_SUMS: usize = 4 * 1024 * 1024;
const MOST_SUMS: usize = 100;

/// Returns the reach of set-up: the registries of the ecosystems that a commit of the default branch uses, and the
/// hosts that the settings allow. Work that needs a new ecosystem or a new Go module waits for a person.
pub(crate) async fn reach_of_setup(
    mirror: &Mirror,
    default_branch: Option<&Sha>,
    settings: &RepositorySettings,
) -> Result<Reach, GitError> {
    let mut reach = Reach::of_settings(settings);
    let Some(commit) = default_branch else { return Ok(reach) };
    let paths = paths(mirror, commit).await?;
    let hosts = registries::of_paths(&paths).into_iter().flat_map(Ecosystem::hosts);
    let of_ecosystems: Vec<HostRule> = hosts.collect();
    let are_modules_open =
        registries::of_go_modules().iter().all(|host| reach.hosts.iter().any(|allowed| allowed.includes(host)));
    if !are_modules_open {
        let mut sums = Vec::new();
        for path in paths.iter().filter(|path| registries::names_go_modules(path)).take(MOST_SUMS) {
            sums.extend(mirror.read_file(commit, path, MAX_SUMS).await?.map(|file| file.text()));
        }
        reach.go_modules = GoModules::of_sums(sums.iter().map(String::as_str));
    }
    reach.hosts.extend(of_ecosystems);
    Ok(reach)
}

/// The largest file that is read to detect how a repository is built, in bytes.
const MAX_TELLING: usize = 256 * 1024;

/// The most paths of a commit that are listed.
pub const MAX_PATHS: usize = 500_000;

/// Returns the paths of a commit, up to a limit.
pub async fn paths(mirror: &Mirror, commit: &Sha) -> Result<Vec<String>, GitError> {
    let listed = mirror.list_files(commit, MAX_PATHS).await?;
    Ok(listed.entries.iter().map(|entry| entry.path.to_string()).collect())
}

/// Chooses the commands for a commit.
pub async fn choose_at(
    mirror: &Mirror,
    commit: &Sha,
    settings: &RepositorySettings,
) -> Result<CommandChoice, GitError> {
    read_at(mirror, commit, |repository| choose(settings, repository)).await
}

/// Chooses the commands for a commit that run its tests with `test`; `None` if its files do not suggest that.
pub(crate) async fn choose_with(
    mirror: &Mirror,
    commit: &Sha,
    settings: &RepositorySettings,
    test: &ShellCommand,
) -> Result<Option<CommandChoice>, GitError> {
    let choose = |repository: &Repository<'_>| {
        detect::detect_command(repository, test).map(|found| choose_detected(settings, repository, Some(&found)))
    };
    read_at(mirror, commit, choose).await
}

async fn read_at<T>(mirror: &Mirror, commit: &Sha, choose: impl FnOnce(&Repository<'_>) -> T) -> Result<T, GitError> {
    let paths = paths(mirror, commit).await?;
    let texts = texts(mirror, commit, &paths).await?;
    let read = |path: &str| texts.get(path).cloned();
    Ok(choose(&Repository::new(&paths, &read).on_machine(&is_installed)))
}

async fn texts(mirror: &Mirror, commit: &Sha, paths: &[String]) -> Result<BTreeMap<String, String>, GitError> {
    let mut texts = BTreeMap::new();
    for path in detect::files_to_read(paths) {
        if let Some(file) = mirror.read_file(commit, path, MAX_TELLING).await? {
            texts.insert(path.clone(), file.text());
        }
    }
    Ok(texts)
}

/// The most services and the most packages of a workflow that people are shown.
const MOST_NEEDS: usize = 8;

/// The most files and the most commands that people are shown when no test command is found.
const MOST_SHOWN: usize = 3;

/// Returns the tests of a commit that no detected command runs. Empty if the repository has no tests yet: then the work
/// may bring the first.
pub async fn uncalled_tests(mirror: &Mirror, commit: &Sha) -> Result<Option<UncalledTests>, GitError> {
    let paths = paths(mirror, commit).await?;
    let texts = texts(mirror, commit, &paths).await?;
    let read = |path: &str| texts.get(path).cloned();
    Ok(find_uncalled(&Repository::new(&paths, &read)))
}

fn find_uncalled(repository: &Repository<'_>) -> Option<UncalledTests> {
    let tests = repository.paths.iter().filter(|path| role(path) == Role::Test);
    let files: Vec<String> = tests.take(MOST_SHOWN).cloned().collect();
    let nested = detect::in_folders(repository).take(MOST_SHOWN);
    let commands: Vec<String> = nested.map(|found| found.test.text().to_owned()).collect();
    let mentioned: Vec<String> = detect::mentioned(repository).take(MOST_SHOWN).collect();
    let has_some = !files.is_empty() || !commands.is_empty() || !mentioned.is_empty();
    has_some.then(|| UncalledTests { files, commands, mentioned, looked_for: detect::looked_for() })
}

/// Takes each command from the settings or, failing that, detects it from the repository's files.
pub fn choose(settings: &RepositorySettings, repository: &Repository<'_>) -> CommandChoice {
    choose_detected(settings, repository, detect::detect(repository).as_ref())
}

fn choose_detected(
    settings: &RepositorySettings,
    repository: &Repository<'_>,
    found: Option<&Detected>,
) -> CommandChoice {
    let choose = |set: &Option<ShellCommand>, detected: Option<&ShellCommand>| match (set, detected, found) {
        (Some(command), ..) => Some(ChosenCommand { command: command.clone(), source: CommandSource::Settings }),
        (None, Some(command), Some(found)) => {
            Some(ChosenCommand { command: command.clone(), source: CommandSource::Files(found.files.clone()) })
        }
        (None, ..) => None,
    };
    let why = ChosenCommands {
        test: choose(&settings.test, found.map(|found| &found.test)),
        setup: choose(&settings.setup, found.and_then(|found| found.setup.as_ref())),
        looked_for: detect::looked_for(),
        unmet: repository.workflow().and_then(|workflow| unmet(&workflow)),
    };
    let command = |chosen: &Option<ChosenCommand>| chosen.as_ref().map(|chosen| chosen.command.clone());
    let (test, setup) = (command(&why.test), command(&why.setup));
    let test_line = match &test {
        Some(command) if settings.test.is_some() => TestLine::new(command, repository),
        Some(command) => TestLine::detected(command, found.and_then(|found| found.folder.as_deref()), repository),
        None => TestLine::default(),
    };
    CommandChoice {
        setup,
        setup_is_found: settings.setup.is_none(),
        test,
        test_line,
        report: settings.test_report.clone(),
        report_folders: report_folders(repository.paths),
        reaches: Reach::of_settings(settings),
        why,
    }
}

/// Returns the things that the repository's own CI installs or starts on its machine and AutoBuild does not.
fn unmet(workflow: &Workflow) -> Option<UnmetNeeds> {
    let some = |names: &[String]| names.iter().take(MOST_NEEDS).cloned().collect::<Vec<_>>();
    let needs = UnmetNeeds {
        workflow: workflow.path.clone(),
        services: some(&workflow.services),
        packages: some(&workflow.system_packages),
    };
    (!needs.services.is_empty() || !needs.packages.is_empty()).then_some(needs)
}

/// Returns the test runners installed on this machine, as a hint for an agent that writes a repository's first tests.
pub fn runners_here() -> Vec<&'static str> {
    detect::runners(is_installed)
}

/// `true` if a program is on this machine's `PATH`.
pub fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::{ChosenCommand, ChosenCommands, CommandSource, UnmetNeeds, choose, find_uncalled};
    use crate::config::{Offer, RepositorySettings};
    use runners::detect::Repository;

    fn unrun_in(files: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
        let paths: Vec<String> = files.iter().map(|path| (*path).to_owned()).collect();
        let read = |_: &str| Some("{\"scripts\": {\"test\": \"jest\"}}".to_owned());
        let found = find_uncalled(&Repository::new(&paths, &read))?;
        Some((found.files, found.commands))
    }

    #[test]
    fn tests_that_nothing_runs_are_named_with_the_commands_of_their_folders() {
        assert_eq!(unrun_in(&["README.md", "src/main.lua"]), None, "it may bring its first tests");
        let lua = (vec!["spec/a_spec.lua".to_owned()], Vec::new());
        assert_eq!(unrun_in(&["src/main.lua", "spec/a_spec.lua"]), Some(lua));
        let commands = vec!["cd api && go test ./...".to_owned(), "cd web && npm test".to_owned()];
        let both = (vec!["api/a_test.go".to_owned()], commands);
        assert_eq!(unrun_in(&["api/go.mod", "api/a_test.go", "web/package.json"]), Some(both));
    }

    #[test]
    fn a_command_that_the_repository_runs_itself_shows_that_there_are_tests() {
        let mentioned = |path: &str, text: &str| {
            let paths = [path.to_owned(), "src/calc.nim".to_owned()];
            let read = |asked: &str| (asked == path).then(|| text.to_owned());
            let found = find_uncalled(&Repository::new(&paths, &read));
            found.map(|found| found.mentioned).unwrap_or_default()
        };
        let ci = ".github/workflows/ci.yml";
        let steps = |job: &str, steps: &str| format!("jobs: {{{job}: {{runs-on: ubuntu-latest, steps: [{steps}]}}}}");
        for (path, text, expected) in [
            (ci, steps("build", "{run: nimble install -y}, {run: nimble test}"), Some("nimble test")),
            (ci, steps("build", "{run: nim c -r tests/t_calc.nim}"), Some("nim c -r tests/t_calc.nim")),
            (ci, steps("test", "{run: make tool}, {run: cd x && ./verify.sh}"), Some("./verify.sh")),
            (ci, steps("a", "{name: Run the tests, run: ./verify.sh}"), Some("./verify.sh")),
            (ci, steps("a", "{run: docker push x:latest}"), None),
            ("Makefile", "run-tests:\n\tnim c -r t.nim\n".to_owned(), Some("make run-tests")),
            ("Makefile", "latest:\n\ttrue\n".to_owned(), None),
        ] {
            assert_eq!(mentioned(path, &text).first().map(String::as_str), expected, "{text}");
        }
    }

    fn choose_in(settings: &str, files: &[&str]) -> ChosenCommands {
        let settings = RepositorySettings::parse(settings, &Offer::default()).unwrap();
        let paths: Vec<String> = files.iter().map(|path| (*path).to_owned()).collect();
        let read = |_: &str| Some("{\"scripts\": {\"test\": \"jest\"}}".to_owned());
        choose(&settings, &Repository::new(&paths, &read)).why
    }

    #[test]
    fn what_the_own_ci_brings_beyond_packages_is_named() {
        let paths = ["Makefile", ".github/workflows/ci.yml"].map(str::to_owned);
        let read = |path: &str| {
            let workflow = "jobs: {t: {services: {db: {image: postgres}}, steps: [\
                            {run: sudo apt-get install -y libpq-dev}, {run: make test}]}}";
            Some(if path == "Makefile" { "test:\n" } else { workflow }.to_owned())
        };
        let settings = RepositorySettings::parse("", &Offer::default()).unwrap();
        let needs = UnmetNeeds {
            workflow: ".github/workflows/ci.yml".to_owned(),
            services: vec!["db".to_owned()],
            packages: vec!["libpq-dev".to_owned()],
        };
        assert_eq!(choose(&settings, &Repository::new(&paths, &read)).why.unmet, Some(needs));
    }

    #[test]
    fn settings_come_first_and_each_source_is_recorded() {
        let npm = ["package.json", "package-lock.json"];
        let command = |command: &str, source: &CommandSource| {
            Some(ChosenCommand { command: command.parse().unwrap(), source: source.clone() })
        };
        let files = CommandSource::Files("package.json and package-lock.json".to_owned());
        let (set, found) = (&CommandSource::Settings, &files);
        let table = [
            (choose_in("", &npm), command("npm test", found), command("npm ci", found)),
            (choose_in("test: make check", &npm), command("make check", set), command("npm ci", found)),
            (choose_in("setup: 'true'", &npm), command("npm test", found), command("true", set)),
            (choose_in("", &["README.md"]), None, None),
        ];
        for (chosen, test, setup) in table {
            assert_eq!((chosen.test, chosen.setup), (test, setup));
        }
    }
}
