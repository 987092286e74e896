//! The only access of server settings to the outside world: the process's environment and the files that settings name.

use crate::config::{
    allowance::Allowance,
    kept_apps::{KEPT_APPS_FILE, KeptApps},
    models::ModelSettings,
    network::NetworkSettings,
    server::{AppsFrom, ServerSettings},
    server_parse::Parser,
    server_sandbox::SandboxSettings,
    variables::{MergedVariables, PREFIX, ServerMistake, SettingSource, SettingsLayers, mistake},
};
use std::{
    fs::File,
    io,
    io::Read,
    path::{Path, PathBuf},
};

const MAX_BYTES: u64 = 1024 * 1024;

/// The variables that determine the platform's data folder.
const FOLDERS: [&str; 2] = ["XDG_DATA_HOME", "HOME"];

/// Returns the variables of this process that settings use. Invalid Unicode in a value is replaced.
pub fn process_environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| name.starts_with(PREFIX) || FOLDERS.contains(&name.as_str()))
        .collect()
}

/// Reads a file that settings name, of at most one mebibyte.
pub fn read_settings_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    match u64::try_from(text.len()) {
        Ok(length) if length <= MAX_BYTES => Ok(text),
        _ => Err(io::Error::other("the file is larger than a mebibyte")),
    }
}

/// The flags of a command, each with the name of its setting.
pub type Flags<'a> = &'a [(&'a str, Option<String>)];

impl ModelSettings {
    /// Reads the settings on models from this process's environment; the error is every mistake in them.
    pub fn of_process() -> Result<Self, Vec<ServerMistake>> {
        only(&["AUTOBUILD_ANTHROPIC_", "AUTOBUILD_OPENAI_"], Parser::models)
    }
}

impl NetworkSettings {
    /// Reads the settings on the network from this process's environment; the error is every mistake in them.
    pub fn of_process() -> Result<Self, Vec<ServerMistake>> {
        only(&["AUTOBUILD_NETWORK_"], Parser::network)
    }
}

impl Allowance {
    /// Reads the allowance of a command that this machine's own user runs from this process's environment: hosts and
    /// models, with no limit on numbers. The error is every mistake.
    pub fn of_process() -> Result<Self, Vec<ServerMistake>> {
        Ok(Self {
            network: NetworkSettings::of_process()?,
            models: only(&["AUTOBUILD_MODEL"], Parser::model_words)?,
            ..Self::default()
        })
    }
}

impl SandboxSettings {
    /// Reads the settings on the sandbox from this process's environment; the error is every mistake in them.
    pub fn of_process() -> Result<Self, Vec<ServerMistake>> {
        only(&["AUTOBUILD_SANDBOX_"], Parser::sandbox)
    }
}

/// Returns the settings file and all files with secrets that this process's environment names, also those that this
/// command does not read.
pub fn secret_files_of_process() -> Vec<PathBuf> {
    let environment = process_environment();
    let file = config_file(&environment).and_then(|path| read_settings_file(Path::new(path)).ok());
    let layers =
        SettingsLayers { flags: &[], environment: &environment, file: file.as_deref(), read: &|_| Ok(String::new()) };
    MergedVariables::merge(&layers).secret_files
}

fn config_file(pairs: &[(String, String)]) -> Option<&str> {
    let config = pairs.iter().find(|(name, value)| name == "AUTOBUILD_CONFIG" && !value.is_empty());
    config.map(|(_, path)| path.as_str())
}

/// Reads the variables whose names begin with one of the prefixes.
fn only<T>(prefixes: &[&str], read: impl FnOnce(&mut Parser) -> T) -> Result<T, Vec<ServerMistake>> {
    let mut named = process_environment();
    named.retain(|(name, _)| prefixes.iter().any(|prefix| name.starts_with(prefix)));
    let mut parser = Parser::new(MergedVariables::merge(&SettingsLayers {
        flags: &[],
        environment: &named,
        file: None,
        read: &read_settings_file,
    }));
    let value = read(&mut parser);
    parser.end(value)
}

impl ServerSettings {
    /// Reads the settings of this process. The flags take precedence over the environment, which takes precedence over
    /// the file that `--config` or `AUTOBUILD_CONFIG` names.
    pub fn of_process(flags: Flags<'_>) -> Result<Self, Vec<ServerMistake>> {
        let given = flags.iter().filter_map(|(name, value)| Some(((*name).to_owned(), value.clone()?)));
        let flags: Vec<(String, String)> = given.collect();
        let environment = process_environment();
        let path = config_file(&flags).or_else(|| config_file(&environment));
        let file = path.map(|path| {
            read_settings_file(Path::new(path)).map_err(|error| {
                let problem = format!("the file {path} cannot be read: {error}");
                vec![mistake("CONFIG", SettingSource::Unplaced, problem)]
            })
        });
        let file = file.transpose()?;
        let settings = Self::load(&SettingsLayers {
            flags: &flags,
            environment: &environment,
            file: file.as_deref(),
            read: &read_settings_file,
        })?;
        settings.with_kept().map_err(|mistake| vec![mistake])
    }

    /// Adds the Apps that the set-up keeps, if the settings name none.
    fn with_kept(mut self) -> Result<Self, ServerMistake> {
        if self.app.is_some() || self.coach_app.is_some() {
            return Ok(self);
        }
        self.apps_from = AppsFrom::SetUp;
        let mistake = |name: &str, problem: String| mistake(name, SettingSource::Unplaced, problem);
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
