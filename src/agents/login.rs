//! The log-in of the person who started the command line, for `--use-my-login`. It is lent: the door to the model adds
//! the token of their program to a run's calls. No run sees the token, its refresh token, or a file of the person. The
//! token is read for each run, because the person's own program may have renewed it; nothing here renews it.

use crate::{agents::access::Provider, config::safe_address};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{blocked::LoginProblem, ids::Millis};
use http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use url::Url;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The address at which a ChatGPT account is served instead of an API key.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

/// The variables that make Claude Code use a cloud provider, whose calls it signs itself.
const CLOUDS: [&str; 3] = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_VERTEX"];

/// The variables that choose an account or name the folder of its files. Besides these, only [`CLOUDS`] are read.
const ACCOUNT: [&str; 7] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "HOME",
];

/// Finds the log-in of a person's own Claude Code or Codex.
#[derive(Clone, Debug)]
pub struct PersonLogin {
    /// The variables of their shell that choose an account or name the folder of its files.
    variables: BTreeMap<String, SecretString>,
    now: fn() -> Millis,
}

/// The account of a run, in the form that the door to the model needs.
#[derive(Clone, Debug)]
pub(crate) struct ModelAccount {
    /// The header that carries the key or token, and its whole value.
    pub(crate) header: (HeaderName, SecretString),
    /// The headers that go with it.
    pub(crate) beside: HeaderMap,
    /// The API's address, if it is not the provider's usual one.
    pub(crate) upstream: Option<Url>,
    /// The variable in which the program looks for such an account. It gets a placeholder.
    pub(crate) variable: &'static str,
}

impl PersonLogin {
    /// Looks for log-ins by this process's variables, with this clock.
    pub fn of_process(now: fn() -> Millis) -> Self {
        let variables = ACCOUNT.into_iter().chain(CLOUDS).filter_map(|name| {
            let value = std::env::var(name).ok().filter(|value| !value.trim().is_empty())?;
            Some((name.to_owned(), value))
        });
        Self::new(variables, now)
    }

    /// Looks for log-ins by these variables, with this clock.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>, now: fn() -> Millis) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name, value.into()));
        Self { variables: variables.collect(), now }
    }

    /// Returns the account with which the person's own program would call the provider.
    pub(crate) fn account(&self, provider: Provider) -> Result<ModelAccount, LoginProblem> {
        match provider {
            Provider::Anthropic => self.of_claude(),
            Provider::OpenAi => self.of_codex(),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| value.expose_secret().to_owned())
    }

    /// Returns the folder that a variable names, or else this one in the home. A relative path is refused: it would be
    /// inside the repository.
    fn folder(&self, variable: &str, usual: &str) -> Result<PathBuf, LoginProblem> {
        let home = || PathBuf::from(self.variable("HOME").unwrap_or_default()).join(usual);
        let folder = self.variable(variable).map_or_else(home, PathBuf::from);
        if folder.is_absolute() { Ok(folder) } else { Err(LoginProblem::Missing) }
    }

    /// Follows the order in which Claude Code looks for an account.
    fn of_claude(&self) -> Result<ModelAccount, LoginProblem> {
        let folder = self.folder("CLAUDE_CONFIG_DIR", ".claude")?;
        let settings = json_of(&folder.join("settings.json"));
        let value = |name: &str| text(&settings, &["env", name]).or_else(|| self.variable(name));
        let is_elsewhere = CLOUDS.iter().any(|name| value(name).is_some_and(|on| on != "0" && on != "false"));
        if is_elsewhere || settings.get("apiKeyHelper").is_some() {
            return Err(LoginProblem::NotLendable);
        }
        let upstream = value("ANTHROPIC_BASE_URL").map(|address| safe_address(&address));
        let upstream = upstream.transpose().map_err(|_| LoginProblem::NotLendable)?;
        let subscription = || self.claude_subscription(&folder, value("CLAUDE_CODE_OAUTH_TOKEN"));
        let account = if let Some(token) = value("ANTHROPIC_AUTH_TOKEN") {
            ModelAccount::bearer(&token, "ANTHROPIC_AUTH_TOKEN")
        } else if let Some(key) = value("ANTHROPIC_API_KEY") {
            ModelAccount::key(&key)
        } else if let Some(token) = subscription()? {
            ModelAccount::bearer(&token, "CLAUDE_CODE_OAUTH_TOKEN")
        } else {
            // This one file is beside the usual folder, not in it.
            let beside =
                self.variable("CLAUDE_CONFIG_DIR").map_or_else(|| folder.with_file_name(""), |_| folder.clone());
            let key = text(&json_of(&beside.join(".claude.json")), &["primaryApiKey"]);
            ModelAccount::key(&key.ok_or(LoginProblem::Missing)?)
        };
        Ok(ModelAccount { upstream, ..account })
    }

    /// Returns the token of a Claude subscription: a long-lived one, or else that of the log-in.
    fn claude_subscription(&self, folder: &Path, lasting: Option<String>) -> Result<Option<String>, LoginProblem> {
        if lasting.is_some() {
            return Ok(lasting);
        }
        let login = json_of(&folder.join(".credentials.json"));
        let ends = login.pointer("/claudeAiOauth/expiresAt").and_then(Value::as_i64);
        let token = text(&login, &["claudeAiOauth", "accessToken"]);
        token.map(|token| self.unless_over(token, ends)).transpose()
    }

    fn of_codex(&self) -> Result<ModelAccount, LoginProblem> {
        let folder = self.folder("CODEX_HOME", ".codex")?;
        let config = read(&folder.join("config.toml")).unwrap_or_default();
        let config: toml::Table = config.parse().map_err(|_| LoginProblem::NotLendable)?;
        if config.get("model_provider").is_some_and(|name| name.as_str() != Some("openai")) {
            return Err(LoginProblem::NotLendable);
        }
        let login = json_of(&folder.join("auth.json"));
        let key = text(&login, &["OPENAI_API_KEY"]);
        let is_by_key = text(&login, &["auth_mode"]).is_some_and(|mode| mode == "apikey");
        let token = text(&login, &["tokens", "access_token"]).filter(|_| !is_by_key);
        // Codex reads no variable for its address (https://github.com/openai/codex/pull/16720).
        let upstream = config.get("openai_base_url").map(|address| safe_address(address.as_str().unwrap_or_default()));
        let upstream = upstream.transpose().map_err(|_| LoginProblem::NotLendable)?;
        let Some(token) = token else {
            let account = ModelAccount::bearer(&key.ok_or(LoginProblem::Missing)?, "OPENAI_API_KEY");
            return Ok(ModelAccount { upstream, ..account });
        };
        // A gateway gets keys that its owner gave out, but not the account of a person.
        if upstream.is_some() {
            return Err(LoginProblem::NotLendable);
        }
        let ends = end_of(&token);
        // Without it, the program could name another account of this person.
        let id = text(&login, &["tokens", "account_id"]).and_then(|id| HeaderValue::try_from(id).ok());
        let id = id.ok_or(LoginProblem::NotLendable)?;
        Ok(ModelAccount {
            beside: HeaderMap::from_iter([(HeaderName::from_static("chatgpt-account-id"), id)]),
            upstream: Url::parse(CHATGPT).ok(),
            ..ModelAccount::bearer(&self.unless_over(token, ends)?, "OPENAI_API_KEY")
        })
    }

    fn unless_over(&self, token: String, ends: Option<i64>) -> Result<String, LoginProblem> {
        let is_over = ends.is_some_and(|ends| (self.now)().0 >= ends);
        if is_over { Err(LoginProblem::Expired) } else { Ok(token) }
    }
}

impl ModelAccount {
    /// Returns the key or token itself.
    pub(crate) fn token(&self) -> SecretString {
        let value = self.header.1.expose_secret();
        value.strip_prefix("Bearer ").unwrap_or(value).into()
    }

    pub(crate) fn key(key: &str) -> Self {
        Self {
            header: (HeaderName::from_static("x-api-key"), key.into()),
            beside: HeaderMap::new(),
            upstream: None,
            variable: "ANTHROPIC_API_KEY",
        }
    }

    pub(crate) fn bearer(token: &str, variable: &'static str) -> Self {
        Self {
            header: (AUTHORIZATION, format!("Bearer {token}").into()),
            beside: HeaderMap::new(),
            upstream: None,
            variable,
        }
    }
}

/// Returns the expiry of a signed token (JWT), in milliseconds since the Unix epoch; `None` if it names none.
fn end_of(token: &str) -> Option<i64> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims.get("exp")?.as_i64()?.checked_mul(1_000)
}

fn read(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    let is_fine = found.is_file() && found.len() <= MAX_FILE;
    is_fine.then(|| std::fs::read_to_string(path).ok())?
}

fn json_of(path: &Path) -> Value {
    let text = read(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Returns the text at the end of these keys, if there is one.
fn text(value: &Value, keys: &[&str]) -> Option<String> {
    let found = keys.iter().try_fold(value, |value, key| value.get(key))?;
    found.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    /// Variables with their values, or files with their contents.
    type Named<'a> = &'a [(&'a str, &'a str)];

    /// Makes a home with these files, and returns the lent log-in: the header's value and its destination, or the
    /// reason why nothing is.
    fn lent(provider: Provider, variables: &[(&str, &str)], files: &[(&str, &str)]) -> Result<String, LoginProblem> {
        let home = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let file = home.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        }
        let home = ("HOME".to_owned(), home.path().to_str().unwrap().to_owned());
        let given = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let login = PersonLogin::new(given.chain([home]), || Millis(NOW));
        login.account(provider).map(|account| {
            let address = account.upstream.map_or_else(String::new, |url| format!(" {url}"));
            let beside = account.beside.iter().map(|(name, id)| format!(" {name}={id:?}"));
            let beside: String = beside.collect();
            format!("{} in {}{address}{beside}", account.header.1.expose_secret(), account.variable)
        })
    }

    #[test]
    fn the_account_is_the_one_that_claude_code_would_use() {
        let login = |ends: i64| {
            format!(r#"{{"claudeAiOauth": {{"accessToken": "t", "refreshToken": "r", "expiresAt": {ends}}}}}"#)
        };
        let (fresh, over) = (login(NOW + 1), login(NOW));
        let at = ".claude/.credentials.json";
        let gateway =
            r#"{"env": {"ANTHROPIC_AUTH_TOKEN": "g", "ANTHROPIC_BASE_URL": "https://g.test/x", "OTHER": "o"}}"#;
        let table: [(Named<'_>, Named<'_>, Result<&str, LoginProblem>); 10] = [
            (&[], &[], Err(LoginProblem::Missing)),
            (&[], &[(at, &fresh)], Ok("Bearer t in CLAUDE_CODE_OAUTH_TOKEN")),
            (&[], &[(at, &over)], Err(LoginProblem::Expired)),
            (&[("CLAUDE_CODE_OAUTH_TOKEN", "l")], &[(at, &over)], Ok("Bearer l in CLAUDE_CODE_OAUTH_TOKEN")),
            (&[], &[(".claude.json", r#"{"primaryApiKey": "k"}"#)], Ok("k in ANTHROPIC_API_KEY")),
            (
                &[],
                &[(at, &fresh), (".claude/settings.json", gateway)],
                Ok("Bearer g in ANTHROPIC_AUTH_TOKEN https://g.test/x"),
            ),
            (&[("ANTHROPIC_BASE_URL", "http://g.test")], &[(at, &fresh)], Err(LoginProblem::NotLendable)),
            (&[("CLAUDE_CODE_USE_BEDROCK", "1")], &[(at, &fresh)], Err(LoginProblem::NotLendable)),
            (&[("CLAUDE_CODE_USE_BEDROCK", "0")], &[(at, &fresh)], Ok("Bearer t in CLAUDE_CODE_OAUTH_TOKEN")),
            (
                &[],
                &[(at, &fresh), (".claude/settings.json", r#"{"apiKeyHelper": "give"}"#)],
                Err(LoginProblem::NotLendable),
            ),
        ];
        for (variables, files, expected) in table {
            let found = lent(Provider::Anthropic, variables, files);
            assert_eq!(found.as_deref(), expected.as_ref().map(|text| *text), "{variables:?} {files:?}");
        }
    }

    #[test]
    fn the_account_is_the_one_that_codex_would_use() {
        let token = |ends: i64| format!("h.{}.s", URL_SAFE_NO_PAD.encode(format!(r#"{{"exp": {ends}}}"#)));
        let login = |token: &str| {
            format!(r#"{{"tokens": {{"access_token": "{token}", "refresh_token": "r", "account_id": "a"}}}}"#)
        };
        let (fresh, over) = (token(NOW / 1_000 + 1), token(NOW / 1_000));
        let chatgpt = format!("Bearer {fresh} in OPENAI_API_KEY {CHATGPT} chatgpt-account-id=\"a\"");
        let at = ".codex/auth.json";
        let other = (".codex/config.toml", "model_provider = \"mine\"");
        let key = (at, r#"{"OPENAI_API_KEY": "k"}"#);
        let gateway = (".codex/config.toml", "openai_base_url = \"https://g.test/v1\"");
        let plain = (".codex/config.toml", "openai_base_url = \"http://g.test/v1\"");
        let table: [(Named<'_>, Result<&str, LoginProblem>); 9] = [
            (&[], Err(LoginProblem::Missing)),
            (&[(at, &login(&fresh))], Ok(&chatgpt)),
            (&[(at, &login(&over))], Err(LoginProblem::Expired)),
            (&[key], Ok("Bearer k in OPENAI_API_KEY")),
            (&[key, gateway], Ok("Bearer k in OPENAI_API_KEY https://g.test/v1")),
            (&[key, plain], Err(LoginProblem::NotLendable)),
            (&[(at, &login(&fresh)), gateway], Err(LoginProblem::NotLendable)),
            (&[(at, &login(&fresh)), other], Err(LoginProblem::NotLendable)),
            (&[(at, &login(&fresh).replace("account_id", "x"))], Err(LoginProblem::NotLendable)),
        ];
        let unread = [("OPENAI_BASE_URL", "https://other.test/v1")];
        for (files, expected) in table {
            let found = lent(Provider::OpenAi, &unread, files);
            assert_eq!(found.as_deref(), expected.as_ref().map(|text| *text), "{files:?}");
        }
    }
}
