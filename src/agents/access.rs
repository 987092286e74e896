//! Says how programs reach their models: the provider, the address and the account. No key ever enters a run.

use crate::{
    agents::{
        login,
        private::{Private, host},
        run::{RunError, RunSpec},
    },
    config::{ModelApi, ModelSettings},
};
use domain::{blocked::Failure, isolation::Level, network::HostRule};
use http::HeaderName;
use sandbox::{
    Confine, Spec,
    egress::{Door, ModelRoute, Terms, binding},
};
use secrecy::{ExposeSecret, SecretString};
use std::{
    io,
    sync::{Arc, OnceLock},
};
use url::Url;

/// The placeholder for programs that require a key.
pub(crate) const NO_KEY: &str = "added-outside";

/// The account with which a program uses its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// The service's: the key of its settings is added outside the run.
    Service,
    /// The one of the person who started the command line, with the log-in and settings of their own programs.
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provider {
    /// The API that Claude Code speaks.
    Anthropic,
    /// The API that Codex speaks.
    OpenAi,
}

/// What differs between providers.
struct Facts {
    name: &'static str,
    address: &'static str,
    /// The allowed paths. Batches are not allowed, since they would continue, and cost, after the run.
    paths: &'static [&'static str],
    /// The hosts that a person's own log-in needs.
    hosts: &'static [&'static str],
    variables: (&'static str, &'static str),
    setting: &'static str,
    /// The program, and how a person logs in with it.
    program: (&'static str, &'static str),
}

const ANTHROPIC: Facts = Facts {
    name: "anthropic",
    address: "https://api.anthropic.com/",
    paths: &["/v1/messages", "/v1/messages/count_tokens", "/v1/models", "/v1/models/"],
    hosts: &[
        "api.anthropic.com",
        "console.anthropic.com",
        "claude.ai",
        "platform.claude.com",
    ],
    variables: ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    setting: "AUTOBUILD_ANTHROPIC_API_KEY",
    program: ("claude", "run `claude`, then `/login`"),
};

const OPEN_AI: Facts = Facts {
    name: "openai",
    address: "https://api.openai.com/v1",
    paths: &[
        "/responses",
        "/responses/compact",
        "/models",
        "/models/",
        "/chat/completions",
    ],
    hosts: &["api.openai.com", "auth.openai.com", "chatgpt.com"],
    variables: ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    setting: "AUTOBUILD_OPENAI_API_KEY",
    program: ("codex", "run `codex login`"),
};

impl Provider {
    fn facts(self) -> &'static Facts {
        match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenAi => &OPEN_AI,
        }
    }

    fn header(self, key: &str) -> (HeaderName, SecretString) {
        match self {
            Self::Anthropic => (HeaderName::from_static("x-api-key"), key.into()),
            Self::OpenAi => (http::header::AUTHORIZATION, format!("Bearer {key}").into()),
        }
    }

    /// Returns the terms that every request must meet.
    fn terms(self, spec: &RunSpec) -> Terms {
        match self {
            Self::Anthropic => {
                let models = binding(spec.model.as_ref(), spec.fallback_model.as_ref());
                let models = Arc::new(models.map(OnceLock::from).unwrap_or_default());
                Terms::Messages { models }
            }
            Self::OpenAi => {
                let models = spec.model.iter().chain(&spec.fallback_model).cloned();
                // If no model is set, the program chooses one.
                let known = spec.model.as_ref().map(|_| OnceLock::from(models.collect::<Vec<_>>()));
                Terms::Priced {
                    models: Arc::new(known.unwrap_or_default()),
                }
            }
        }
    }

    fn hosts(self) -> impl Iterator<Item = HostRule> {
        let hosts = self.facts().hosts.iter();
        hosts.filter_map(|name| HostRule::try_from((*name).to_owned()).ok())
    }

    /// Returns the failure for a person who is not logged in with the provider's program.
    pub(crate) fn not_logged_in(self) -> Failure {
        let Facts { program, setting, .. } = self.facts();
        Failure::NotLoggedIn {
            program: program.0.to_owned(),
            log_in: program.1.to_owned(),
            key: (*setting).to_owned(),
        }
    }
}

/// How programs reach their models.
#[derive(Clone, Debug)]
pub struct Access {
    /// The addresses and keys.
    pub models: Arc<ModelSettings>,
    pub login: Login,
}

impl Access {
    /// Uses the service's account with these settings.
    pub fn service(models: ModelSettings) -> Self {
        Self {
            models: Arc::new(models),
            login: Login::Service,
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = SecretString> {
        let keys = [&self.models.anthropic.key, &self.models.openai.key];
        keys.into_iter().flatten().cloned()
    }

    fn api(&self, provider: Provider) -> &ModelApi {
        match provider {
            Provider::Anthropic => &self.models.anthropic,
            Provider::OpenAi => &self.models.openai,
        }
    }

    fn is_set(&self, provider: Provider) -> bool {
        let api = self.api(provider);
        api.key.is_some() || api.url.is_some()
    }

    pub(crate) fn check(&self, provider: Provider) -> Result<(), Failure> {
        match self.login {
            _ if self.is_set(provider) => Ok(()),
            Login::Host if login::may_be_there(provider) => Ok(()),
            Login::Host => Err(provider.not_logged_in()),
            Login::Service => Err(Failure::NotAuthorised {
                message: format!(
                    "{} is not set (on the command line, --use-my-login uses your own log-in instead)",
                    provider.facts().setting
                ),
            }),
        }
    }

    /// Opens the run's door to the given providers and to the hosts of `spec.network`, and to nothing else. Returns the
    /// providers' addresses for the program.
    pub(crate) async fn lead(
        &self,
        order: &mut Spec,
        spec: &RunSpec,
        private: &Private,
        providers: &[Provider],
        level: Level,
    ) -> Result<Vec<(Provider, String)>, RunError> {
        let Confine { read, write, .. } = private.confine(spec);
        order.confine.read.extend(read);
        order.confine.write.extend(write);
        let set: Vec<Provider> = providers.iter().copied().filter(|one| self.is_set(*one)).collect();
        let mut rules = spec.network.clone();
        rules.caps.usd_micros = spec.most_usd_micros;
        for provider in providers {
            match set.contains(provider) {
                true => rules.models.push(self.route(*provider, spec)?),
                false if self.login == Login::Host => rules.hosts.extend(provider.hosts()),
                false => {}
            }
        }
        // The door is beside the run's folder, because the program may write into the folder itself.
        let folder = private.path().parent().unwrap_or_else(|| private.path());
        let door = Door::open(rules, folder)
            .await
            .map_err(host("opening its way to the model"))?;
        let home = private.path().join("home");
        order.env.extend(door.environment(level, &home));
        door.leave_settings(level, &home);
        let mut addresses = Vec::new();
        for provider in set {
            let Some(address) = door.model_url(level, provider.facts().name) else {
                continue;
            };
            let (url, key) = provider.facts().variables;
            order.env.push((url.into(), address.clone().into()));
            order.env.push((key.into(), NO_KEY.into()));
            addresses.push((provider, address));
        }
        order.confine.door = Some(Arc::new(door));
        Ok(addresses)
    }

    fn route(&self, provider: Provider, spec: &RunSpec) -> Result<ModelRoute, RunError> {
        let api = self.api(provider);
        let Facts {
            name, address, paths, ..
        } = provider.facts();
        let usual = || Url::parse(address).map_err(|error| host("reading an address")(io::Error::other(error)));
        let key = api.key.as_ref().map_or(NO_KEY, |key| key.expose_secret());
        Ok(ModelRoute {
            name: (*name).to_owned(),
            upstream: api.url.clone().map_or_else(usual, Ok)?,
            header: provider.header(key),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            terms: provider.terms(spec),
        })
    }
}
