//! Apps and their installations, as tests set them up.

use crate::{
    disk::ForgeError,
    forge::Forge,
    refusal::{OrNotFound, Result},
    state::{Actor, App, Hook, Installation, Moment, Selection, Token},
};
use secrecy::SecretString;

/// An App to register.
#[derive(Clone, Debug)]
pub struct NewApp<'a> {
    /// Its name in addresses; its bot is `<slug>[bot]`.
    pub slug: &'a str,
    /// The account that owns it.
    pub owner: &'a str,
    /// Its permissions, such as (`issues`, `write`).
    pub permissions: &'a [(&'a str, &'a str)],
    /// The events it subscribes to.
    pub events: &'a [&'a str],
    /// The address of its webhooks and the secret that signs them; `None`: it gets no webhooks.
    pub hook: Option<(&'a str, &'a str)>,
}

/// The credentials with which a program acts as an App.
#[derive(Clone, Debug)]
pub struct AppCredentials {
    /// The App's id.
    pub id: u64,
    /// Its name in addresses.
    pub slug: String,
    /// The client id, which a JWT may name instead of the id.
    pub client_id: String,
    /// The id of the bot account that it acts as.
    pub bot_id: u64,
    /// Its private key, PKCS#8 in PEM.
    pub private_key: SecretString,
    /// The secret that signs its webhooks.
    pub webhook_secret: Option<SecretString>,
}

fn credentials(app: &App) -> AppCredentials {
    AppCredentials {
        id: app.id,
        slug: app.slug.clone(),
        client_id: app.client_id.clone(),
        bot_id: app.bot,
        private_key: SecretString::from(app.private_key.clone()),
        webhook_secret: app.hook.as_ref().map(|hook| SecretString::from(hook.secret.clone())),
    }
}

impl Forge {
    /// Registers an App with a key pair that no other App of this forge has, and creates its bot account.
    pub fn create_app(&self, new: &NewApp<'_>) -> Result<AppCredentials, ForgeError> {
        let owner = self.user_id(new.owner)?;
        let permissions = new.permissions.iter();
        let app = App {
            slug: new.slug.to_owned(),
            name: new.slug.to_owned(),
            owner,
            permissions: permissions.map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect(),
            events: new.events.iter().map(|event| (*event).to_owned()).collect(),
            hook: new.hook.map(|(url, secret)| Hook { id: 0, url: url.to_owned(), secret: secret.to_owned() }),
            ..App::default()
        };
        self.site.change(|state| {
            let id = state.add_app(app)?;
            Ok(state.apps.get(&id).map(credentials).or_not_found()?)
        })
    }

    /// Returns the credentials of a registered App.
    pub fn app(&self, slug: &str) -> Option<AppCredentials> {
        self.site.read(|state| state.app_named(slug).map(credentials))
    }

    /// Returns the id of an App's installation on an account.
    pub fn installation_of(&self, slug: &str, account: &str) -> Result<u64, ForgeError> {
        let account = self.user_id(account)?;
        let found = self.site.read(|state| {
            let app = state.app_named(slug)?.id;
            let mut installations = state.installations.values();
            Some(installations.find(|one| (one.app, one.account) == (app, account))?.id)
        });
        found.ok_or_else(|| ForgeError::Unknown(format!("installation of {slug}")))
    }

    /// Lets people sign in with an App, at this callback address only. Returns the App's client secret.
    pub fn let_sign_in(&self, slug: &str, callback: &str) -> Result<SecretString, ForgeError> {
        let fresh = self.site.change(|state| format!("{:040x}", state.next_id()));
        self.with_app(slug, |app| {
            app.details.callback_urls = vec![callback.to_owned()];
            if app.details.client_secret.is_empty() {
                app.details.client_secret = fresh;
            }
            SecretString::from(app.details.client_secret.clone())
        })
    }

    /// Revokes an App's client secret, as its owner may.
    pub fn revoke_client_secret(&self, slug: &str) -> Result<(), ForgeError> {
        self.with_app(slug, |app| app.details.client_secret.clear())
    }

    fn with_app<T>(&self, slug: &str, change: impl FnOnce(&mut App) -> T) -> Result<T, ForgeError> {
        let changed = self.site.change(|state| {
            let app = state.apps.values_mut().find(|app| app.slug == slug);
            app.map(change)
        });
        changed.ok_or_else(|| ForgeError::Unknown(format!("App {slug}")))
    }

    /// Sends an App's webhooks to another address from now on.
    pub fn redirect(&self, slug: &str, url: &str) -> Result<(), ForgeError> {
        let redirect = |app: &mut App| app.hook.as_mut().map(|hook| url.clone_into(&mut hook.url));
        let changed = self.with_app(slug, redirect)?;
        changed.ok_or_else(|| ForgeError::Unknown(format!("App {slug} with a hook")))
    }

    /// Installs an App on an account, for all repositories (`None`) or for some, by full name. Returns the
    /// installation's id.
    pub fn install(&self, slug: &str, account: &str, repositories: Option<&[&str]>) -> Result<u64, ForgeError> {
        let account = self.user_id(account)?;
        let selection = match repositories {
            None => Selection::All,
            Some(names) => Selection::Selected(names.iter().map(|name| self.repo_id(name)).collect::<Result<_, _>>()?),
        };
        self.site.change(|state| {
            let app = state.app_named(slug).map(|app| app.id);
            let app = app.ok_or_else(|| ForgeError::Unknown(format!("App {slug}")))?;
            Ok(state.install(Actor::person(account), app, account, selection)?)
        })
    }

    /// Makes a person one of an organisation's owners.
    pub fn make_owner(&self, organization: &str, login: &str) -> Result<(), ForgeError> {
        let (organization, owner) = (self.user_id(organization)?, self.user_id(login)?);
        self.site.change(|state| {
            state.owners.entry(organization).or_default().insert(owner);
        });
        Ok(())
    }

    fn with_installation(
        &self,
        id: u64,
        action: &str,
        change: impl FnOnce(&mut Installation, Moment),
    ) -> Result<(), ForgeError> {
        self.site.change(|state| {
            let now = state.clock.stamp();
            let one = state.installations.get_mut(&id).or_not_found()?;
            change(one, now);
            one.updated_at = now;
            let by = Actor::person(one.account);
            Ok(state.installation_event(by, id, action)?)
        })
    }

    /// Suspends an installation: its tokens are answered 403, and it receives no events of repositories.
    pub fn suspend(&self, installation: u64) -> Result<(), ForgeError> {
        self.with_installation(installation, "suspend", |one, at| {
            (one.suspended_at, one.suspended_by) = (Some(at), Some(one.account));
        })
    }

    /// Lets a suspended installation work again.
    pub fn unsuspend(&self, installation: u64) -> Result<(), ForgeError> {
        self.with_installation(installation, "unsuspend", |one, _| {
            (one.suspended_at, one.suspended_by) = (None, None);
        })
    }

    /// Removes an installation; its tokens become invalid.
    pub fn uninstall(&self, installation: u64) -> Result<(), ForgeError> {
        self.site.change(|state| {
            let by = state.installations.get(&installation).or_not_found()?.account;
            Ok(state.uninstall(Actor::person(by), installation)?)
        })
    }

    /// Forgets the log of deliveries, as if all of them were too old to be kept.
    pub fn forget_deliveries(&self) {
        self.site.change(|state| state.deliveries.clear());
    }

    /// Invalidates all installation tokens at once, as if their hour were over.
    pub fn expire_tokens(&self) {
        let stays = |token: &Token| matches!(token, Token::Person(_));
        self.site.change(|state| state.tokens.retain(|_, token| stays(token)));
    }
}
