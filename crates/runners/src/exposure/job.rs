//! Judges what the jobs of a workflow, with the local actions and workflows that they use, give to the code that they
//! run.

use crate::exposure::{Files, MAX_BYTES, entry, known, scope::Scope, seeking::Seeking};
use domain::exposure::{Grant, Unjudged, UnknownStep};
use std::collections::BTreeSet;
use text::node::{Node, Shape};

/// How deep workflows and actions may use each other, as on GitHub.
const MOST_LEVELS: usize = 10;

/// The most bytes of local actions and workflows that are judged for one workflow. A file counts at each use, because
/// files that use each other several times would otherwise take time without end.
const MOST_BYTES_USED: usize = 1024 * 1024;

const OF_WORKFLOW: [&str; 8] = ["name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"];
const OF_JOB: [&str; 19] = [
    "name",
    "permissions",
    "needs",
    "if",
    "runs-on",
    "environment",
    "concurrency",
    "outputs",
    "env",
    "defaults",
    "steps",
    "timeout-minutes",
    "strategy",
    "continue-on-error",
    "container",
    "services",
    "uses",
    "with",
    "secrets",
];
const OF_STEP: [&str; 11] = [
    "id",
    "if",
    "name",
    "uses",
    "run",
    "working-directory",
    "shell",
    "with",
    "env",
    "continue-on-error",
    "timeout-minutes",
];

/// Keys whose expressions only choose what runs, and pass nothing on.
const CHOOSING: [&str; 4] = ["if", "concurrency", "name", "run-name"];

/// Words of steps that fetch the head, or something made from it, in a workflow that does not start on it. Commands of
/// git have their own list.
const TAKING: [&str; 18] = [
    ".head.",
    "head_ref",
    "head_sha",
    "head_branch",
    "head_commit",
    "headrefname",
    "headrefoid",
    "refs/pull",
    "merge_commit_sha",
    "['head']",
    "tojson(github.event",
    "repo clone",
    "run download",
    "download-artifact",
    "downloadartifact",
    "tarball",
    "zipball",
    "/archive/",
];

/// Commands of git that bring other code into a checkout. Options may come before them.
const TAKING_OF_GIT: [&str; 11] =
    ["am", "apply", "checkout", "cherry-pick", "clone", "fetch", "merge", "pull", "restore", "switch", "worktree"];

/// `true` if a text in lower case names a way to get the head.
fn names_head(text: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    let takes_by_git = |command: &str| {
        let words = command.split(|letter| !is_of_word(letter));
        let mut words = words.skip_while(|word| *word != "git" && !word.ends_with("/git"));
        words.any(|word| TAKING_OF_GIT.contains(&word))
    };
    let patches = text.contains("/pull/") && (text.contains(".patch") || text.contains(".diff"));
    let whole_lines = text.replace("\\\n", " ");
    let mut commands = whole_lines.split(['\n', ';', '&', '|', '(', ')']);
    patches || TAKING.iter().any(|word| text.contains(word)) || commands.any(takes_by_git)
}

/// Collects the grants of the jobs of one workflow.
pub(super) struct Judge<'f> {
    files: &'f Files,
    has_hosted_runners: bool,
    /// The files that are being read, the outermost first.
    open: Vec<String>,
    /// How many bytes of files may still be used.
    bytes_left: usize,
    /// The values that the part that is being read says itself.
    scope: Scope,
    pub(super) grants: BTreeSet<Grant>,
    /// `true` if a step fetches the head, or may.
    pub(super) takes_head: bool,
    pub(super) unknown_steps: BTreeSet<UnknownStep>,
    pub(super) seeking: Seeking,
}

impl<'f> Judge<'f> {
    pub(super) fn new(files: &'f Files, has_hosted_runners: bool) -> Self {
        Self {
            files,
            has_hosted_runners,
            open: Vec::new(),
            bytes_left: MOST_BYTES_USED,
            scope: Scope::default(),
            grants: BTreeSet::new(),
            takes_head: false,
            unknown_steps: BTreeSet::new(),
            seeking: Seeking::default(),
        }
    }

    /// Judges a workflow. `caller` holds the permissions of the job that calls it.
    pub(super) fn workflow(&mut self, path: &str, workflow: &Node, caller: Option<&Node>) {
        self.keys(workflow, &OF_WORKFLOW);
        self.seeking.read_values(workflow);
        self.texts(workflow);
        let permissions = entry(workflow, "permissions").or(caller);
        let Some(jobs) = entry(workflow, "jobs").and_then(Node::entries) else {
            return self.not_literal("jobs");
        };
        self.open.push(path.to_owned());
        // A workflow that is called knows nothing of its caller's values.
        let callers = std::mem::replace(&mut self.scope, Scope::default().within(workflow));
        for (_, job) in jobs {
            self.inside(job, |judge| judge.job(job, permissions));
        }
        self.scope = callers;
        self.open.pop();
    }

    /// Judges a part with the values that it says itself.
    fn inside(&mut self, part: &Node, judge: impl FnOnce(&mut Self)) {
        let inner = self.scope.within(part);
        let outer = std::mem::replace(&mut self.scope, inner);
        judge(self);
        self.scope = outer;
    }

    fn job(&mut self, job: &Node, permissions: Option<&Node>) {
        self.keys(job, &OF_JOB);
        self.seeking.read_values(job);
        let permissions = entry(job, "permissions").or(permissions);
        if let Some(environment) = entry(job, "environment") {
            let name = environment.text().map_or_else(|| environment.render_short(80), str::to_owned);
            self.grants.insert(Grant::Environment { name });
        }
        if let Some(uses) = entry(job, "uses") {
            return self.judge_called(job, uses, permissions);
        }
        self.permissions(permissions);
        match entry(job, "runs-on") {
            Some(runner) => self.runner(job, runner),
            None => self.not_literal("runs-on"),
        }
        match entry(job, "steps").and_then(Node::items) {
            Some(steps) => self.steps(steps),
            None => self.not_literal("steps"),
        }
    }

    /// Judges a job that is a workflow of its own.
    fn judge_called(&mut self, job: &Node, uses: &Node, permissions: Option<&Node>) {
        // `inherit` is the only word that GitHub accepts here.
        if entry(job, "secrets").is_some_and(|secrets| secrets.text().is_some()) {
            self.grants.insert(Grant::AllSecrets);
        }
        let Some(uses) = uses.text() else {
            return self.not_literal("uses");
        };
        let Some(path) = uses.strip_prefix("./") else {
            self.permissions(permissions);
            // Its runner and its environments are in a file that was not read.
            self.takes_head = true;
            self.grants.insert(Grant::ForeignWorkflow { uses: uses.to_owned() });
            return;
        };
        if let Some(workflow) = self.file(&[path.to_owned()]) {
            self.workflow(path, &workflow, permissions);
        }
    }

    fn steps(&mut self, steps: &[Node]) {
        for step in steps {
            self.inside(step, |judge| judge.step(step));
        }
    }

    fn step(&mut self, step: &Node) {
        self.keys(step, &OF_STEP);
        self.seeking.read_step(step);
        if let Some(script) = entry(step, "run") {
            let is_known = script.text().is_some_and(|script| known::is_harmless_script(script, &self.scope));
            if self.scope.has_other_shell() || !is_known {
                self.unknown_steps.insert(UnknownStep::Script);
            }
        }
        let Some(uses) = entry(step, "uses") else { return };
        let Some(uses) = uses.text() else {
            return self.not_literal("uses");
        };
        let Some(folder) = uses.strip_prefix("./") else {
            if uses.contains("${{") {
                self.not_literal("uses");
            }
            let with = entry(step, "with");
            let script = with.and_then(|with| entry(with, "script")).and_then(Node::text);
            if !known::is_harmless_action(uses, script, &self.scope) {
                self.unknown_steps.insert(UnknownStep::Action { uses: uses.to_owned() });
            }
            let mut inputs = ["ref", "repository"].into_iter().filter_map(|name| entry(with?, name));
            let is_chosen = inputs.any(|input| input.text().is_none_or(|text| text.contains("${{")));
            self.takes_head |= uses.contains("checkout") && is_chosen;
            return;
        };
        let folder = folder.trim_end_matches('/');
        let file = |name: &str| {
            if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
        };
        let names = ["action.yml", "action.yaml"].map(file);
        if let Some(action) = self.file(&names) {
            self.action(&names, &action);
        }
    }

    /// Judges the steps of a local action. An action that is a program gets only the grants of its job, but is not known.
    fn action(&mut self, names: &[String], action: &Node) {
        self.texts(action);
        let runs = entry(action, "runs").and_then(|runs| Some((runs, entry(runs, "steps")?.items()?)));
        let Some((runs, steps)) = runs else {
            let file = names.first().cloned().unwrap_or_default();
            self.unknown_steps.insert(UnknownStep::Action { uses: file });
            return;
        };
        self.open.extend(names.first().cloned());
        self.inside(runs, |judge| judge.steps(steps));
        self.open.pop();
    }

    /// Reads the first of these files that is there.
    fn file(&mut self, names: &[String]) -> Option<Node> {
        let missing = || names.first().cloned().unwrap_or_default();
        let found = names.iter().find_map(|name| self.files.get(name));
        let why = match found {
            _ if self.open.len() >= MOST_LEVELS || names.iter().any(|name| self.open.contains(name)) => {
                Unjudged::TooDeep
            }
            None => Unjudged::Missing { path: missing() },
            Some(None) => Unjudged::TooLarge,
            Some(Some(text)) if text.len() > self.bytes_left => Unjudged::TooMany,
            Some(Some(text)) => {
                self.bytes_left = self.bytes_left.saturating_sub(text.len());
                match Node::from_yaml(text, MAX_BYTES) {
                    Ok(node) => return Some(node),
                    Err(_) => Unjudged::NotYaml,
                }
            }
        };
        self.unknown(why);
        None
    }

    /// Judges the permissions in force for a job: none may be above read.
    fn permissions(&mut self, permissions: Option<&Node>) {
        let Some(permissions) = permissions else {
            self.grants.insert(Grant::DefaultPermissions);
            return;
        };
        match &permissions.value {
            Shape::Text(word) if word == "read-all" => {}
            Shape::Text(word) if word == "write-all" => {
                let scope = "all".to_owned();
                self.grants.insert(Grant::Write { scope });
            }
            Shape::Map(scopes) => {
                for (scope, level) in scopes {
                    self.permission(&scope.name, level.text());
                }
            }
            Shape::Text(_) | Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) | Shape::List(_) => {
                self.not_literal("permissions");
            }
        }
    }

    fn permission(&mut self, scope: &str, level: Option<&str>) {
        match (scope, level) {
            (_, Some("read" | "none")) => {}
            ("id-token", Some("write")) => {
                self.grants.insert(Grant::IdentityToken);
            }
            (scope, Some("write")) => {
                let scope = scope.to_owned();
                self.grants.insert(Grant::Write { scope });
            }
            (_, _) => self.not_literal("permissions"),
        }
    }

    /// Judges the machine. A label that comes from the job's own matrix is known.
    fn runner(&mut self, job: &Node, runner: &Node) {
        let labels = match (runner.text(), runner.items()) {
            (Some(text), _) => of_matrix(job, text).unwrap_or_else(|| vec![Some(text.to_owned())]),
            (None, Some([one])) => vec![one.text().map(str::to_owned)],
            (None, _) => vec![None],
        };
        for label in labels {
            // GitHub ignores the case of labels.
            let is_hosted = label.as_ref().is_some_and(|label| is_hosted(&label.to_lowercase()));
            if !is_hosted || !self.has_hosted_runners {
                let label = label.unwrap_or_else(|| runner.render_short(80));
                self.grants.insert(Grant::Runner { label });
            }
        }
    }

    /// Searches all texts for secrets, and for ways to get the head.
    fn texts(&mut self, node: &Node) {
        self.under("", node);
    }

    fn under(&mut self, key: &str, node: &Node) {
        match &node.value {
            Shape::Text(text) => {
                self.grants.extend(secrets(text, key == "if"));
                let text = text.to_lowercase();
                self.takes_head |= !CHOOSING.contains(&key) && names_head(&text);
            }
            Shape::List(items) => items.iter().for_each(|item| self.under(key, item)),
            Shape::Map(entries) => {
                for (inner, value) in entries {
                    let is_inside = CHOOSING.contains(&key);
                    self.under(if is_inside { key } else { &inner.name }, value);
                }
            }
            Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) => {}
        }
    }

    fn keys(&mut self, node: &Node, known: &[&str]) {
        let entries = node.entries().unwrap_or_default();
        let unknown = entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str()));
        let unknown = unknown.map(|(key, _)| Grant::Unknown(Unjudged::UnknownKey { key: key.name.clone() }));
        self.grants.extend(unknown);
    }

    fn not_literal(&mut self, key: &str) {
        self.unknown(Unjudged::NotLiteral { key: key.to_owned() });
    }

    /// Records a part that cannot be judged. It may do anything, so it may fetch the head too.
    fn unknown(&mut self, why: Unjudged) {
        self.takes_head = true;
        self.grants.insert(Grant::Unknown(why));
    }
}

/// Returns the possible values of a text with one expression such as `${{ matrix.os || 'ubuntu-latest' }}`. There is
/// one for each value in the job's matrix, `None` if it is not plain text. `None` for any other text.
fn of_matrix(job: &Node, text: &str) -> Option<Vec<Option<String>>> {
    let (before, rest) = text.split_once("${{")?;
    let (expression, after) = rest.split_once("}}")?;
    let (path, other) = match expression.split_once("||") {
        Some((path, other)) => (path, Some(other.trim().strip_prefix('\'')?.strip_suffix('\'')?)),
        None => (expression, None),
    };
    let (key, inner) = path
        .trim()
        .strip_prefix("matrix.")?
        .split_once('.')
        .map_or((path.trim().strip_prefix("matrix.")?, None), |(key, inner)| (key, Some(inner)));
    let value = |node: &Node| match inner {
        Some(name) => entry(node, name)?.text().map(str::to_owned),
        None => node.text().map(str::to_owned),
    };
    let matrix = entry(job, "strategy").and_then(|strategy| entry(strategy, "matrix"))?;
    let mut values = match entry(matrix, key) {
        Some(listed) => listed.items()?.iter().map(value).collect(),
        None => Vec::new(),
    };
    if let Some(include) = entry(matrix, "include") {
        let rows = include.items()?.iter();
        values.extend(rows.filter_map(|row| entry(row, key)).map(value));
    }
    values.extend(other.map(|other| Some(other.to_owned())));
    let shown = |value: Option<String>| value.map(|value| format!("{before}{value}{after}"));
    (!values.is_empty()).then(|| values.into_iter().map(shown).collect())
}

/// `true` for a label of GitHub's own machines, such as `ubuntu-24.04-arm`.
fn is_hosted(label: &str) -> bool {
    let mut parts = label.split('-');
    let is_system = matches!(parts.next(), Some("ubuntu" | "windows" | "macos"));
    let is_version = |part: &str| {
        matches!(part, "latest" | "slim")
            || !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
    };
    let has_version = parts.next().is_some_and(is_version);
    is_system && has_version && parts.all(|part| matches!(part, "arm" | "intel" | "large" | "xlarge"))
}

/// Returns the secrets that the expressions of a text name. `GITHUB_TOKEN` is judged by its permissions.
fn secrets(text: &str, is_expression: bool) -> BTreeSet<Grant> {
    let start = if is_expression { Some(0) } else { text.find("${{") };
    let expression = start.and_then(|start| text.get(start..)).unwrap_or_default().to_lowercase();
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let mut found = BTreeSet::new();
    for (at, word) in expression.match_indices("secrets") {
        let before = expression.get(..at).and_then(|before| before.chars().next_back());
        let after = expression.get(at.saturating_add(word.len())..).unwrap_or_default();
        if before.is_some_and(|letter| is_word(letter) || letter == '.') || after.starts_with(is_word) {
            continue;
        }
        let quoted = after.trim_start().strip_prefix('[').and_then(|index| index.trim_start().strip_prefix('\''));
        let property = after.trim_start().strip_prefix('.').map(str::trim_start).or(quoted);
        let end = |name: &str| name.find(|letter| !is_word(letter)).unwrap_or(name.len());
        let name = property.and_then(|name| name.get(..end(name))).filter(|name| !name.is_empty());
        match name {
            Some("github_token") => {}
            Some(name) => {
                found.insert(Grant::Secret { name: name.to_uppercase() });
            }
            None => {
                found.insert(Grant::AllSecrets);
            }
        }
    }
    found
}
