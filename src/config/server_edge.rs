//! The two places where server settings touch the world: the process's environment and the files it names.

use crate::config::{
    kept_apps::{KEPT_APPS_FILE, KeptApps},
    models::ModelSettings,
    network::NetworkCeiling,
    server::{AppsFrom, ServerSettings},
    server_parse::Parser,
    server_sandbox::SandboxSettings,
    variables::{Found, Given, PREFIX, ServerMistake, Source},
};
use std::{fs::File, io, io::Read, path::Path};

const MAX_BYTES: u64 = 1024 * 1024;

/// What the names of settings about models begin with.
const MODELS: [&str; 3] = ["AUTOBUILD_ANTHROPIC_", "AUTOBUILD_OPENAI_", "AUTOBUILD_MODEL"];

/// What those about the network begin with.
const NETWORK: &str = "AUTOBUILD_NETWORK_";

/// What those about the sandbox begin with.
const SANDBOX: &str = "AUTOBUILD_SANDBOX_";

/// Names that give the platform's data folder.
const FOLDERS: [&str; 2] = ["XDG_DATA_HOME", "HOME"];

/// The variables of this process that settings are read from; a value that is no Unicode is shown with replacements.
pub fn process_environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| name.starts_with(PREFIX) || FOLDERS.contains(&name.as_str()))
        .collect()
}

/// Reads a file that settings name, at most a mebibyte of it.
///
/// # Errors
///
/// The system's, or that the file is larger or no UTF-8.
pub fn read_settings_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    match u64::try_from(text.len()) {
        Ok(length) if length <= MAX_BYTES => Ok(text),
        _ => Err(io::Error::other("the file is larger than a mebibyte")),
    }
}

impl ModelSettings {
    /// What this process's environment says of models; all else in it is left alone.
    ///
    /// # Errors
    ///
    /// Every mistake in these settings.
    pub fn of_process() -> Result<Self, Vec<ServerMistake>> {
        Parser::new(found_of(&MODELS)).only_models()
    }
}

impl NetworkCeiling {
    /// What this process's environment says of the network; all else in it is left alone.
    ///
    /// # Errors
    ///
    /// Every mistake in these settings.
    pub fn of_process() -> Result<Self, Vec<ServerMistake>> {
        Parser::new(found_of(&[NETWORK])).only_network()
    }
}

impl SandboxSettings {
    /// What this process's environment says of the sandbox; all else in it is left alone.
    ///
    /// # Errors
    ///
    /// Every mistake in these settings.
    pub fn of_process() -> Result<Self, Vec<ServerMistake>> {
        Parser::new(found_of(&[SANDBOX])).only_sandbox()
    }
}

/// What the environment gives under names that begin so.
fn found_of(prefixes: &[&str]) -> Found {
    let named: Vec<(String, String)> = process_environment()
        .into_iter()
        .filter(|(name, _)| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    Found::gather(&Given {
        flags: &[],
        environment: &named,
        file: None,
        read: &read_settings_file,
    })
}

impl ServerSettings {
    /// Reads the settings of this process: `flags` are given as (`AUTOBUILD_…`, value) and win over the environment,
    /// which wins over the file that `--config` or `AUTOBUILD_CONFIG` names.
    ///
    /// # Errors
    ///
    /// Every mistake, with its name and where it came from.
    pub fn of_process(flags: &[(String, String)]) -> Result<Self, Vec<ServerMistake>> {
        let environment = process_environment();
        let named = |pairs: &[(String, String)]| {
            let config = pairs
                .iter()
                .find(|(name, value)| name == "AUTOBUILD_CONFIG" && !value.is_empty());
            config.map(|(_, path)| path.clone())
        };
        let path = named(flags).or_else(|| named(&environment));
        let file = path.map(|path| {
            read_settings_file(Path::new(&path)).map_err(|error| {
                vec![ServerMistake {
                    source: Source::Nowhere,
                    name: "AUTOBUILD_CONFIG".to_owned(),
                    problem: format!("the file {path} cannot be read: {error}"),
                }]
            })
        });
        let file = file.transpose()?;
        let settings = Self::load(&Given {
            flags,
            environment: &environment,
            file: file.as_deref(),
            read: &read_settings_file,
        })?;
        settings.with_kept().map_err(|mistake| vec![mistake])
    }

    /// With the Apps that the set-up keeps, where the settings name none.
    fn with_kept(mut self) -> Result<Self, ServerMistake> {
        if self.app.is_some() || self.coach_app.is_some() {
            return Ok(self);
        }
        self.apps_from = AppsFrom::SetUp;
        let mistake = |name: &str, problem: String| ServerMistake {
            source: Source::Nowhere,
            name: format!("{PREFIX}{name}"),
            problem,
        };
        let kept = KeptApps::read(&self.data_dir).map_err(|error| mistake("DATA_DIR", error.to_string()))?;
        let Some(kept) = kept else { return Ok(self) };
        if !self.github.is_usual() && self.github != kept.github() {
            let problem = format!(
                "the Apps in {KEPT_APPS_FILE} of the data folder are registered at {}: leave the setting out, or name another \
                 AUTOBUILD_DATA_DIR",
                kept.github().web
            );
            return Err(mistake("GITHUB_URL", problem));
        }
        self.github = kept.github();
        (self.app, self.coach_app) = (kept.app(), kept.coach_app());
        self.oauth = self.oauth.or_else(|| kept.oauth());
        self.public_url = self.public_url.or(Some(kept.public_url));
        Ok(self)
    }
}
