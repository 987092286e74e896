//! The names of the server's settings, and the merge of their values from flags, environment and file.

use crate::config::server_file;
use domain::ids::InstallationId;
use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
};
use text::nearest::nearest;

/// The prefix of every setting's name in the environment.
pub const PREFIX: &str = "AUTOBUILD_";

pub struct Variable {
    /// The setting's name without the prefix. In the file it is written in lower case, with or without the prefix.
    pub name: &'static str,
    /// The kind of the value, which says if it is secret.
    pub kind: ValueKind,
    pub(crate) scope: Scope,
    pub default: DefaultValue,
    /// The setting's description on the page of settings.
    pub about: &'static str,
}

/// How a value is treated, and if it may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Plain,
    /// A value that is never shown; it may also be given as `<NAME>_FILE`, the path of a file that holds it.
    Secret,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One value for the whole server.
    Server,
    /// In the file, an installation can have a value of its own.
    PerInstallation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// The setting has no default.
    None,
    /// This value. To set it explicitly changes nothing.
    Value(&'static str),
    /// A value that depends on other settings, described in words.
    Words(&'static str),
}

macro_rules! variables {
    ($($name:literal: $kind:ident $($scope:ident)?, $default:ident $(($value:literal))?, $about:literal;)*) => {
        &[$(Variable {
            name: $name,
            kind: ValueKind::$kind,
            scope: variables!(@scope $($scope)?),
            default: DefaultValue::$default $(($value))?,
            about: $about,
        }),*]
    };
    (@scope) => { Scope::Server };
    (@scope $scope:ident) => { Scope::$scope };
}

/// Every setting of the server.
pub static VARIABLES: &[Variable] = variables! {
    "CONFIG": Plain, None, "The settings file; also `--config`.";
    "LISTEN": Plain, Value("127.0.0.1:8080"), "Address of the HTTP server; also `--listen`.";
    "PUBLIC_URL": Plain, None, "Address that GitHub and browsers reach. The set-up proposes it.";
    "DATABASE_URL": Secret, Words("SQLite in the data folder"),
        "Where the database is: `sqlite:FILE` or `postgres://…`.";
    "DATA_DIR": Plain, Words("`$XDG_DATA_HOME/autobuild`, else `~/.local/share/autobuild`"),
        "Folder of the database, mirrors and checkouts.";
    "GITHUB_API_URL": Plain, Value("https://api.github.com"), "Address of GitHub's API.";
    "GITHUB_URL": Plain, Value("https://github.com"),
        "Address of GitHub. For GitHub Enterprise Server, one of the two is enough. Plain `http` is allowed on loopback only.";
    "APP_ID": Plain, None, "Id of the AutoBuild App.";
    "PRIVATE_KEY": Secret, None, "Its private key, as PEM.";
    "WEBHOOK_SECRET": Secret, None, "Its webhook secret.";
    "WEBHOOK_SECRET_PREVIOUS": Secret, None, "The old webhook secret, while you change it.";
    "COACH_APP_ID": Plain, None, "Id of the Coach App. Without it, reviews are comment reviews.";
    "COACH_PRIVATE_KEY": Secret, None, "Its private key, as PEM.";
    "CLIENT_ID": Plain, None, "Client id of the AutoBuild App, with which people sign in.";
    "CLIENT_SECRET": Secret, None, "Its client secret.";
    "AGENT": Plain, Value("claude"),
        "Agent of all roles: `claude`, `codex`, `acp:COMMAND`, `command:COMMAND` or `scripted:FILE`.";
    "AGENT_PLANNER": Plain, Words("`AUTOBUILD_AGENT`"), "Agent of the planner.";
    "AGENT_DESIGNER": Plain, Words("`AUTOBUILD_AGENT`"), "Agent of the designer.";
    "AGENT_PLAYER": Plain, Words("`AUTOBUILD_AGENT`"), "Agent of the Player.";
    "AGENT_COACH": Plain, Words("`AUTOBUILD_AGENT`"), "Agent of the Coach.";
    "ANTHROPIC_API_KEY": Secret, None,
        "Key of Anthropic's API. `claude` needs it, unless `AUTOBUILD_ANTHROPIC_URL` is set.";
    "ANTHROPIC_URL": Plain, Words("Anthropic's API"), "A gateway instead of Anthropic's API.";
    "OPENAI_API_KEY": Secret, None,
        "Key of OpenAI's API. `codex` needs it, unless `AUTOBUILD_OPENAI_URL` is set.";
    "OPENAI_URL": Plain, Words("OpenAI's API"), "A gateway instead of OpenAI's API.";
    "MODEL_FAST": Plain PerInstallation, Words("`claude=sonnet`; other agents choose"),
        "Model for `fast`: one name, or one for each kind of agent, such as `claude=…, codex=…, acp=…`.";
    "MODEL_STRONG": Plain PerInstallation, Words("`claude=opus`; other agents choose"),
        "Model for `strong`, written the same way.";
    "MODEL_FALLBACK": Plain PerInstallation, None, "Model to try once if the first is unknown, overloaded or limited.";
    "MODELS": Plain PerInstallation, None, "More model names that a repository may ask for, separated by commas.";
    "SANDBOX_MIN_LEVEL": Plain, Value("1"), "Lowest isolation level that the service accepts, 0 to 3.";
    "SANDBOX_MAX_LEVEL": Plain, Value("3"), "Highest isolation level that it uses.";
    "SANDBOX_MEMORY": Plain, Value("2GiB"), "Memory of one run, with all that it starts.";
    "SANDBOX_PROCESSES": Plain, Value("1024"), "Processes of one run at a time.";
    "SANDBOX_CPU": Plain, Value("4h"), "Processor time of one run.";
    "SANDBOX_FILE": Plain, Value("4GiB"), "Largest file of one run.";
    "SANDBOX_DISK": Plain, Value("10GiB"), "Disk space of one run.";
    "MAX_SETUP_TIME": Plain PerInstallation, Value("2h"), "Longest time that a repository may give its set-up.";
    "MAX_TEST_TIME": Plain PerInstallation, Value("4h"), "Longest time that a repository may give its tests.";
    "MAX_TURNS": Plain PerInstallation, Value("50"),
        "The largest `max_turns` that a repository may set. In this and the following limits of repositories, 0 means no limit.";
    "MAX_TASKS": Plain PerInstallation, Value("200"), "The same for `max_tasks`.";
    "MAX_PARALLEL_TASKS": Plain PerInstallation, Value("20"), "The same for `max_parallel_tasks`.";
    "MAX_AGENT_TURNS": Plain PerInstallation, Value("300"), "The same for `agent_turns`.";
    "MAX_USD_PER_TASK": Plain PerInstallation, Value("50"),
        "The same for `budget.usd_per_task`. In a repository's budget, 0 means this limit.";
    "MAX_USD_PER_FEATURE": Plain PerInstallation, Value("500"), "The same for `budget.usd_per_feature`.";
    "MAX_TOKENS_PER_TASK": Plain PerInstallation, Value("0"), "The same for `budget.tokens_per_task`.";
    "MAX_TOKENS_PER_FEATURE": Plain PerInstallation, Value("0"), "The same for `budget.tokens_per_feature`.";
    "MAX_HOURS_PER_TASK": Plain PerInstallation, Value("24"), "The same for `budget.hours_per_task`.";
    "MAX_HOURS_PER_FEATURE": Plain PerInstallation, Value("240"), "The same for `budget.hours_per_feature`.";
    "NETWORK_ALLOW": Plain PerInstallation, Value("registries"),
        "Hosts that sandboxes may reach at most: `example.com`, `*.example.com`, `registries` or `none`.";
    "NETWORK_PINNED": Plain PerInstallation, None,
        "Addresses of internal hosts: `host=address` or `host=address:port`.";
    "NETWORK_PROXY": Plain, None,
        "Your organisation's proxy, such as `http://proxy.example.com:3128`: the service reaches everything through it.";
    "NETWORK_PROXY_CREDENTIALS": Secret, None, "`user:password` for that proxy.";
    "NETWORK_NO_PROXY": Plain, None, "Hosts that are reached without it, as in `NO_PROXY`.";
    // Public, but a secret is the kind of value that can be given as a file.
    "NETWORK_CA": Secret, None, "More certificate authorities to trust, in PEM form.";
    "CONCURRENCY": Plain, Value("4"), "Agents and Gates that one process runs at once.";
    "CONCURRENCY_IN_ALL": Plain, Value("0"), "The same, over all processes. In these limits, 0 means none.";
    "CONCURRENCY_PER_INSTALLATION": Plain, Value("4"), "The same, for each installation.";
    "CONCURRENCY_PER_REPOSITORY": Plain, Value("0"), "The same, for each repository.";
    "CONCURRENCY_PER_FEATURE": Plain, Value("0"), "The same, for each Feature.";
    "SLOTS_CONTROL": Plain, Value("4"), "Deliveries that one process reads at once, and orders of people that it carries out.";
    "SLOTS_FORGE": Plain, Value("8"), "Calls to GitHub that one process makes at once for its work.";
    "DATABASE_CONNECTIONS": Plain, Value("8"),
        "Connections of one process to the database, at least 2. SQLite writes through one more.";
    "GRACE_SECONDS": Plain, Value("30"),
        "Seconds that agents may go on after SIGTERM. What does not end by then runs again elsewhere, a Player on what it has written.";
    "LEASE_SECONDS": Plain, Value("60"),
        "Seconds after which others take over the work of a process that is gone. The same for all processes.";
    "BACKOFF_SECONDS": Plain, Value("10"), "Seconds after which a step that failed is tried again; later ones wait longer.";
    "PACK_SIZE": Plain, Value("64MiB"),
        "Largest commit of a Player, packed, that the database keeps until it is pushed. A larger one stays in the data folder, and its process waits until it can push it. 0 keeps none.";
    "REPLAY_SECONDS": Plain, Value("180"),
        "Seconds between two readings of GitHub's log of deliveries; what never arrived comes from there. 0 turns it off.";
    "SWEEP_SECONDS": Plain, Value("240"),
        "Seconds between two comparisons of unfinished work with GitHub. 0 turns them off.";
    "KEEP_PAYLOADS_DAYS": Plain, Value("7"), "Days for which bodies of deliveries are kept.";
    "KEEP_DELIVERIES_DAYS": Plain, Value("30"), "Days for which ids of deliveries are kept.";
    "KEEP_ENDED_DAYS": Plain, Value("90"), "Days after its end for which a Feature's traces, evidence and steps are kept.";
    "KEEP_PACKS_DAYS": Plain, Value("7"), "Days for which the database keeps a commit after its push.";
    "KEEP_DEPARTED_DAYS": Plain, Value("7"), "Days after which everything of an uninstalled App is deleted.";
    "KEEP_MIRRORS_DAYS": Plain, Value("30"), "Days for which a copy of a repository is kept that nobody uses.";
    "KEEP_CACHES_DAYS": Plain, Value("14"), "Days for which a build cache is kept that nobody uses.";
    "WRITE_SPACING_MS": Plain, Value("1000"), "Milliseconds between two writes to GitHub, for each installation.";
    "BUDGET_USD_PER_MONTH": Plain, Value("2000"),
        "US dollars for each calendar month (UTC). In these budgets, 0 means no limit.";
    "BUDGET_USD_PER_INSTALLATION_MONTH": Plain PerInstallation, Value("500"), "The same, for each installation.";
    "BUDGET_TOKENS_PER_MONTH": Plain, Value("0"), "Tokens for each month.";
    "BUDGET_TOKENS_PER_INSTALLATION_MONTH": Plain PerInstallation, Value("0"), "The same, for each installation.";
    "BUDGET_HOURS_PER_MONTH": Plain, Value("2000"), "Hours of agent time for each month.";
    "BUDGET_HOURS_PER_INSTALLATION_MONTH": Plain PerInstallation, Value("500"), "The same, for each installation.";
    "ADMIN_TOKEN": Secret, Words("made and printed at start"),
        "The administrator's token for the dashboard and `/metrics`; at least 20 characters.";
    "LOG": Plain, Value("info"), "Filter of the log on standard error.";
    "LOG_FORMAT": Plain, Value("text"), "`text` or `json`.";
};

/// Names without prefix of variables that AutoBuild sets for the programs it runs. A server that such a program starts
/// inherits them; they are not settings.
const SET_FOR_AGENTS: [&str; 5] = ["ROLE", "TASK", "TURN", "SCHEMA_FILE", "RUN_ID"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingSource {
    /// The command line.
    Flag,
    Environment,
    /// A line of the settings file.
    File {
        /// The line's number, counted from 1.
        line: usize,
    },
    /// No one place: the value is missing, is a default, or follows from several settings.
    Unplaced,
}

/// A mistake in the server's settings. It never shows a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMistake {
    /// The origin of the wrong value.
    pub source: SettingSource,
    /// The setting's name with its prefix.
    pub name: String,
    /// The problem, and the valid values.
    pub problem: String,
}

impl std::error::Error for ServerMistake {}

impl fmt::Display for ServerMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match self.source {
            SettingSource::Flag => write!(f, " (given as a flag)")?,
            SettingSource::Environment => write!(f, " (in the environment)")?,
            SettingSource::File { line } => write!(f, " (line {line} of the settings file)")?,
            SettingSource::Unplaced => {}
        }
        write!(f, ": {}", self.problem)
    }
}

#[derive(Clone)]
pub(crate) struct GivenValue {
    pub(crate) text: String,
    pub(crate) source: SettingSource,
}

/// The raw settings, by layer.
pub(crate) struct SettingsLayers<'a> {
    pub(crate) flags: &'a [(String, String)],
    pub(crate) environment: &'a [(String, String)],
    pub(crate) file: Option<&'a str>,
    /// Reads the file that a `<NAME>_FILE` setting names.
    pub(crate) read: &'a dyn Fn(&Path) -> io::Result<String>,
}

/// The merged settings: for each name the value of the highest layer.
#[derive(Default)]
pub(crate) struct MergedVariables {
    pub(crate) values: BTreeMap<&'static str, GivenValue>,
    pub(crate) agents: BTreeMap<String, GivenValue>,
    /// The values that hold for one installation alone.
    pub(crate) installations: BTreeMap<InstallationId, BTreeMap<&'static str, GivenValue>>,
    pub(crate) agent_environment: Vec<String>,
    /// The settings file, and every file that holds a secret.
    pub(crate) secret_files: Vec<PathBuf>,
    pub(crate) mistakes: Vec<ServerMistake>,
}

/// An entry of one layer. Its name is not checked yet.
pub(crate) struct VariableEntry {
    /// The name without its prefix, in upper case.
    pub(crate) name: String,
    pub(crate) value: GivenValue,
}

impl MergedVariables {
    /// Merges the layers, each overriding the one before: the file, the environment, the flags.
    pub(crate) fn merge(given: &SettingsLayers<'_>) -> Self {
        let mut found = Self::default();
        if let Some(text) = given.file {
            let entries = server_file::read(text, &mut found);
            found.add_layer(entries, given);
        }
        for (pairs, source) in [(given.environment, SettingSource::Environment), (given.flags, SettingSource::Flag)] {
            let named = pairs.iter().filter_map(|(name, text)| Some((name.strip_prefix(PREFIX)?, text)));
            // Compose files leave a variable out by setting it to the empty text.
            let set = named.filter(|(name, text)| !text.trim().is_empty() && !SET_FOR_AGENTS.contains(name));
            let entries = set.map(|(name, text)| {
                let (name, text) = (name.to_owned(), text.clone());
                VariableEntry { name, value: GivenValue { text, source } }
            });
            found.add_layer(entries.collect(), given);
        }
        found
    }

    fn add_layer(&mut self, entries: Vec<VariableEntry>, given: &SettingsLayers<'_>) {
        let mut here: BTreeMap<&'static str, GivenValue> = BTreeMap::new();
        for VariableEntry { name, value } in entries {
            let source = value.source;
            let placed = match find_variable(&name) {
                Some(KnownVariable::Itself("CONFIG")) if matches!(source, SettingSource::File { .. }) => {
                    Err(mistake("CONFIG", source, "a settings file names no other".to_owned()))
                }
                Some(KnownVariable::Itself(name)) => {
                    if name == "CONFIG" {
                        self.secret_files.push(value.text.trim().into());
                    }
                    Ok((name, value))
                }
                Some(KnownVariable::InFile(name)) => {
                    // Certificates are public, and often those of the machine, which programs need.
                    if name != "NETWORK_CA" {
                        self.secret_files.push(value.text.trim().into());
                    }
                    secret_from_file(name, value, given)
                }
                None => Err(unknown(&name, source)),
            };
            match placed {
                Ok((name, value)) => {
                    if here.insert(name, value).is_some() {
                        let problem = "is given twice; give it once, either itself or as a file".to_owned();
                        self.mistakes.push(mistake(name, source, problem));
                    }
                }
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        self.values.append(&mut here);
    }
}

/// The texts of the mistakes in one line or several.
pub fn join_mistakes(mistakes: &[ServerMistake], between: &str) -> String {
    let texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    texts.join(between)
}

/// Returns a mistake about the setting `name` (given without prefix).
pub(crate) fn mistake(name: &str, source: SettingSource, problem: String) -> ServerMistake {
    ServerMistake { source, name: format!("{PREFIX}{name}"), problem }
}

enum KnownVariable {
    Itself(&'static str),
    InFile(&'static str),
}

fn find_variable(name: &str) -> Option<KnownVariable> {
    let by_name = |name: &str| VARIABLES.iter().find(|known| known.name == name);
    if let Some(variable) = by_name(name) {
        return Some(KnownVariable::Itself(variable.name));
    }
    let secret = by_name(name.strip_suffix("_FILE")?).filter(|variable| variable.kind == ValueKind::Secret);
    secret.map(|variable| KnownVariable::InFile(variable.name))
}

fn unknown(name: &str, source: SettingSource) -> ServerMistake {
    let secrets = VARIABLES.iter().filter(|variable| variable.kind == ValueKind::Secret);
    let files: Vec<String> = secrets.map(|variable| format!("{}_FILE", variable.name)).collect();
    let names = VARIABLES.iter().map(|variable| variable.name);
    let meant = nearest(name, names.chain(files.iter().map(String::as_str)));
    let problem = match meant {
        Some(name) => format!("there is no such setting, did you mean {PREFIX}{name}?"),
        None => "there is no such setting; docs/server-settings.md lists them all".to_owned(),
    };
    let shown: String = name.chars().take(80).collect();
    mistake(&shown, source, problem)
}

fn secret_from_file(
    name: &'static str,
    value: GivenValue,
    given: &SettingsLayers<'_>,
) -> Result<(&'static str, GivenValue), ServerMistake> {
    let (path, source) = (value.text.trim(), value.source);
    let problem = match (given.read)(Path::new(path)) {
        Ok(text) if text.trim().is_empty() => format!("the file {path} is empty"),
        Ok(text) => {
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            return Ok((name, GivenValue { text, source }));
        }
        Err(error) => format!("the file {path} cannot be read: {error}"),
    };
    Err(mistake(&format!("{name}_FILE"), source, problem))
}
