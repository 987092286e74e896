//! The names of the server's settings, and the merge of their values from flags, environment and file.

use crate::config::{agent, server_file};
use domain::nearest::nearest;
use std::{collections::BTreeMap, fmt, io, path::Path};

/// The prefix of every setting's name in the environment.
pub const PREFIX: &str = "AUTOBUILD_";

/// One setting of the server.
pub struct Variable {
    /// The setting's name without the prefix. In the file it is written in lower case, with or without the prefix.
    pub name: &'static str,
    /// Whether the value is secret, plain or the file's name.
    pub kind: Kind,
    /// The default.
    pub usual: Usual,
    /// The setting's description on the page of settings.
    pub about: &'static str,
}

/// The way a value is treated: it also decides whether the value may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value that may be shown.
    Plain,
    /// A value that is never shown; it may also be given as `<NAME>_FILE`, the path of a file that holds it.
    Secret,
    /// The path of the settings file, which is read before everything else.
    File,
}

/// The default of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// The setting has no default.
    Nothing,
    /// This value: giving it explicitly changes nothing.
    Value(&'static str),
    /// A value that depends on other settings, described in words.
    Said(&'static str),
}

const fn variable(name: &'static str, kind: Kind, usual: Usual, about: &'static str) -> Variable {
    Variable {
        name,
        kind,
        usual,
        about,
    }
}

/// Every setting of the server.
pub static VARIABLES: &[Variable] = &[
    variable(
        "CONFIG",
        Kind::File,
        Usual::Nothing,
        "The settings file; also `--config`.",
    ),
    variable(
        "LISTEN",
        Kind::Plain,
        Usual::Value("127.0.0.1:8080"),
        "Address of the HTTP server; also `--listen`.",
    ),
    variable(
        "PUBLIC_URL",
        Kind::Plain,
        Usual::Nothing,
        "Address that GitHub and browsers reach. The set-up proposes it.",
    ),
    variable(
        "DATABASE_URL",
        Kind::Secret,
        Usual::Said("SQLite in the data folder"),
        "Where the database is: `sqlite:FILE` or `postgres://…`.",
    ),
    variable(
        "DATA_DIR",
        Kind::Plain,
        Usual::Said("`$XDG_DATA_HOME/autobuild`, else `~/.local/share/autobuild`"),
        "Folder of the database, mirrors and checkouts.",
    ),
    variable(
        "GITHUB_API_URL",
        Kind::Plain,
        Usual::Value("https://api.github.com"),
        "Address of GitHub's API.",
    ),
    variable(
        "GITHUB_URL",
        Kind::Plain,
        Usual::Value("https://github.com"),
        "Address of GitHub. For GitHub Enterprise Server, one of the two is enough. Plain `http` is allowed on loopback only.",
    ),
    variable("APP_ID", Kind::Plain, Usual::Nothing, "Id of the AutoBuild App."),
    variable("PRIVATE_KEY", Kind::Secret, Usual::Nothing, "Its private key, as PEM."),
    variable("WEBHOOK_SECRET", Kind::Secret, Usual::Nothing, "Its webhook secret."),
    variable(
        "WEBHOOK_SECRET_PREVIOUS",
        Kind::Secret,
        Usual::Nothing,
        "The old webhook secret, while you change it.",
    ),
    variable(
        "COACH_APP_ID",
        Kind::Plain,
        Usual::Nothing,
        "Id of the Coach App. Without it, reviews are comment reviews.",
    ),
    variable(
        "COACH_PRIVATE_KEY",
        Kind::Secret,
        Usual::Nothing,
        "Its private key, as PEM.",
    ),
    variable(
        "CLIENT_ID",
        Kind::Plain,
        Usual::Nothing,
        "Client id of the AutoBuild App, with which people sign in.",
    ),
    variable("CLIENT_SECRET", Kind::Secret, Usual::Nothing, "Its client secret."),
    variable("AGENT", Kind::Plain, Usual::Value("claude"), agent::ABOUT),
    variable(
        "AGENT_PLANNER",
        Kind::Plain,
        Usual::Said("`AUTOBUILD_AGENT`"),
        "Agent of the planner.",
    ),
    variable(
        "AGENT_DESIGNER",
        Kind::Plain,
        Usual::Said("`AUTOBUILD_AGENT`"),
        "Agent of the designer.",
    ),
    variable(
        "AGENT_PLAYER",
        Kind::Plain,
        Usual::Said("`AUTOBUILD_AGENT`"),
        "Agent of the Player.",
    ),
    variable(
        "AGENT_COACH",
        Kind::Plain,
        Usual::Said("`AUTOBUILD_AGENT`"),
        "Agent of the Coach.",
    ),
    variable(
        "ANTHROPIC_API_KEY",
        Kind::Secret,
        Usual::Nothing,
        "Key of Anthropic's API. `claude` needs it, unless the address below is set.",
    ),
    variable(
        "ANTHROPIC_URL",
        Kind::Plain,
        Usual::Said("Anthropic's API"),
        "A gateway instead of Anthropic's API.",
    ),
    variable(
        "OPENAI_API_KEY",
        Kind::Secret,
        Usual::Nothing,
        "Key of OpenAI's API. `codex` needs it, unless the address below is set.",
    ),
    variable(
        "OPENAI_URL",
        Kind::Plain,
        Usual::Said("OpenAI's API"),
        "A gateway instead of OpenAI's API.",
    ),
    variable(
        "MODEL_FAST",
        Kind::Plain,
        Usual::Said("`claude=sonnet`; other agents choose"),
        "Model for `fast`: one name, or one for each kind of agent, such as `claude=…, codex=…, acp=…`.",
    ),
    variable(
        "MODEL_STRONG",
        Kind::Plain,
        Usual::Said("`claude=opus`; other agents choose"),
        "Model for `strong`, written the same way.",
    ),
    variable(
        "MODEL_FALLBACK",
        Kind::Plain,
        Usual::Nothing,
        "Model to try once if the first is unknown, overloaded or limited.",
    ),
    variable(
        "MODELS",
        Kind::Plain,
        Usual::Nothing,
        "More model names that a repository may ask for, separated by commas.",
    ),
    variable(
        "SANDBOX_MIN_LEVEL",
        Kind::Plain,
        Usual::Value("1"),
        "Lowest isolation level that the service accepts, 0 to 3.",
    ),
    variable(
        "SANDBOX_MAX_LEVEL",
        Kind::Plain,
        Usual::Value("3"),
        "Highest isolation level that it uses.",
    ),
    variable(
        "SANDBOX_MEMORY",
        Kind::Plain,
        Usual::Value("2GiB"),
        "Memory of one run, with all that it starts.",
    ),
    variable(
        "SANDBOX_PROCESSES",
        Kind::Plain,
        Usual::Value("1024"),
        "Processes of one run at a time.",
    ),
    variable(
        "SANDBOX_CPU",
        Kind::Plain,
        Usual::Value("4h"),
        "Processor time of one run.",
    ),
    variable(
        "SANDBOX_FILE",
        Kind::Plain,
        Usual::Value("4GiB"),
        "Largest file of one run.",
    ),
    variable(
        "SANDBOX_DISK",
        Kind::Plain,
        Usual::Value("10GiB"),
        "Disk space of one run.",
    ),
    variable(
        "NETWORK_ALLOW",
        Kind::Plain,
        Usual::Value("registries"),
        "Hosts that sandboxes may reach at most: `example.com`, `*.example.com`, `registries` or `none`.",
    ),
    variable(
        "NETWORK_PINNED",
        Kind::Plain,
        Usual::Nothing,
        "Addresses of internal hosts: `host=address` or `host=address:port`.",
    ),
    variable(
        "WRITE_SPACING_MS",
        Kind::Plain,
        Usual::Value("1000"),
        "Milliseconds between two writes to GitHub, for each installation.",
    ),
    variable(
        "BUDGET_USD_PER_MONTH",
        Kind::Plain,
        Usual::Value("0"),
        "US dollars for each calendar month (UTC). In all budgets, 0 means no limit.",
    ),
    variable(
        "BUDGET_USD_PER_INSTALLATION_MONTH",
        Kind::Plain,
        Usual::Value("0"),
        "The same, for each installation.",
    ),
    variable(
        "BUDGET_TOKENS_PER_MONTH",
        Kind::Plain,
        Usual::Value("0"),
        "Tokens for each month.",
    ),
    variable(
        "BUDGET_TOKENS_PER_INSTALLATION_MONTH",
        Kind::Plain,
        Usual::Value("0"),
        "The same, for each installation.",
    ),
    variable(
        "BUDGET_HOURS_PER_MONTH",
        Kind::Plain,
        Usual::Value("0"),
        "Hours of agent time for each month.",
    ),
    variable(
        "BUDGET_HOURS_PER_INSTALLATION_MONTH",
        Kind::Plain,
        Usual::Value("0"),
        "The same, for each installation.",
    ),
    variable(
        "ADMIN_TOKEN",
        Kind::Secret,
        Usual::Said("made and printed at start"),
        "The administrator's token for the dashboard and `/metrics`; at least 20 characters.",
    ),
    variable(
        "LOG",
        Kind::Plain,
        Usual::Value("info,octocrab=off"),
        "Filter of the log on standard error.",
    ),
    variable("LOG_FORMAT", Kind::Plain, Usual::Value("text"), "`text` or `json`."),
];

/// Names without prefix of variables that AutoBuild sets for the programs it runs. A server that such a program starts
/// inherits them; they are no settings.
const SET_FOR_AGENTS: [&str; 5] = ["ROLE", "TASK", "TURN", "SCHEMA_FILE", "RUN_ID"];

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The command line.
    Flag,
    /// The environment.
    Environment,
    /// A line of the settings file.
    File {
        /// The line's number, counted from 1.
        line: usize,
    },
    /// No origin: the value is missing or is a default.
    Nowhere,
}

/// A mistake in the server's settings. It never shows a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMistake {
    /// The origin of the wrong value.
    pub source: Source,
    /// The setting's name with its prefix.
    pub name: String,
    /// What is wrong, and which values are valid.
    pub problem: String,
}

impl std::error::Error for ServerMistake {}

impl fmt::Display for ServerMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match self.source {
            Source::Flag => write!(f, " (given as a flag)")?,
            Source::Environment => write!(f, " (in the environment)")?,
            Source::File { line } => write!(f, " (line {line} of the settings file)")?,
            Source::Nowhere => {}
        }
        write!(f, ": {}", self.problem)
    }
}

/// A value and its origin.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) source: Source,
}

/// The raw settings, by layer.
pub(crate) struct Given<'a> {
    pub(crate) flags: &'a [(String, String)],
    pub(crate) environment: &'a [(String, String)],
    pub(crate) file: Option<&'a str>,
    /// Reads the file that a `<NAME>_FILE` setting names.
    pub(crate) read: &'a dyn Fn(&Path) -> io::Result<String>,
}

/// The merged settings: for each name the value of the highest layer.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) values: BTreeMap<&'static str, Value>,
    pub(crate) agents: BTreeMap<String, Value>,
    pub(crate) agent_environment: Vec<String>,
    pub(crate) mistakes: Vec<ServerMistake>,
}

/// An entry of one layer, whose name is not checked yet.
pub(crate) struct Entry {
    /// The name without its prefix, in upper case.
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl Found {
    /// Merges the layers, each overriding the one before: the file, the environment, the flags.
    pub(crate) fn gather(given: &Given<'_>) -> Self {
        let mut found = Self::default();
        if let Some(text) = given.file {
            let file = server_file::read(text);
            found.mistakes.extend(file.mistakes);
            found.agents = file.agents;
            found.agent_environment = file.agent_environment;
            found.layer(file.entries, given);
        }
        let entries = |pairs: &[(String, String)], source: Source| -> Vec<Entry> {
            let named = pairs
                .iter()
                .filter_map(|(name, text)| Some((name.strip_prefix(PREFIX)?, text)));
            named
                // Compose files leave a variable out by setting it to the empty text.
                .filter(|(name, text)| !text.trim().is_empty() && !SET_FOR_AGENTS.contains(name))
                .map(|(name, text)| Entry {
                    name: name.to_owned(),
                    value: Value {
                        text: text.clone(),
                        source: source.clone(),
                    },
                })
                .collect()
        };
        found.layer(entries(given.environment, Source::Environment), given);
        found.layer(entries(given.flags, Source::Flag), given);
        found
    }

    fn layer(&mut self, entries: Vec<Entry>, given: &Given<'_>) {
        let mut here: BTreeMap<&'static str, Value> = BTreeMap::new();
        for Entry { name, value } in entries {
            let source = value.source.clone();
            let placed = match known(&name) {
                Some(Known::Itself("CONFIG")) if matches!(source, Source::File { .. }) => Err(mistake(
                    "CONFIG",
                    source.clone(),
                    "a settings file names no other".to_owned(),
                )),
                Some(Known::Itself(name)) => Ok((name, value)),
                Some(Known::InFile(name)) => secret_from_file(name, value, given),
                None => Err(unknown(&name, source.clone())),
            };
            let doubled = match placed {
                Ok((name, value)) => here.insert(name, value).map(|_| name),
                Err(mistake) => {
                    self.mistakes.push(mistake);
                    None
                }
            };
            if let Some(name) = doubled {
                let problem = "is given twice; give it once, either itself or as a file".to_owned();
                self.mistakes.push(mistake(name, source, problem));
            }
        }
        self.values.append(&mut here);
    }
}

/// Returns a mistake about the setting `name` (given without prefix).
pub(crate) fn mistake(name: &str, source: Source, problem: String) -> ServerMistake {
    ServerMistake {
        source,
        name: format!("{PREFIX}{name}"),
        problem,
    }
}

enum Known {
    Itself(&'static str),
    InFile(&'static str),
}

fn known(name: &str) -> Option<Known> {
    let by_name = |name: &str| VARIABLES.iter().find(|known| known.name == name);
    if let Some(variable) = by_name(name) {
        return Some(Known::Itself(variable.name));
    }
    let secret = by_name(name.strip_suffix("_FILE")?).filter(|variable| variable.kind == Kind::Secret);
    secret.map(|variable| Known::InFile(variable.name))
}

fn unknown(name: &str, source: Source) -> ServerMistake {
    let secrets = VARIABLES.iter().filter(|variable| variable.kind == Kind::Secret);
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
    value: Value,
    given: &Given<'_>,
) -> Result<(&'static str, Value), ServerMistake> {
    let path = value.text.trim().to_owned();
    match (given.read)(Path::new(&path)) {
        Ok(text) if text.trim().is_empty() => {
            let problem = format!("the file {path} is empty");
            Err(mistake(&format!("{name}_FILE"), value.source, problem))
        }
        Ok(text) => Ok((
            name,
            Value {
                text: text.trim_end_matches(['\n', '\r']).to_owned(),
                source: value.source,
            },
        )),
        Err(error) => {
            let problem = format!("the file {path} cannot be read: {error}");
            Err(mistake(&format!("{name}_FILE"), value.source, problem))
        }
    }
}
