//! The names of the server's settings, and which of flag, environment and file gives each its value.

use crate::config::server_file;
use domain::nearest::nearest;
use std::{collections::BTreeMap, fmt, io, path::Path};

/// What every name begins with in the environment.
pub(crate) const PREFIX: &str = "AUTOBUILD_";

/// Whether a value may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// Never shown; may also be given as `<NAME>_FILE`.
    Secret,
    /// Names the settings file itself, which is read before the rest.
    File,
    /// Known and checked, not acted on in this version.
    Later,
}

/// Every name without its prefix. In the file a name stands in lower case, with or without the prefix.
pub(crate) static VARIABLES: &[(&str, Kind)] = &[
    ("CONFIG", Kind::File),
    ("LISTEN", Kind::Plain),
    ("PUBLIC_URL", Kind::Later),
    ("DATABASE_URL", Kind::Secret),
    ("DATA_DIR", Kind::Plain),
    ("GITHUB_API_URL", Kind::Plain),
    ("GITHUB_URL", Kind::Plain),
    ("APP_ID", Kind::Plain),
    ("PRIVATE_KEY", Kind::Secret),
    ("WEBHOOK_SECRET", Kind::Secret),
    ("WEBHOOK_SECRET_PREVIOUS", Kind::Secret),
    ("COACH_APP_ID", Kind::Plain),
    ("COACH_PRIVATE_KEY", Kind::Secret),
    ("AGENT", Kind::Plain),
    ("AGENT_PLANNER", Kind::Plain),
    ("AGENT_DESIGNER", Kind::Plain),
    ("AGENT_PLAYER", Kind::Plain),
    ("AGENT_COACH", Kind::Plain),
    ("ANTHROPIC_API_KEY", Kind::Secret),
    ("ANTHROPIC_URL", Kind::Plain),
    ("OPENAI_API_KEY", Kind::Secret),
    ("OPENAI_URL", Kind::Plain),
    ("MODEL_FAST", Kind::Plain),
    ("MODEL_STRONG", Kind::Plain),
    ("MODEL_FALLBACK", Kind::Plain),
    ("MODELS", Kind::Plain),
    ("SANDBOX_MIN_LEVEL", Kind::Plain),
    ("SANDBOX_MAX_LEVEL", Kind::Plain),
    ("SANDBOX_MEMORY", Kind::Plain),
    ("SANDBOX_PROCESSES", Kind::Plain),
    ("SANDBOX_CPU", Kind::Plain),
    ("SANDBOX_FILE", Kind::Plain),
    ("SANDBOX_DISK", Kind::Plain),
    ("NETWORK_ALLOW", Kind::Plain),
    ("NETWORK_PINNED", Kind::Plain),
    ("WRITE_SPACING_MS", Kind::Plain),
    ("BUDGET_USD_PER_MONTH", Kind::Plain),
    ("BUDGET_USD_PER_INSTALLATION_MONTH", Kind::Plain),
    ("BUDGET_TOKENS_PER_MONTH", Kind::Plain),
    ("BUDGET_TOKENS_PER_INSTALLATION_MONTH", Kind::Plain),
    ("BUDGET_HOURS_PER_MONTH", Kind::Plain),
    ("BUDGET_HOURS_PER_INSTALLATION_MONTH", Kind::Plain),
    ("ADMIN_TOKEN", Kind::Secret),
    ("LOG", Kind::Plain),
    ("LOG_FORMAT", Kind::Plain),
];

/// Names that AutoBuild sets for the programs it runs; a server started by one of them finds them in its environment.
const SET_FOR_AGENTS: [&str; 5] = ["ROLE", "TASK", "TURN", "SCHEMA_FILE", "RUN_ID"];

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The command line.
    Flag,
    /// The environment.
    Environment,
    /// A line of the settings file.
    File {
        /// Which line, from 1.
        line: usize,
    },
    /// Nowhere: the value is missing, or is a default.
    Nowhere,
}

/// A mistake in what the server was given. It never shows a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMistake {
    /// Where it came from.
    pub source: Source,
    /// The setting's whole name.
    pub name: String,
    /// What is wrong, and what would be valid.
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

/// One value and where it came from.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) source: Source,
}

/// What was given, by layer.
pub(crate) struct Given<'a> {
    pub(crate) flags: &'a [(String, String)],
    pub(crate) environment: &'a [(String, String)],
    pub(crate) file: Option<&'a str>,
    /// Reads the file that a `<NAME>_FILE` names.
    pub(crate) read: &'a dyn Fn(&Path) -> io::Result<String>,
}

/// Everything found, the highest layer's value for each name.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) values: BTreeMap<&'static str, Value>,
    pub(crate) agents: BTreeMap<String, Value>,
    pub(crate) agent_environment: Vec<String>,
    pub(crate) mistakes: Vec<ServerMistake>,
}

/// One layer's entry before its name is known to be right.
pub(crate) struct Entry {
    /// The name without its prefix, in upper case.
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl Found {
    /// Lays the layers over each other: the file first, then the environment, then the flags.
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
                // An empty variable is how compose files leave one out.
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

/// A mistake about the setting `name` (without prefix).
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
    let by_name = |name: &str| VARIABLES.iter().find(|(known, _)| *known == name);
    if let Some((name, _)) = by_name(name) {
        return Some(Known::Itself(name));
    }
    match by_name(name.strip_suffix("_FILE")?) {
        Some((name, Kind::Secret)) => Some(Known::InFile(name)),
        Some((_, Kind::Plain | Kind::File | Kind::Later)) | None => None,
    }
}

fn unknown(name: &str, source: Source) -> ServerMistake {
    let secrets = VARIABLES.iter().filter(|(_, kind)| matches!(kind, Kind::Secret));
    let files: Vec<String> = secrets.map(|(name, _)| format!("{name}_FILE")).collect();
    let names = VARIABLES.iter().map(|(name, _)| *name);
    let meant = nearest(name, names.chain(files.iter().map(String::as_str)));
    let problem = match meant {
        Some(name) => format!("there is no such setting, did you mean {PREFIX}{name}?"),
        None => {
            let all: Vec<String> = VARIABLES.iter().map(|(name, _)| format!("{PREFIX}{name}")).collect();
            format!("there is no such setting; valid: {}", all.join(", "))
        }
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
