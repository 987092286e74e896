//! Turns the texts of the layers into the server's settings and collects every mistake.

use crate::config::{
    agent::AgentCommand,
    credentials::{App, AppKey, OAuthClient},
    github_address::{GithubAddress, safe_address, web_address},
    role::ByRole,
    server::{AppsFrom, LogFormat, ServerSettings},
    variables::{GivenValue, MergedVariables, PREFIX, ServerMistake, SettingSource, mistake},
};
use domain::ids::{AppId, InstallationId};
use secrecy::SecretString;
use std::{
    collections::BTreeMap, fmt, net::SocketAddr, ops::RangeInclusive, path::PathBuf, str::FromStr, time::Duration,
};
use tracing_subscriber::EnvFilter;

/// GitHub keeps its log of deliveries for 3 days; a replay each hour loses nothing.
const MAX_PAUSE_SECONDS: u64 = 3_600;

const MAX_SPACING_MS: u64 = 60_000;
/// The shortest administrator's token, in characters.
const LEAST_TOKEN: usize = 20;

/// A parser of settings that collects the mistakes.
pub(crate) struct Parser {
    found: MergedVariables,
}

impl Parser {
    pub(crate) fn new(found: MergedVariables) -> Self {
        Self { found }
    }

    /// Returns the pauses between replays and between sweeps.
    fn asking(&mut self) -> [Option<Duration>; 2] {
        [("REPLAY_SECONDS", 180), ("SWEEP_SECONDS", 240)].map(|(name, usual)| {
            let given = self.parse(name, pause);
            given.unwrap_or(Some(Duration::from_secs(usual)))
        })
    }

    /// Returns the pause between two writes to GitHub.
    fn write_spacing(&mut self) -> Duration {
        let spacing = |text: &str| whole_number(text, 0..=MAX_SPACING_MS, " of milliseconds");
        Duration::from_millis(self.parse("WRITE_SPACING_MS", spacing).unwrap_or(1_000))
    }

    /// Returns the settings, or every mistake.
    pub(crate) fn settings(mut self, environment: &[(String, String)]) -> Result<ServerSettings, Vec<ServerMistake>> {
        let listen = self.parse("LISTEN", listen_address);
        let public_url = self.parse("PUBLIC_URL", web_address);
        let github = self.github();
        let data_dir = self.data_dir(environment);
        let database_url = self.database_url(data_dir.as_ref());
        let (app, coach_app, oauth) = (self.app(), self.coach_app(), self.oauth());
        let ([replay, sweep], write_spacing) = (self.asking(), self.write_spacing());
        let admin_token = self.parse("ADMIN_TOKEN", admin_token);
        let log = self.parse("LOG", log_filter);
        let log_format = self.parse("LOG_FORMAT", log_format);
        let (month, concurrency) = (self.server_month(), self.concurrency());
        let (process_limits, ages) = (self.process_limits(), self.ages());
        let (sandbox, allowances, models) = (self.sandbox(), self.allowances(), self.models());
        let named_agents = self.named_agents();
        let agents = self.agents(&named_agents);
        let (Some(database_url), Some(data_dir), Some(github)) = (database_url, data_dir, github) else {
            return Err(self.found.mistakes);
        };
        let agent_environment = std::mem::take(&mut self.found.agent_environment);
        let secret_files = std::mem::take(&mut self.found.secret_files);
        self.end(ServerSettings {
            listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))),
            database_url,
            data_dir,
            github,
            app,
            coach_app,
            apps_from: AppsFrom::Settings,
            oauth,
            public_url,
            month,
            concurrency,
            process_limits,
            ages,
            replay,
            sweep,
            write_spacing,
            allowances,
            admin_token,
            log: log.unwrap_or_else(|| "info".to_owned()),
            log_format: log_format.unwrap_or(LogFormat::Text),
            sandbox,
            agent_environment,
            secret_files,
            models,
            agents,
            named_agents,
        })
    }

    /// Returns the value, or every mistake so far.
    pub(crate) fn end<T>(self, value: T) -> Result<T, Vec<ServerMistake>> {
        if self.found.mistakes.is_empty() { Ok(value) } else { Err(self.found.mistakes) }
    }

    fn text(&self, name: &'static str) -> Option<GivenValue> {
        self.found.values.get(name).cloned()
    }

    /// Records a mistake, but only once: the server's values are read again for each installation.
    fn wrong(&mut self, name: &str, source: SettingSource, problem: impl fmt::Display) {
        let mistake = mistake(name, source, problem.to_string());
        if !self.found.mistakes.contains(&mistake) {
            self.found.mistakes.push(mistake);
        }
    }

    /// Reads settings once for each installation that has a table of its own, whose values override the server's.
    pub(super) fn by_installation<T>(&mut self, read: impl Fn(&mut Self) -> T) -> BTreeMap<InstallationId, T> {
        let installations = std::mem::take(&mut self.found.installations);
        let server = self.found.values.clone();
        let mut read_with = |values| {
            self.found.values.extend(values);
            let read = read(self);
            self.found.values.clone_from(&server);
            read
        };
        let of_each = installations.into_iter().map(|(id, values)| (id, read_with(values)));
        of_each.collect()
    }

    pub(crate) fn parse<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let GivenValue { text, source } = self.text(name)?;
        read(text.trim()).map_err(|problem| self.wrong(name, source, problem)).ok()
    }

    pub(crate) fn secret(&self, name: &'static str) -> Option<SecretString> {
        self.text(name).map(|value| SecretString::from(value.text))
    }

    fn github(&mut self) -> Option<GithubAddress> {
        let api = self.parse("GITHUB_API_URL", safe_address);
        let web = self.parse("GITHUB_URL", safe_address);
        GithubAddress::complete(api, web)
            .map_err(|problem| self.wrong("GITHUB_URL", SettingSource::Unplaced, problem))
            .ok()
    }

    fn data_dir(&mut self, environment: &[(String, String)]) -> Option<PathBuf> {
        if let Some(value) = self.text("DATA_DIR") {
            return Some(PathBuf::from(value.text));
        }
        let absolute = |name: &str| {
            let (_, value) = environment.iter().find(|(key, _)| key == name)?;
            Some(PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let folder = absolute("XDG_DATA_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
            .map(|data| data.join("autobuild"));
        if folder.is_none() {
            let problem = "is needed, because neither XDG_DATA_HOME nor HOME names a folder";
            self.wrong("DATA_DIR", SettingSource::Unplaced, problem);
        }
        folder
    }

    fn database_url(&mut self, data_dir: Option<&PathBuf>) -> Option<SecretString> {
        let known = ["sqlite:", "postgres://", "postgresql://"];
        match self.text("DATABASE_URL") {
            None => data_dir.map(|folder| format!("sqlite:{}", folder.join("autobuild.db").display()).into()),
            Some(value) if known.iter().any(|scheme| value.text.starts_with(scheme)) => Some(value.text.into()),
            Some(value) => {
                self.wrong("DATABASE_URL", value.source, "must begin with sqlite: or postgres://");
                None
            }
        }
    }

    fn private_key(&mut self, name: &'static str) -> Option<SecretString> {
        let GivenValue { text, source } = self.text(name)?;
        // In environments that allow only one line, the line breaks of a PEM are written as `\n`.
        let pem = if text.contains('\n') { text } else { text.replace("\\n", "\n") };
        if pem.trim_start().starts_with("-----BEGIN ") && pem.contains("-----END ") {
            return Some(pem.into());
        }
        self.wrong(name, source, "is not a private key in PEM form");
        None
    }

    fn app_key(&mut self, id: &'static str, private_key: &'static str) -> Option<AppKey> {
        let id = self.parse(id, |text| match text.parse::<u64>() {
            Ok(id) if id > 0 => Ok(AppId(id)),
            _ => Err("must be the App's numeric id"),
        });
        let private_key = self.private_key(private_key)?;
        Some(AppKey { id: id?, private_key })
    }

    /// Reports the missing names of `needed` as mistakes if at least one of them is given.
    fn missing(&mut self, needed: &[&'static str]) -> Option<()> {
        let (given, missing): (Vec<_>, Vec<_>) = needed.iter().partition(|name| self.found.values.contains_key(**name));
        if given.is_empty() {
            return None;
        }
        for name in missing {
            let others: Vec<String> = given.iter().map(|name| format!("{PREFIX}{name}")).collect();
            let problem = format!("is missing beside {}", others.join(", "));
            self.wrong(name, SettingSource::Unplaced, problem);
        }
        Some(())
    }

    /// Reports each of these settings as a mistake if `needed`, without which they change nothing, is missing.
    pub(crate) fn check_only_with(&mut self, needed: &'static str, names: [&'static str; 2]) {
        if self.found.values.contains_key(needed) {
            return;
        }
        for name in names {
            if let Some(GivenValue { source, .. }) = self.text(name) {
                self.wrong(name, source, format!("is used only with {PREFIX}{needed}; set that too"));
            }
        }
    }

    fn app(&mut self) -> Option<App> {
        // A process that receives no webhooks needs no secret for them.
        let needed = ["APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET"];
        let has_secret = self.found.values.contains_key("WEBHOOK_SECRET");
        self.missing(if has_secret { &needed } else { &needed[..2] })?;
        let secrets = ["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"].map(|name| self.secret(name));
        Some(App {
            key: self.app_key("APP_ID", "PRIVATE_KEY")?,
            webhook_secrets: secrets.into_iter().flatten().collect(),
        })
    }

    fn coach_app(&mut self) -> Option<AppKey> {
        self.missing(&["COACH_APP_ID", "COACH_PRIVATE_KEY"])?;
        self.app_key("COACH_APP_ID", "COACH_PRIVATE_KEY")
    }

    fn oauth(&mut self) -> Option<OAuthClient> {
        self.missing(&["CLIENT_ID", "CLIENT_SECRET"])?;
        Some(OAuthClient { id: self.text("CLIENT_ID")?.text, secret: self.secret("CLIENT_SECRET")? })
    }

    fn named_agents(&mut self) -> BTreeMap<String, AgentCommand> {
        let mut named = BTreeMap::new();
        for (name, value) in std::mem::take(&mut self.found.agents) {
            match value.text.parse::<AgentCommand>() {
                Ok(agent) => {
                    named.insert(name, agent);
                }
                Err(problem) => self.found.mistakes.push(ServerMistake {
                    source: value.source,
                    name: format!("agents.{name}.run"),
                    problem: problem.to_string(),
                }),
            }
        }
        named
    }

    fn agents(&mut self, named: &BTreeMap<String, AgentCommand>) -> ByRole<AgentCommand> {
        let read = |text: &str| match named.get(text) {
            Some(agent) => Ok(agent.clone()),
            None => text.parse::<AgentCommand>(),
        };
        let all = self.parse("AGENT", read).unwrap_or(AgentCommand::Claude);
        let mut own = |name| self.parse(name, read).unwrap_or_else(|| all.clone());
        ByRole {
            planner: own("AGENT_PLANNER"),
            designer: own("AGENT_DESIGNER"),
            player: own("AGENT_PLAYER"),
            coach: own("AGENT_COACH"),
        }
    }
}

fn log_format(text: &str) -> Result<LogFormat, &'static str> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("must be text or json"),
    }
}

fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    let address = text.parse::<SocketAddr>();
    address.map_err(|_| "is not an address with a port, such as 127.0.0.1:8080")
}

/// Reads a whole number within a range. `unit` names its unit, such as ` of days`, or is empty.
pub(super) fn whole_number<T: FromStr + PartialOrd + fmt::Display>(
    text: &str,
    allowed: RangeInclusive<T>,
    unit: &str,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| allowed.contains(number));
    let (least, most) = (allowed.start(), allowed.end());
    number.ok_or_else(|| format!("must be a whole number{unit} from {least} to {most}"))
}

fn pause(text: &str) -> Result<Option<Duration>, String> {
    let seconds = whole_number(text, 0..=MAX_PAUSE_SECONDS, " of seconds")?;
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

/// Refuses a short token, because a person who guesses it has access to everything.
fn admin_token(text: &str) -> Result<SecretString, String> {
    if text.chars().count() < LEAST_TOKEN {
        Err(format!("must have at least {LEAST_TOKEN} characters, for example those of `openssl rand -hex 16`"))
    } else {
        Ok(SecretString::from(text))
    }
}

fn log_filter(text: &str) -> Result<String, &'static str> {
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("is not a filter such as info or autobuild=debug,warn"),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{
        Concurrency, ProcessRole, Role,
        server::ServerSettings,
        variables::{DefaultValue, PREFIX, SettingsLayers, VARIABLES},
    };
    use domain::ids::InstallationId;
    use secrecy::ExposeSecret;
    use std::{io, path::Path};

    const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\\nMIIsecret\\n-----END RSA PRIVATE KEY-----";

    fn pairs(given: &[(&str, &str)]) -> Vec<(String, String)> {
        given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn load(
        flags: &[(&str, &str)],
        environment: &[(&str, &str)],
        file: Option<&str>,
    ) -> Result<ServerSettings, String> {
        let mut environment = pairs(environment);
        environment.push(("HOME".to_owned(), "/home/ada".to_owned()));
        let read = |path: &Path| match path.to_str() {
            Some("/run/key") => Ok(format!("{}\n", PEM.replace("\\n", "\n"))),
            Some("/run/empty") => Ok("\n".to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let given = SettingsLayers { flags: &pairs(flags), environment: &environment, file, read: &read };
        ServerSettings::load(&given).map_err(|mistakes| {
            let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            lines.join("\n")
        })
    }

    #[test]
    fn nothing_given_is_the_defaults() {
        let settings = load(&[], &[], None).unwrap();
        assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(settings.data_dir.to_str(), Some("/home/ada/.local/share/autobuild"));
        assert_eq!(settings.database_url.expose_secret(), "sqlite:/home/ada/.local/share/autobuild/autobuild.db");
        assert_eq!(settings.github.api.as_str(), "https://api.github.com/");
        assert_eq!(settings.github.web.as_str(), "https://github.com/");
        assert_eq!(settings.write_spacing.as_millis(), 1_000);
        assert_eq!(settings.replay.map(|pause| pause.as_secs()), Some(180));
        assert!(settings.app.is_none() && settings.coach_app.is_none());
        assert!(settings.models.anthropic.url.is_none() && settings.models.anthropic.key.is_none());
    }

    #[test]
    fn concurrency_is_limited_where_a_number_is_given() {
        let given = [
            ("AUTOBUILD_CONCURRENCY", "6"),
            ("AUTOBUILD_CONCURRENCY_IN_ALL", "12"),
            ("AUTOBUILD_CONCURRENCY_PER_INSTALLATION", "0"),
            ("AUTOBUILD_CONCURRENCY_PER_FEATURE", "2"),
        ];
        let expected = Concurrency {
            per_process: 6,
            in_all: Some(12),
            per_installation: None,
            per_repository: None,
            per_feature: Some(2),
        };
        assert_eq!(load(&[], &given, None).unwrap().concurrency, expected);
        assert_eq!(load(&[], &[], None).unwrap().concurrency, Concurrency::default());
    }

    #[test]
    fn a_flag_beats_the_environment_and_the_environment_the_file() {
        let file = "listen = \"127.0.0.1:1\"\nlog = \"warn\"\nAUTOBUILD_WRITE_SPACING_MS = 5\n";
        let settings = load(
            &[("AUTOBUILD_LISTEN", "127.0.0.1:3")],
            &[("AUTOBUILD_LISTEN", "127.0.0.1:2"), ("AUTOBUILD_LOG", "debug"), ("AUTOBUILD_APP_ID", "")],
            Some(file),
        )
        .unwrap();
        assert_eq!(settings.listen.port(), 3);
        assert_eq!(settings.log, "debug");
        assert_eq!(settings.write_spacing.as_millis(), 5);
    }

    #[test]
    fn secrets_come_from_files_and_never_show() {
        let settings = load(
            &[],
            &[
                ("AUTOBUILD_APP_ID", "12"),
                ("AUTOBUILD_PRIVATE_KEY_FILE", "/run/key"),
                ("AUTOBUILD_WEBHOOK_SECRET", "hush-1"),
                ("AUTOBUILD_WEBHOOK_SECRET_PREVIOUS", "hush-0"),
                ("AUTOBUILD_COACH_APP_ID", "13"),
                ("AUTOBUILD_COACH_PRIVATE_KEY", PEM),
                ("AUTOBUILD_DATABASE_URL", "postgres://ada:hush-2@db/autobuild"),
                ("AUTOBUILD_ADMIN_TOKEN", "hush-3-of-at-least-20"),
            ],
            None,
        )
        .unwrap();
        let app = settings.app.as_ref().unwrap();
        let coach = settings.coach_app.as_ref().unwrap();
        assert_eq!(app.key.private_key.expose_secret(), coach.private_key.expose_secret());
        assert_eq!(app.key.private_key.expose_secret().lines().count(), 3);
        assert_eq!(app.webhook_secrets[0].expose_secret(), "hush-1");
        let shown = format!("{settings:?}");
        assert!(!shown.contains("hush") && !shown.contains("MIIsecret"), "{shown}");
    }

    #[test]
    fn each_role_of_a_process_needs_its_own_settings() {
        let app = [("AUTOBUILD_APP_ID", "12"), ("AUTOBUILD_PRIVATE_KEY", PEM)];
        let server = ("AUTOBUILD_DATABASE_URL", "postgres://db/autobuild");
        let secret = ("AUTOBUILD_WEBHOOK_SECRET", "hush");
        let lacks = |given: &[(&str, &str)], role| {
            let wrong = load(&[], given, None).unwrap().for_role(role).err().unwrap_or_default();
            wrong.iter().map(|mistake| mistake.name.clone()).collect::<Vec<_>>().join(" ")
        };
        let (everything, no_agents, worker) = (ProcessRole::Everything, ProcessRole::NoAgents, ProcessRole::Worker);
        let all = [app[0], app[1], server, secret];
        assert_eq!([everything, no_agents, worker].map(|role| lacks(&all, role)), ["", "", ""]);
        assert_eq!(lacks(&all[..2], everything), "AUTOBUILD_WEBHOOK_SECRET");
        assert_eq!(lacks(&all[..2], no_agents), "AUTOBUILD_WEBHOOK_SECRET AUTOBUILD_DATABASE_URL");
        assert_eq!(lacks(&all[..3], worker), "");
        assert_eq!(lacks(&[], worker), "AUTOBUILD_APP_ID AUTOBUILD_DATABASE_URL");
        assert_eq!(lacks(&[], everything), "", "the set-up makes the Apps");
    }

    #[test]
    fn an_administrators_token_that_can_be_guessed_is_refused() {
        let refused = |token: &str| load(&[], &[("AUTOBUILD_ADMIN_TOKEN", token)], None).unwrap_err();
        for token in ["hush", "nineteen-characters"] {
            let said = refused(token);
            assert!(
                said.contains("AUTOBUILD_ADMIN_TOKEN") && said.contains("at least 20") && !said.contains("hush"),
                "{said}"
            );
        }
        load(&[], &[("AUTOBUILD_ADMIN_TOKEN", "twenty-characters-it")], None).unwrap();
    }

    #[test]
    fn the_settings_file_and_all_files_with_secrets_are_known() {
        let given =
            [("AUTOBUILD_CONFIG", "/usr/local/etc/autobuild.toml"), ("AUTOBUILD_COACH_PRIVATE_KEY_FILE", "/run/key")];
        let more = [("AUTOBUILD_COACH_APP_ID", "7")];
        let file = "anthropic_api_key_file = \"/run/key\"\n";
        let settings = load(&[], &[&given[..], &more[..]].concat(), Some(file)).unwrap();
        let files: Vec<_> = settings.secret_files.iter().filter_map(|file| file.to_str()).collect();
        assert_eq!(files, ["/run/key", "/usr/local/etc/autobuild.toml", "/run/key"]);
    }

    #[test]
    fn an_installation_has_its_own_allowance_and_the_servers_for_the_rest() {
        let file = "max_turns = 8\nmodels = \"small\"\nbudget_usd_per_installation_month = 40\n\
                    [installations.71]\nmax_turns = 3\nmax_usd_per_task = \"12.5\"\nmodels = \"big\"\n\
                    network_allow = \"npm.corp.example\"\nnetwork_pinned = \"npm.corp.example=10.1.2.3\"\n";
        let settings = load(&[], &[("AUTOBUILD_MAX_TASKS", "30")], Some(file)).unwrap();
        let of = |id| settings.allowances.of(InstallationId(id)).clone();
        let (own, other) = (of(71), of(72));
        assert_eq!((own.most.turns, own.most.tasks, own.most.budget.usd_per_task), (3, 30, 12.5));
        assert_eq!((other.most.turns, other.most.tasks, other.most.budget.usd_per_task), (8, 30, 50.0));
        assert_eq!((own.network.allow.len(), own.network.pinned.len(), other.network.pinned.len()), (1, 1, 0));
        assert_eq!([own.month.usd_micros, other.month.usd_micros], [Some(40_000_000); 2]);
        assert_eq!(settings.offer(InstallationId(71)).models, ["big"]);
        assert_eq!(settings.offer(InstallationId(72)).models, ["small"]);
    }

    #[test]
    fn what_is_no_setting_of_an_installation_is_a_mistake_at_its_line() {
        let wrong = |text: &str| load(&[], &[], Some(text)).unwrap_err();
        let said = wrong(
            "[installations.71]\nmax_turns = \"many\"\nlisten = \"0.0.0.0:80\"\n[installations.acme]\nmax_turns = 1\n",
        );
        for part in ["AUTOBUILD_MAX_TURNS (line 2", "installations.71.listen (line 3", "installations.acme (line 4"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(wrong("max_turns = \"x\"\n[installations.1]\n[installations.2]\n").lines().count(), 1);
    }

    #[test]
    fn a_month_has_a_limit_unless_the_server_says_none() {
        let month = |given: &[(&str, &str)]| {
            let settings = load(&[], given, None).unwrap();
            [settings.month, settings.allowances.usual.month].map(|month| month.usd_micros)
        };
        assert_eq!(month(&[]), [Some(2_000_000_000), Some(500_000_000)]);
        let none = [("AUTOBUILD_BUDGET_USD_PER_MONTH", "0"), ("AUTOBUILD_BUDGET_USD_PER_INSTALLATION_MONTH", "0")];
        assert_eq!(month(&none), [None, None]);
    }

    #[test]
    fn agents_are_chosen_by_role_and_by_name() {
        let file = "agent = \"house\"\nagent_environment = [\"ANTHROPIC_API_KEY\"]\n\
                    [agents.house]\nrun = \"command:house --all\"\n[agents.quick]\nrun = \"scripted:steps.yaml\"\n";
        let settings = load(&[], &[("AUTOBUILD_AGENT_COACH", "command:judge")], Some(file)).unwrap();
        assert_eq!(settings.agent_environment, ["ANTHROPIC_API_KEY"]);
        assert_eq!(settings.offer(InstallationId(1)).agents, ["house", "quick"]);
        let chosen = Role::ALL.map(|role| settings.agents.of(role).to_string());
        let house = "command:house --all";
        assert_eq!(chosen, [house, house, house, "command:judge"]);
    }

    #[test]
    fn every_mistake_names_the_setting_and_its_source() {
        let problems = load(
            &[("AUTOBUILD_LISTEN", "here")],
            &[
                ("AUTOBUILD_LISTN", "x"),
                ("AUTOBUILD_COLOUR", "red"),
                ("AUTOBUILD_LOG_FILE", "x"),
                ("AUTOBUILD_ROLE", "player"),
                ("AUTOBUILD_GITHUB_API_URL", "http://github.example/api/v3"),
                ("AUTOBUILD_PUBLIC_URL", "ftp://x"),
                ("AUTOBUILD_PRIVATE_KEY", "hush"),
                ("AUTOBUILD_WEBHOOK_SECRET_FILE", "/run/missing"),
                ("AUTOBUILD_ADMIN_TOKEN", "hush"),
                ("AUTOBUILD_ADMIN_TOKEN_FILE", "/run/empty"),
                ("AUTOBUILD_DATABASE_URL", "mysql://hush"),
                ("AUTOBUILD_AGENT", "gpt"),
                ("AUTOBUILD_SANDBOX_MIN_LEVEL", "9"),
                ("AUTOBUILD_SANDBOX_MEMORY", "2GB"),
                ("AUTOBUILD_SANDBOX_PROCESSES", "0"),
                ("AUTOBUILD_SANDBOX_CPU", "4"),
                ("AUTOBUILD_LOG", "a=b=c"),
                ("AUTOBUILD_WRITE_SPACING_MS", "-1"),
                ("AUTOBUILD_REPLAY_SECONDS", "1 hour"),
                ("AUTOBUILD_CONCURRENCY", "0"),
                ("AUTOBUILD_CONCURRENCY_IN_ALL", "many"),
                ("AUTOBUILD_NETWORK_ALLOW", "pypi.org 10.0.0.1"),
                ("AUTOBUILD_NETWORK_PINNED", "npm.corp"),
                ("AUTOBUILD_NETWORK_PROXY_CREDENTIALS", "ann:hush"),
                ("AUTOBUILD_NETWORK_NO_PROXY", "corp.example"),
            ],
            Some("log_format = \"xml\"\n\nport = 80\n[agents.a]\nrun = \"b\"\ncolour = 1\n[agents.\"x y\"]\n"),
        )
        .unwrap_err();
        assert!(!problems.contains("hush"));
        insta::assert_snapshot!(problems);
    }

    #[test]
    fn a_file_that_is_no_toml_says_where() {
        let problem = load(&[], &[], Some("listen = \"a\"\nlog = \n")).unwrap_err();
        assert!(problem.starts_with("the file (line 2 of the settings file): "), "{problem}");
        assert!(load(&[], &[], Some("log = [1]")).unwrap_err().contains("must be a text or a number"));
        assert!(load(&[], &[], Some("agent_environment = [\"AUTOBUILD_PRIVATE_KEY\"]")).is_err());
    }

    #[test]
    fn one_github_address_says_where_the_other_is() {
        let github = |name, value| load(&[], &[(name, value)], None).unwrap().github;
        let forge = github("AUTOBUILD_GITHUB_API_URL", "http://127.0.0.1:4000");
        assert_eq!(forge.web.as_str(), "http://127.0.0.1:4000/");
        let enterprise = github("AUTOBUILD_GITHUB_URL", "https://ghe.example");
        assert_eq!(enterprise.api.as_str(), "https://ghe.example/api/v3");
        let enterprise = github("AUTOBUILD_GITHUB_API_URL", "https://ghe.example/api/v3");
        assert_eq!(enterprise.web.as_str(), "https://ghe.example/");
        let tenant = github("AUTOBUILD_GITHUB_URL", "https://acme.ghe.com");
        assert_eq!(tenant.api.as_str(), "https://api.acme.ghe.com/");
        for loopback in ["http://localhost:1", "http://[::1]:1", "http://127.9.9.9"] {
            github("AUTOBUILD_GITHUB_API_URL", loopback);
        }
        for open in ["http://10.0.0.1", "http://localhost.example", "https://a:b@ghe.example", "https://ghe.example?x"]
        {
            assert!(load(&[], &[("AUTOBUILD_GITHUB_API_URL", open)], None).is_err(), "{open}");
        }
    }

    #[test]
    fn every_variable_may_stand_in_the_file() {
        for name in VARIABLES.iter().map(|variable| variable.name) {
            let problems = load(&[], &[], Some(&format!("{} = \"?\"", name.to_lowercase()))).err();
            assert!(!problems.unwrap_or_default().contains("no such setting"), "{name}");
        }
    }

    #[test]
    fn giving_a_default_changes_nothing() {
        let shown = |environment: &[(&str, &str)]| format!("{:?}", load(&[], environment, None).unwrap());
        let usual = shown(&[]);
        for variable in VARIABLES {
            if let DefaultValue::Value(value) = variable.default {
                let name = format!("{PREFIX}{}", variable.name);
                assert_eq!(shown(&[(&name, value)]), usual, "{name}");
            }
        }
    }
}
