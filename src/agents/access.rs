//! Leads programs to their models: the provider, the address and the account. No key ever enters a run.

use crate::{
    agents::{
        login::{ModelAccount, PersonLogin},
        private::{Private, host},
        run::{RunError, RunSpec},
    },
    config::{ModelApi, ModelSettings},
};
use domain::{
    blocked::{Failure, LoginProblem},
    isolation::Level,
};
use sandbox::{
    Confine, Spec,
    egress::{Door, ModelRoute, Terms, whole_name},
};
use secrecy::{ExposeSecret, SecretString};
use std::{
    io,
    sync::{Arc, OnceLock},
};
use url::Url;

/// The placeholder for programs that require a key.
pub(crate) const NO_KEY: &str = "added-outside";

/// The account with which a program uses its model. It is added outside the run.
#[derive(Clone, Debug)]
pub enum Login {
    /// The key of the service's settings.
    Service,
    /// The log-in of the person who started the command line, if the settings have no key.
    Person(PersonLogin),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provider {
    /// The API that Claude Code speaks.
    Anthropic,
    /// The API that Codex speaks.
    OpenAi,
}

/// The differences between providers.
struct ProviderFacts {
    name: &'static str,
    address: &'static str,
    /// The allowed paths. Batches are not allowed, since they would continue, and cost, after the run.
    paths: &'static [&'static str],
    /// The variable in which a program looks for the address.
    variable: &'static str,
    setting: &'static str,
    /// The program, and how a person logs in with it.
    program: (&'static str, &'static str),
}

const ANTHROPIC: ProviderFacts = ProviderFacts {
    name: "anthropic",
    address: "https://api.anthropic.com/",
    paths: &["/v1/messages", "/v1/messages/count_tokens", "/v1/models", "/v1/models/"],
    variable: "ANTHROPIC_BASE_URL",
    setting: "AUTOBUILD_ANTHROPIC_API_KEY",
    program: ("claude", "run `claude`, then `/login`"),
};

const OPEN_AI: ProviderFacts = ProviderFacts {
    name: "openai",
    address: "https://api.openai.com/v1",
    paths: &["/responses", "/responses/compact", "/models", "/models/", "/chat/completions"],
    variable: "OPENAI_BASE_URL",
    setting: "AUTOBUILD_OPENAI_API_KEY",
    program: ("codex", "run `codex login`"),
};

impl Provider {
    fn facts(self) -> &'static ProviderFacts {
        match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenAi => &OPEN_AI,
        }
    }

    fn account(self, key: &str) -> ModelAccount {
        match self {
            Self::Anthropic => ModelAccount::key(key),
            Self::OpenAi => ModelAccount::bearer(key, "OPENAI_API_KEY"),
        }
    }

    /// Returns the terms that every request must meet.
    fn terms(self, spec: &RunSpec) -> Terms {
        match self {
            Self::Anthropic => {
                let model = whole_name(spec.model.as_ref());
                let model = Arc::new(model.map(OnceLock::from).unwrap_or_default());
                Terms::Messages { model }
            }
            Self::OpenAi => {
                // If no model is set, the program chooses one.
                let model = spec.model.clone().map(OnceLock::from);
                Terms::Priced { model: Arc::new(model.unwrap_or_default()) }
            }
        }
    }

    /// Returns the failure for a person whose log-in cannot be used.
    fn not_logged_in(self, problem: LoginProblem) -> Failure {
        let ProviderFacts { program, setting, .. } = self.facts();
        Failure::NotLoggedIn {
            program: program.0.to_owned(),
            log_in: program.1.to_owned(),
            key: (*setting).to_owned(),
            problem,
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
        Self { models: Arc::new(models), login: Login::Service }
    }

    /// Returns the keys and tokens that are added to calls, without their prefixes in headers.
    pub fn keys(&self) -> impl Iterator<Item = SecretString> {
        let lent = [Provider::Anthropic, Provider::OpenAi].map(|provider| self.account(provider));
        let accounts = lent.into_iter().flatten().flatten();
        accounts.map(|account| account.token())
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

    /// Returns the account with which a run calls the provider; `None` if the service has none.
    fn account(&self, provider: Provider) -> Result<Option<ModelAccount>, LoginProblem> {
        let api = self.api(provider);
        match &self.login {
            _ if self.is_set(provider) => Ok(Some(ModelAccount {
                upstream: api.url.clone(),
                ..provider.account(api.key.as_ref().map_or(NO_KEY, |key| key.expose_secret()))
            })),
            Login::Person(login) => login.account(provider).map(Some),
            Login::Service => Ok(None),
        }
    }

    pub(crate) fn check(&self, provider: Provider) -> Result<(), Failure> {
        match self.account(provider) {
            Ok(Some(_)) => Ok(()),
            Err(problem) => Err(provider.not_logged_in(problem)),
            Ok(None) => Err(Failure::NotAuthorised {
                message: format!(
                    "{} is not set (on the command line, --use-my-login uses your own log-in instead)",
                    provider.facts().setting
                ),
            }),
        }
    }

    /// Opens the run's door to the given providers and to the hosts of `spec.network`, and to nothing else. Returns the
    /// providers' addresses for the program.
    pub(crate) async fn open_door(
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
        let mut rules = spec.network.clone();
        rules.caps.usd_micros = spec.most_usd_micros;
        let mut set = Vec::new();
        for provider in providers {
            // Without an account, the program itself reports that, or needs none.
            if let Ok(Some(account)) = self.account(*provider) {
                set.push((*provider, account.variable));
                rules.models.push(route(*provider, account, spec)?);
            }
        }
        // The door is beside the run's folder, because the program may write into the folder itself.
        let folder = private.path().parent().unwrap_or_else(|| private.path());
        let door = Door::open(rules, folder).await.map_err(host("opening its way to the model"))?;
        let home = private.path().join("home");
        order.env.extend(door.environment(level, &home));
        door.leave_settings(level, &home);
        let mut addresses = Vec::new();
        for (provider, variable) in set {
            let Some(address) = door.model_url(level, provider.facts().name) else {
                continue;
            };
            order.env.push((provider.facts().variable.into(), address.clone().into()));
            order.env.push((variable.into(), NO_KEY.into()));
            addresses.push((provider, address));
        }
        order.confine.door = Some(Arc::new(door));
        Ok(addresses)
    }
}

fn route(provider: Provider, account: ModelAccount, spec: &RunSpec) -> Result<ModelRoute, RunError> {
    let ProviderFacts { name, address, paths, .. } = provider.facts();
    let usual = || Url::parse(address).map_err(|error| host("reading an address")(io::Error::other(error)));
    Ok(ModelRoute {
        name: (*name).to_owned(),
        upstream: account.upstream.map_or_else(usual, Ok)?,
        header: account.header,
        beside: account.beside,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        terms: provider.terms(spec),
    })
}
