//! Checks one repository on GitHub, and the repository around the current folder.

use crate::{
    cli::{
        doctor::look::{Unasked, ask_in_time, unanswered},
        local_repository::LocalRepository,
    },
    config::{CommitsBy, Offer, RepositorySettings, SETTINGS_FILE, ServerSettings},
    engine::repository_settings::TASK_LABEL,
    gates,
    github::{Client, Commits, Content, GithubError, Installation, Repo, Rule, model::Repository},
    messages,
};
use domain::{
    ci::CiPolicy,
    diagnosis::{Row, Topic},
    exposure::Exposure,
    ids::{AppId, RepoName, Sha},
};
use futures_util::future::join_all;
use git::NoRepository;
use runners::{exposure, exposure::RunBranches};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use text::{mistake::SettingsMistake, shell_command::ShellCommand};

/// Examples of the branches that AutoBuild makes.
const OURS: [&str; 2] = ["autobuild/1/integration", "autobuild/1/task-001"];
/// The most bytes of a file that are read.
const MAX_BYTES: usize = 256 * 1024;
/// The most files that are asked for at once. GitHub refuses people who ask for too many.
const AT_ONCE: usize = 16;

/// Returns the rows of a repository on GitHub.
pub(super) async fn on_github(
    client: &Client,
    coach: Option<&Client>,
    name: &RepoName,
    settings: &ServerSettings,
) -> Vec<Row> {
    let found = ask_in_time(async {
        let Some(installation) = client.installation_of(name).await? else {
            return Ok(None);
        };
        let repository = client.repository_named(installation, name).await?;
        Ok(repository.map(|repository| (installation, repository)))
    });
    let (installation, repository) = match found.await {
        Ok(Some(found)) => found,
        Ok(None) => return vec![not_installed(client, name).await],
        Err(why) => return vec![unanswered(Topic::Repository, &why).of(name.to_string())],
    };
    let repo = client.repo(installation, repository.id);
    let mut rows = vec![found_row(name, &repository)];
    let (own_rules, default_rules, coachs, files) = tokio::join!(
        ask_in_time(forbidding(&repo)),
        ask_in_time(repo.rules_for(&repository.default_branch)),
        coachs(coach, name),
        ask_in_time(Files::read(&repo, &repository)),
    );
    rows.push(approval(&repository.default_branch, &default_rules, &coachs));
    rows.push(merge_methods(&repository));
    let ours: Vec<AppId> = std::iter::once(client).chain(coach).map(|client| client.id).collect();
    let (in_files, settings) = in_files(&repo, files, &settings.offer(installation), &ours).await;
    rows.push(branch_rules(&own_rules, &settings));
    rows.extend(in_files);
    rows
}

async fn not_installed(client: &Client, name: &RepoName) -> Row {
    let page = match ask_in_time(client.identity_now()).await {
        Ok(known) => format!(": {}/installations/new", known.page(client.urls.web())),
        Err(_) => String::new(),
    };
    let remedy = format!("install the App on it{page}; or look at how the name is spelled");
    Row::broken(Topic::Repository, "the App is not installed on it", remedy).of(name.to_string())
}

fn found_row(name: &RepoName, repository: &Repository) -> Row {
    let row = if repository.archived {
        let found = "it is archived, so nothing can be written";
        Row::broken(Topic::Repository, found, "unarchive it, under Settings")
    } else {
        let found = format!("the App is installed; default branch {}", repository.default_branch);
        Row::ok(Topic::Repository, found)
    };
    row.of(name.to_string())
}

/// Returns the rules that keep AutoBuild from its branches as long as its commits are not signed, each with a branch.
async fn forbidding(repo: &Repo<'_>) -> Result<Vec<(Rule, &'static str)>, GithubError> {
    let mut found = Vec::new();
    for branch in OURS {
        let rules = match repo.rules_for(branch).await {
            // If the account's plan has no rules, GitHub forbids the question.
            Err(GithubError::Forbidden { .. }) => return Ok(found),
            rules => rules?,
        };
        for rule in rules.into_iter().filter(|rule| rule.forbids(branch, Commits::Unsigned)) {
            if !repo.may_bypass(&rule).await? {
                found.push((rule, branch));
            }
        }
    }
    Ok(found)
}

fn branch_rules(found: &Result<Vec<(Rule, &'static str)>, Unasked>, settings: &RepositorySettings) -> Row {
    let commits = match settings.commits {
        CommitsBy::Git => Commits::Unsigned,
        CommitsBy::Github => Commits::Signed,
    };
    let rules = match found {
        Ok(rules) => rules,
        Err(why) => return unanswered(Topic::BranchRules, why),
    };
    match rules.iter().find(|(rule, branch)| rule.forbids(branch, commits)) {
        None => Row::ok(Topic::BranchRules, "none keeps AutoBuild from autobuild/**"),
        Some((rule, branch)) => {
            let found = format!("the rule {} holds for {branch}, so it cannot be made or pushed", rule.kind);
            let remedy = "exclude autobuild/** from that ruleset, or let the App bypass it, under Settings, Rules";
            Row::broken(Topic::BranchRules, found, remedy)
        }
    }
}

/// The state of the Coach App in a repository.
#[derive(Debug)]
enum Coach {
    None,
    NotInstalled,
    Installed(Installation),
    Unknown(Unasked),
}

async fn coachs(coach: Option<&Client>, name: &RepoName) -> Coach {
    let Some(coach) = coach else { return Coach::None };
    let (id, all) = tokio::join!(ask_in_time(coach.installation_of(name)), ask_in_time(coach.installations()));
    match (id, all) {
        (Ok(Some(id)), Ok(all)) => match all.into_iter().find(|one| one.id == id) {
            Some(one) => Coach::Installed(one),
            None => Coach::NotInstalled,
        },
        (Ok(None), _) => Coach::NotInstalled,
        (Err(why), _) | (_, Err(why)) => Coach::Unknown(why),
    }
}

fn approval(branch: &str, rules: &Result<Vec<Rule>, Unasked>, coach: &Coach) -> Row {
    let approvals = match rules {
        Ok(rules) => rules.iter().map(Rule::approvals).max().unwrap_or(0),
        Err(Unasked::Github(GithubError::Forbidden { .. })) => 0,
        Err(why) => return unanswered(Topic::Approval, why),
    };
    let asks = match approvals {
        0 => format!("no ruleset asks for approvals on {branch}"),
        1 => format!("{branch} asks for 1 approval"),
        more => format!("{branch} asks for {more} approvals"),
    };
    let counts = |one: &Installation| one.permissions.get("contents").is_some_and(|level| level == "write");
    let a_person = "or let a person approve";
    match (approvals, coach) {
        (_, Coach::Unknown(why)) => unanswered(Topic::Approval, why),
        (_, Coach::NotInstalled) => Row::warning(
            Topic::Approval,
            format!("{asks}; the Coach App is not installed here, so reviews are comments"),
            "install the Coach App on it",
        ),
        (0, Coach::None | Coach::Installed(_)) => Row::ok(Topic::Approval, asks),
        (_, Coach::None) => Row::warning(
            Topic::Approval,
            format!("{asks}; there is no Coach App whose approval could count"),
            format!("set up the Coach App, {a_person}"),
        ),
        (_, Coach::Installed(one)) if counts(one) => Row::ok(Topic::Approval, format!("{asks}; the Coach's counts")),
        (_, Coach::Installed(_)) => Row::warning(
            Topic::Approval,
            format!("{asks}; the Coach's does not count, since it cannot write"),
            format!("give the Coach App `contents: write`, {a_person}"),
        ),
    }
}

fn merge_methods(repository: &Repository) -> Row {
    let ways = [
        (repository.allow_squash_merge, "squash"),
        (repository.allow_merge_commit, "merge commit"),
        (repository.allow_rebase_merge, "rebase"),
    ];
    let of = |wanted: Option<bool>| -> Vec<&str> {
        let fitting = ways.into_iter().filter(|(allowed, _)| *allowed == wanted);
        fitting.map(|(_, way)| way).collect()
    };
    match (of(Some(true)), of(None)) {
        (allowed, unknown) if allowed.is_empty() && unknown.is_empty() => Row::broken(
            Topic::MergeMethods,
            "no way of merging is allowed",
            "allow squash merging, under Settings, General, Pull Requests",
        ),
        (allowed, _) if allowed.is_empty() => {
            Row::ok(Topic::MergeMethods, "GitHub does not say; the first merge tells")
        }
        (allowed, _) => Row::ok(Topic::MergeMethods, allowed.join(", ")),
    }
}

struct Files {
    head: Sha,
    /// The name of the default branch.
    branch: String,
    paths: Vec<String>,
    /// Those of the paths that are links.
    links: BTreeSet<String>,
}

impl Files {
    /// Reads the list of files; `None` if nobody has pushed yet.
    async fn read(repo: &Repo<'_>, repository: &Repository) -> Result<Option<Self>, GithubError> {
        let Some(head) = repo.branch_head(&repository.default_branch).await? else {
            return Ok(None);
        };
        let (paths, links) = repo.files(&head).await?;
        let branch = repository.default_branch.clone();
        Ok(Some(Self { head, branch, paths, links }))
    }

    /// Asks for the contents of some files, each once. If an answer is late, the rest is not asked for.
    async fn contents<'p>(&self, repo: &Repo<'_>, paths: impl Iterator<Item = &'p String>) -> Contents<'p> {
        let paths: BTreeSet<&String> = paths.collect();
        let paths: Vec<&String> = paths.into_iter().collect();
        let mut contents = Contents::new();
        let mut is_late = false;
        for some in paths.chunks(AT_ONCE) {
            if is_late {
                contents.extend(some.iter().map(|path| (path.as_str(), Err(Unasked::Late))));
                continue;
            }
            let reads = some.iter().copied().map(async |path| {
                let content = ask_in_time(repo.content(path, &self.head, MAX_BYTES)).await;
                (path.as_str(), content)
            });
            let answers = join_all(reads).await;
            is_late = answers.iter().any(|(_, answer)| matches!(answer, Err(Unasked::Late)));
            contents.extend(answers);
        }
        contents
    }

    /// Returns the files whose names are among `wanted`.
    fn of_names(&self, wanted: &BTreeSet<&str>) -> Vec<&String> {
        self.paths.iter().filter(|path| wanted.contains(path.as_str())).collect()
    }

    /// Returns the texts of the workflows and local actions, or why GitHub did not give one. GitHub's answer about a link
    /// is the file that it leads to, but a plan does not judge that.
    fn of_ci<'a>(&self, paths: &[&String], contents: &'a Contents<'_>) -> Result<exposure::Files, &'a Unasked> {
        let read = paths.iter().map(|path| {
            let text = match contents.get(path.as_str()) {
                _ if self.links.contains(*path) => Some(String::new()),
                Some(Ok(Content::File(bytes))) => Some(text(bytes)),
                Some(Ok(Content::TooLarge)) => None,
                Some(Ok(Content::NotAFile | Content::Missing)) | None => Some(String::new()),
                Some(Err(why)) => return Err(why),
            };
            Ok(((*path).clone(), text))
        });
        read.collect()
    }
}

/// The contents of a repository's files by path, or why GitHub did not give one.
type Contents<'p> = BTreeMap<&'p str, Result<Content, Unasked>>;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the rows about the repository's files, and the settings in force.
async fn in_files(
    repo: &Repo<'_>,
    files: Result<Option<Files>, Unasked>,
    offer: &Offer,
    ours: &[AppId],
) -> (Vec<Row>, RepositorySettings) {
    let files = match files {
        Ok(Some(files)) => files,
        Ok(None) => {
            let remedy = "push a first commit to the default branch";
            let row = Row::broken(Topic::SettingsFile, "the repository has no commit", remedy);
            return (vec![row], RepositorySettings::default());
        }
        Err(why) => {
            return (vec![unanswered(Topic::SettingsFile, &why)], RepositorySettings::default());
        }
    };
    let telling = runners::detect::files_to_read(&files.paths);
    let of_workflows = files.of_names(&exposure::files_to_read(files.paths.iter().map(String::as_str)).collect());
    let wanted = files.of_names(&[SETTINGS_FILE].into());
    let wanted = wanted.into_iter().chain(of_workflows.iter().copied()).chain(telling.iter().copied());
    let contents = files.contents(repo, wanted).await;
    let (row, settings) = settings_file(contents.get(SETTINGS_FILE), offer);
    let labels = [settings.label.as_str(), TASK_LABEL];
    let known = join_all(labels.map(|label| ask_in_time(repo.knows_label(label)))).await;
    let rows = vec![
        ci(repo, &files, &files.of_ci(&of_workflows, &contents), settings.ci, ours).await,
        row,
        labels_row(&labels.into_iter().zip(known).collect::<Vec<_>>()),
        chosen_test(&settings, &files.paths, &contents),
    ];
    (rows, settings)
}

/// Returns the row about CI. It asks what the engine asks for each plan.
async fn ci(
    repo: &Repo<'_>,
    files: &Files,
    ci_files: &Result<exposure::Files, &Unasked>,
    policy: CiPolicy,
    ours: &[AppId],
) -> Row {
    let ci_files = match ci_files {
        Ok(ci_files) => ci_files,
        Err(why) => return unanswered(Topic::Workflows, why),
    };
    let branches = RunBranches::of_run("autobuild/1", &files.branch, repo.has_hosted_runners());
    let of_files = exposure::exposure_of(files.paths.iter().map(String::as_str), ci_files, &branches);
    let others = match policy {
        CiPolicy::Auto | CiPolicy::Ask => ask_in_time(repo.reporters(&files.head, ours)).await,
        CiPolicy::Wait | CiPolicy::Ignore => Ok(Vec::new()),
    };
    match others {
        Ok(others) => workflows_row(&of_files.with(Exposure { workflows: Vec::new(), others }), policy),
        Err(_) if !of_files.is_harmless() => workflows_row(&of_files, policy),
        Err(why) => unanswered(Topic::Workflows, &why),
    }
}

fn workflows_row(exposure: &Exposure, policy: CiPolicy) -> Row {
    if exposure.workflows.is_empty() && exposure.others.is_empty() {
        return Row::ok(Topic::Workflows, "no workflow starts on AutoBuild's branches");
    }
    let found = messages::ci_in_terminal(exposure).join("; ");
    if exposure.is_harmless() {
        return Row::ok(Topic::Workflows, found);
    }
    let is_held = match (policy, exposure.not_held().next()) {
        (CiPolicy::Auto | CiPolicy::Ask, None) => "CI is held until a person lets it run",
        (CiPolicy::Auto | CiPolicy::Ask, Some(_)) => {
            "CI is held until a person lets it run, and plans wait for approval, since not all of it can be held"
        }
        (CiPolicy::Wait | CiPolicy::Ignore, _) => "the repository's settings let CI run without asking",
    };
    Row::warning(
        Topic::Workflows,
        format!("{found}; {is_held}"),
        "give each job `permissions:` with nothing above read, keep secrets in environments that people approve, take the \
         branches autobuild/** out with `branches-ignore`, or write `ci: wait` if all of CI may run (see docs/ci.md)",
    )
}

fn settings_file(content: Option<&Result<Content, Unasked>>, offer: &Offer) -> (Row, RepositorySettings) {
    let read = match content {
        None | Some(Ok(Content::Missing)) => {
            let found = format!("no {SETTINGS_FILE}: the organisation's settings hold, else the defaults");
            return (Row::ok(Topic::SettingsFile, found), RepositorySettings::default());
        }
        Some(Err(why)) => return (unanswered(Topic::SettingsFile, why), RepositorySettings::default()),
        Some(Ok(Content::File(bytes))) => RepositorySettings::parse(&text(bytes), offer),
        Some(Ok(Content::TooLarge)) => Err(vec![SettingsMistake::TooLarge { most: MAX_BYTES }]),
        Some(Ok(Content::NotAFile)) => Err(vec![SettingsMistake::NoFile]),
    };
    match read {
        Ok(settings) => {
            let found = format!("{SETTINGS_FILE} is without mistakes");
            (Row::ok(Topic::SettingsFile, found), settings)
        }
        Err(mistakes) => {
            let said: Vec<String> = mistakes.iter().map(messages::settings_mistake).collect();
            let remedy = "mend it on the default branch (see docs/settings.md)";
            let row = Row::broken(Topic::SettingsFile, said.join("; "), remedy);
            (row, RepositorySettings::default())
        }
    }
}

fn labels_row(known: &[(&str, Result<bool, Unasked>)]) -> Row {
    if let Some((_, Err(why))) = known.iter().find(|(_, known)| known.is_err()) {
        return unanswered(Topic::Labels, why);
    }
    let of = |is_there: bool| -> Vec<&str> {
        let fitting = known.iter().filter(|(_, known)| matches!(known, Ok(known) if *known == is_there));
        fitting.map(|(label, _)| *label).collect()
    };
    let missing = of(false);
    let found = format!("there is no label {}", missing.join(", and none "));
    let commands: Vec<String> = missing.iter().map(|label| format!("gh label create '{label}'")).collect();
    match missing.as_slice() {
        [] => Row::ok(Topic::Labels, of(true).join(", ")),
        [TASK_LABEL] => Row::warning(Topic::Labels, found, commands.join("; ")),
        [_, ..] => Row::broken(Topic::Labels, found, commands.join("; ")),
    }
}

/// Chooses the test command. If none is found, but a file that may tell it was not read, nobody knows.
fn chosen_test(settings: &RepositorySettings, paths: &[String], contents: &Contents<'_>) -> Row {
    let read = |path: &str| match contents.get(path)? {
        Ok(Content::File(bytes)) => Some(text(bytes)),
        Ok(Content::TooLarge | Content::NotAFile | Content::Missing) | Err(_) => None,
    };
    let chosen = gates::choose(settings, &runners::detect::Repository::new(paths, &read));
    let unread = contents.values().find_map(|content| content.as_ref().err());
    match unread.filter(|_| chosen.test.is_none()) {
        Some(why) => unanswered(Topic::TestCommand, why),
        None => test_command(&chosen, paths),
    }
}

fn test_command(chosen: &gates::CommandChoice, paths: &[String]) -> Row {
    let Some(command) = &chosen.test else {
        let remedy = format!("write `test: <command>` into {SETTINGS_FILE}");
        return Row::warning(Topic::TestCommand, messages::chosen_commands(&chosen.why), remedy);
    };
    match missing_program(command, paths) {
        None => Row::ok(Topic::TestCommand, command.to_string()),
        Some(program) => {
            let found = format!("{command}: neither this machine nor the repository has {program}");
            let remedy = format!("install {program}, let `setup:` install it, or correct `test:` in {SETTINGS_FILE}");
            Row::warning(Topic::TestCommand, found, remedy)
        }
    }
}

/// The commands that shells run themselves.
const BUILT_IN: [&str; 14] =
    [".", "[", "cd", "command", "eval", "exec", "export", "false", "set", "source", "test", "time", "true", "ulimit"];

/// Returns the program of a command if it does not exist. Commands that need a shell's syntax are not checked.
fn missing_program(command: &ShellCommand, paths: &[String]) -> Option<String> {
    let program = command.simple()?.words.into_iter().next()?;
    let is_there = match program.strip_prefix("./").unwrap_or(&program) {
        own if own.contains('/') || own != program => {
            Path::new(own).is_absolute() && Path::new(own).is_file() || paths.iter().any(|path| path == own)
        }
        name => BUILT_IN.contains(&name) || gates::is_installed(name),
    };
    (!is_there).then_some(program)
}

/// Returns the repository around the current folder, or the row that says why there is none.
async fn own_repository() -> Result<(LocalRepository, Row), Row> {
    let local_repository = LocalRepository::here().await.map_err(|error| {
        let why = error.downcast_ref::<NoRepository>();
        let remedy = if matches!(why, Some(NoRepository::Git(_))) {
            "do what git says"
        } else if matches!(why, Some(NoRepository::Odd(_) | NoRepository::Endless(_))) {
            "do that"
        } else {
            "go into your project's folder"
        };
        Row::warning(Topic::OwnRepository, format!("{error:#}"), remedy)
    })?;
    let head = local_repository.head().await.map_err(|error| {
        let remedy = "git add -A && git commit -m Begin";
        Row::broken(Topic::OwnRepository, format!("{error:#}"), remedy)
    })?;
    let copied = local_repository.own.can_be_copied().await;
    copied.map_err(|why| {
        let remedy = "do that, or work in a whole clone";
        Row::broken(Topic::OwnRepository, why.to_string(), remedy)
    })?;
    let branch = head.branch.map(|branch| format!(", on {branch}")).unwrap_or_default();
    let found = format!("{}{branch}", local_repository.own.work_tree.display());
    Ok((local_repository, Row::ok(Topic::OwnRepository, found)))
}

/// Returns the rows of the repository around the current folder. Nothing about it is sent to GitHub.
pub(super) async fn in_front() -> Vec<Row> {
    let (local_repository, row) = match own_repository().await {
        Ok(found) => found,
        Err(row) => return vec![row],
    };
    let paths = match local_repository.own.files().await {
        Ok(paths) => paths,
        Err(error) => {
            let unread = Row::broken(Topic::SettingsFile, error.to_string(), "look with git status");
            return vec![row, unread];
        }
    };
    let text = |path: &str| {
        // A link could lead to a file outside, whose lines the rows would show.
        let bytes = gates::read_regular_file(&local_repository.own.work_tree, path, 256 * 1024).ok()?;
        String::from_utf8(bytes).ok()
    };
    let has_settings = paths.iter().any(|path| path == SETTINGS_FILE);
    let settings = has_settings
        .then(|| Ok(text(SETTINGS_FILE).map_or(Content::NotAFile, |text| Content::File(text.into_bytes()))));
    let (settings_row, settings) = settings_file(settings.as_ref(), &Offer::default());
    let chosen = gates::choose(&settings, &runners::detect::Repository::new(&paths, &text));
    vec![row, settings_row, test_command(&chosen, &paths)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plan reads a link as an empty text, but GitHub answers with the file that it leads to.
    #[test]
    fn a_workflow_that_is_a_link_is_not_judged() {
        let [link, file] = [".github/workflows/link.yml", ".github/workflows/file.yml"].map(str::to_owned);
        let workflow = || Ok(Content::File(b"on: push\npermissions: {}\njobs: {}\n".to_vec()));
        let contents: Contents<'_> = [(link.as_str(), workflow()), (file.as_str(), workflow())].into();
        let files = Files {
            head: "0123456789012345678901234567890123456789".parse().unwrap(),
            branch: "main".to_owned(),
            paths: vec![link.clone(), file.clone()],
            links: [link.clone()].into(),
        };
        let read = files.of_ci(&[&link, &file], &contents).ok().unwrap();
        let branches = RunBranches::of_run("autobuild/1", "main", true);
        let exposure = exposure::exposure_of(files.paths.iter().map(String::as_str), &read, &branches);
        let judged: Vec<(&str, bool)> =
            exposure.workflows.iter().map(|one| (one.path.as_str(), one.is_harmless())).collect();
        assert_eq!(judged, [(file.as_str(), true), (link.as_str(), false)]);
    }
}
