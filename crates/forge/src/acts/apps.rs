//! Registers Apps from a manifest, installs them and removes them.

use crate::{
    acts::manifest::Manifest,
    clock,
    hooks::Audience,
    json,
    refusal::{OrNotFound, Refusal, Result},
    state::{Actor, App, AppDetails, Hook, Installation, ManifestCode, Permissions, Selection, State, User, UserKind},
};
use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::{KeyPair, KeySize},
    signature::KeyPair as _,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::Duration;
use parking_lot::Mutex;
use serde_json::json;

/// A key pair: PKCS#8 PEM of the private key, base64 of the public one.
type KeyTexts = (String, String);

/// The key pairs made in this process. Generating one is slow, and only Apps of the same forge need different ones.
static MADE: Mutex<Vec<KeyTexts>> = Mutex::new(Vec::new());

fn key_pair_unlike(state: &State) -> Result<KeyTexts> {
    let taken = |public: &String| state.apps.values().any(|app| app.public_key == *public);
    let mut made = MADE.lock();
    if let Some(free) = made.iter().find(|(_, public)| !taken(public)) {
        return Ok(free.clone());
    }
    let pair = key_pair()?;
    made.push(pair.clone());
    Ok(pair)
}

fn key_pair() -> Result<KeyTexts> {
    let failed = |_| Refusal::new(500, "no randomness for a key");
    let pair = KeyPair::generate(KeySize::Rsa2048).map_err(failed)?;
    let private: Pkcs8V1Der<'_> = pair.as_der().map_err(failed)?;
    let encoded = BASE64_STANDARD.encode(private.as_ref());
    let lines = json::lines_of(64, &encoded);
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----\n");
    Ok((pem, BASE64_STANDARD.encode(pair.public_key().as_ref())))
}

/// The length of the secrets of an App, in bytes.
pub(crate) const SECRET: usize = 20;
/// The life of a registration's code, in minutes; GitHub's hour.
const CODE_MINUTES: i64 = 60;

/// Returns this many random bytes in hexadecimal: a text that nobody can guess.
pub(crate) fn random(bytes: usize) -> Result<String> {
    let mut noise = vec![0_u8; bytes];
    getrandom::fill(&mut noise).map_err(|_| Refusal::new(500, "no randomness"))?;
    Ok(noise.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl State {
    /// Registers an App for an account. Returns the code for its credentials.
    pub(crate) fn register(&mut self, by: u64, owner: u64, manifest: Manifest) -> Result<String> {
        if !self.administers(by, owner) {
            return Err(Refusal::not_found());
        }
        let slug = manifest.slug();
        if self.app_named(&slug).is_some() || self.user_named(&slug).is_some() {
            return Err(Refusal::custom("Integration", "name", "Name is already taken"));
        }
        let secret = random(SECRET)?;
        let id = self.add_app(App {
            slug,
            hook: manifest.hook_url().map(|url| Hook { id: 0, url: url.to_owned(), secret }),
            name: manifest.name,
            owner,
            permissions: manifest.default_permissions,
            events: manifest.default_events,
            details: AppDetails {
                description: manifest.description,
                homepage: manifest.url,
                setup_url: manifest.setup_url,
                callback_urls: manifest.callback_urls,
                client_secret: random(SECRET)?,
            },
            ..App::default()
        })?;
        self.ping(id, by);
        let (code, made_at) = (random(SECRET)?, clock::wall());
        self.manifest_codes.insert(code.clone(), ManifestCode { app: id, made_at });
        Ok(code)
    }

    /// Records an App and returns its id. Its ids, its bot account and its key pair are new.
    pub(crate) fn add_app(&mut self, mut app: App) -> Result<u64> {
        app.bot = self.account(&format!("{}[bot]", app.slug), UserKind::Bot);
        (app.private_key, app.public_key) = key_pair_unlike(self)?;
        (app.id, app.created_at) = (self.next_id(), self.clock.stamp());
        app.client_id = format!("Iv23li{:014x}", app.id);
        if let Some(hook) = &mut app.hook {
            hook.id = self.next_id();
        }
        let id = app.id;
        self.apps.insert(id, app);
        Ok(id)
    }

    /// Returns the id of the account of this login; creates it if there is none.
    pub(crate) fn account(&mut self, login: &str, kind: UserKind) -> u64 {
        if let Some(known) = self.user_named(login) {
            return known.id;
        }
        let (id, login) = (self.next_id(), login.to_owned());
        let user = User { id, login, kind, created_at: self.clock.stamp() };
        self.users.insert(id, user);
        id
    }

    /// Returns the App behind a registration's code. A code works once, within an hour.
    pub(crate) fn exchange(&mut self, code: &str) -> Result<&App> {
        let known = self.manifest_codes.remove(code).or_not_found()?;
        if known.made_at + Duration::minutes(CODE_MINUTES) < clock::wall() {
            return Err(Refusal::not_found());
        }
        self.apps.get(&known.app).or_not_found()
    }

    /// Sends the `ping` event to a new App's webhook.
    fn ping(&mut self, app: u64, sender: u64) {
        let Some(known) = self.apps.get(&app) else { return };
        let Some(hook) = &known.hook else { return };
        let config = json!({"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": hook.url});
        let fields = json!({
            "zen": "Design for failure.",
            "hook_id": hook.id,
            "hook": {"type": "App", "id": hook.id, "name": "web", "active": true, "events": known.events, "config": config, "app_id": app},
        });
        self.emit_to(Audience::Hook(app), sender, "ping", None, fields);
    }

    /// Installs an App on an account; returns the installation's id.
    pub(crate) fn install(&mut self, by: Actor, app: u64, account: u64, selection: Selection) -> Result<u64> {
        let app = self.apps.get(&app).or_not_found()?;
        let mut permissions: Permissions = app.permissions.clone();
        let metadata = permissions.entry("metadata".to_owned());
        metadata.or_insert_with(|| "read".to_owned());
        let (app, events) = (app.id, app.events.clone());
        let (id, now) = (self.next_id(), self.clock.stamp());
        let one = Installation {
            id,
            app,
            account,
            selection,
            permissions,
            events,
            suspended_at: None,
            suspended_by: None,
            created_at: now,
            updated_at: now,
        };
        self.installations.insert(id, one);
        self.installation_event(by, id, "created")?;
        Ok(id)
    }

    /// Removes an installation; its tokens become invalid.
    pub(crate) fn uninstall(&mut self, by: Actor, installation: u64) -> Result {
        let now = self.clock.stamp();
        self.installations.get_mut(&installation).or_not_found()?.updated_at = now;
        self.installation_event(by, installation, "deleted")?;
        self.installations.remove(&installation);
        Ok(())
    }

    pub(crate) fn delete_app(&mut self, by: u64, app: u64) -> Result {
        if !self.administers(by, self.apps.get(&app).or_not_found()?.owner) {
            return Err(Refusal::not_found());
        }
        let its = self.installations.values().filter(|one| one.app == app);
        for id in its.map(|one| one.id).collect::<Vec<_>>() {
            self.uninstall(Actor::person(by), id)?;
        }
        let gone = self.apps.remove(&app).or_not_found()?;
        self.users.remove(&gone.bot);
        Ok(())
    }

    /// Returns an App with its credentials, which GitHub shows only once.
    pub(crate) fn app_with_credentials(&self, app: &App) -> Result<serde_json::Value> {
        let mut body = self.app_json(app);
        let credentials = json!({
            "client_secret": app.details.client_secret,
            "webhook_secret": app.hook.as_ref().map(|hook| &hook.secret),
            "pem": pkcs1(&app.private_key).ok_or_else(|| Refusal::new(500, "the key cannot be read"))?,
        });
        json::extend(&mut body, credentials);
        Ok(body)
    }
}

/// The length of the PKCS#8 header before an RSA key, in bytes: GitHub gives out the key without it.
const PKCS8_HEAD: usize = 26;

fn pkcs1(pem: &str) -> Option<String> {
    let encoded: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = BASE64_STANDARD.decode(encoded).ok()?;
    let lines = json::lines_of(64, &BASE64_STANDARD.encode(der.get(PKCS8_HEAD..)?));
    Some(format!("-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\n"))
}
