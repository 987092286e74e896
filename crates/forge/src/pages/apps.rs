//! The pages of Apps: registration from a manifest, settings, deletion and installation, with GitHub's addresses and
//! refusals.

use super::person::{Visit, page, redirect_to};
use crate::{
    acts::Manifest,
    refusal::{OrNotFound, Refusal, Result},
    state::{Actor, App, Selection, State},
};
use axum::body::Body;
use http::Response;
use maud::html;
use std::collections::BTreeSet;

/// Returns `true` if a path is one of these pages.
pub(super) fn is_path(parts: &[&str]) -> bool {
    match parts {
        ["organizations", _, rest @ ..] => matches!(rest, ["settings", "apps" | "installations", ..]),
        ["settings", "apps" | "installations", ..] => true,
        ["apps", _] | ["apps", _, "installations"] | ["apps", _, "installations", "new"] => true,
        _ => false,
    }
}

pub(super) fn answer(visit: &Visit<'_>, person: u64) -> Result<Response<Body>> {
    let (account, rest) = match visit.parts {
        ["organizations", organization, rest @ ..] => {
            let known = |state: &State| state.user_named(organization).map(|one| one.id);
            (visit.site.read(known).or_not_found()?, rest)
        }
        rest => (person, rest),
    };
    if !visit.site.read(|state| state.administers(person, account)) {
        return Err(Refusal::not_found());
    }
    let here = AccountVisit { visit, person, account };
    match (visit.method, rest) {
        ("POST", ["settings", "apps", "new"]) => here.registration(),
        ("POST", ["settings", "apps"]) => here.register(),
        ("GET", ["settings", "apps", slug]) => here.settings(slug),
        ("POST", ["settings", "apps", slug, "delete"]) => here.delete(slug),
        ("GET", ["settings", "installations", id]) => here.installation(id),
        ("GET", ["apps", slug]) => here.about(slug),
        ("GET", ["apps", slug, "installations", "new"]) => here.choose(slug),
        ("POST", ["apps", slug, "installations"]) => here.install(slug),
        _ => Err(Refusal::not_found()),
    }
}

/// A person's visit to the settings of an account.
struct AccountVisit<'a> {
    visit: &'a Visit<'a>,
    person: u64,
    account: u64,
}

impl AccountVisit<'_> {
    fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.visit.site.read(look)
    }

    fn settings_path(&self, state: &State) -> String {
        settings_path(state, self.person, self.account)
    }

    fn state_asked(&self) -> String {
        let query = self.visit.query.get("state").map(String::as_str);
        query.or_else(|| self.visit.field("state")).unwrap_or_default().to_owned()
    }

    /// Shows the page that asks the person to confirm the App of a manifest.
    fn registration(&self) -> Result<Response<Body>> {
        let text = self.visit.field("manifest");
        let text = text.ok_or_else(|| Refusal::new(422, "Manifest is missing"))?;
        match Manifest::read(text, None) {
            Ok(manifest) => Ok(self.registration_page(text, &manifest, None)),
            Err(wrong) => Ok(invalid(&wrong)),
        }
    }

    fn registration_page(&self, text: &str, manifest: &Manifest, wrong: Option<&str>) -> Response<Body> {
        let (owner, to) = self.read(|state| (state.login(self.account).to_owned(), self.settings_path(state)));
        let body = html! {
            h1 { "Create GitHub App for " (owner) }
            @if let Some(wrong) = wrong { p.wrong role="alert" { (wrong) } }
            form.sign-in method="post" action=(format!("{to}/apps")) {
                (self.visit.own_form())
                input type="hidden" name="manifest" value=(text);
                input type="hidden" name="state" value=(self.state_asked());
                label for="name" { "GitHub App name" }
                input #name name="name" value=(manifest.name) maxlength="34" required;
                button { "Create GitHub App for " (owner) }
            }
            h2 { "Permissions" }
            ul { @for (name, level) in &manifest.default_permissions { li { (name) ": " (level) } } }
            h2 { "Events" }
            ul { @for event in &manifest.default_events { li { (event) } } }
        };
        page("Create GitHub App", body)
    }

    /// Registers the App, and sends the browser back with a code.
    fn register(&self) -> Result<Response<Body>> {
        self.visit.check_own_form()?;
        let text = self.visit.field("manifest").unwrap_or_default();
        let manifest = match Manifest::read(text, self.visit.field("name")) {
            Ok(manifest) => manifest,
            Err(wrong) => return Ok(invalid(&wrong)),
        };
        let mut back = url::Url::parse(manifest.redirect_url.as_deref().unwrap_or_default())
            .map_err(|_| Refusal::new(422, "Redirect url is invalid"))?;
        let (by, owner) = (self.person, self.account);
        let made = self.visit.site.change(|state| state.register(by, owner, manifest.clone()));
        match made {
            Ok(code) => {
                back.query_pairs_mut().append_pair("code", &code);
                let asked = self.state_asked();
                if !asked.is_empty() {
                    back.query_pairs_mut().append_pair("state", &asked);
                }
                Ok(redirect_to(back.as_str()))
            }
            Err(refusal) if refusal.status == 422 => {
                let said = "Name is already taken";
                Ok(self.registration_page(text, &manifest, Some(said)))
            }
            Err(refusal) => Err(refusal),
        }
    }

    fn own(&self, slug: &str) -> Result<App> {
        let own = |state: &State| state.app_named(slug).filter(|app| app.owner == self.account).cloned();
        self.read(own).or_not_found()
    }

    fn settings(&self, slug: &str) -> Result<Response<Body>> {
        let app = self.own(slug)?;
        let path = self.read(|state| self.settings_path(state));
        let body = html! {
            h1 { (app.name) }
            dl.facts {
                dt { "App ID" } dd { (app.id) }
                dt { "Client ID" } dd { code { (app.client_id) } }
                @if let Some(hook) = &app.hook { dt { "Webhook URL" } dd { code { (hook.url) } } }
            }
            p { a href=(format!("/apps/{}/installations/new", app.slug)) { "Install" } }
            form method="post" action=(format!("{path}/apps/{}/delete", app.slug)) {
                (self.visit.own_form())
                button { "Delete GitHub App" }
            }
        };
        Ok(page(&app.name, body))
    }

    fn delete(&self, slug: &str) -> Result<Response<Body>> {
        self.visit.check_own_form()?;
        let app = self.own(slug)?;
        self.visit.site.change(|state| state.delete_app(self.person, app.id))?;
        Ok(redirect_to("/"))
    }

    fn about(&self, slug: &str) -> Result<Response<Body>> {
        let app = self.read(|state| state.app_named(slug).cloned()).or_not_found()?;
        let body = html! {
            h1 { (app.name) }
            p { (app.details.description) }
            p { a href=(format!("/apps/{}/installations/new", app.slug)) { "Install" } }
        };
        Ok(page(&app.name, body))
    }

    /// Returns the App if the person may install it. Apps are private: only the account that owns one can install it.
    fn installable(&self, slug: &str) -> Result<App> {
        self.read(|state| {
            let app = state.app_named(slug);
            app.filter(|app| state.administers(self.person, app.owner)).cloned().or_not_found()
        })
    }

    /// Returns the address of the App's installation, if there is one.
    fn installed(&self, app: &App) -> Option<String> {
        self.read(|state| {
            let mut all = state.installations.values();
            let one = all.find(|one| one.app == app.id && one.account == app.owner)?;
            let path = settings_path(state, self.person, one.account);
            Some(format!("{path}/installations/{}", one.id))
        })
    }

    fn choose(&self, slug: &str) -> Result<Response<Body>> {
        let app = self.installable(slug)?;
        if let Some(there) = self.installed(&app) {
            return Ok(redirect_to(&there));
        }
        let body = self.read(|state| {
            let repos = state.repos.values().filter(|repo| repo.owner == app.owner);
            html! {
                h1 { "Install " (app.name) " on " (state.login(app.owner)) }
                form method="post" action=(format!("/apps/{}/installations", app.slug)) {
                    (self.visit.own_form())
                    p { label { input type="radio" name="install_target" value="all" checked; " All repositories" } }
                    p { label { input type="radio" name="install_target" value="selected"; " Only select repositories" } }
                    @for repo in repos {
                        p { label { input type="checkbox" name="repository_ids" value=(repo.id); " " (state.full_name(repo)) } }
                    }
                    ul { @for (name, level) in &app.permissions { li { (name) ": " (level) } } }
                    button { "Install" }
                }
            }
        });
        Ok(page("Install", body))
    }

    fn install(&self, slug: &str) -> Result<Response<Body>> {
        self.visit.check_own_form()?;
        let app = self.installable(slug)?;
        if let Some(there) = self.installed(&app) {
            return Ok(redirect_to(&there));
        }
        let chosen = self.visit.fields("repository_ids");
        let chosen: BTreeSet<u64> = chosen.iter().filter_map(|id| id.parse().ok()).collect();
        let selection = match self.visit.field("install_target") {
            Some("selected") if chosen.is_empty() => {
                return Err(Refusal::new(422, "Select at least one repository"));
            }
            Some("selected") => Selection::Selected(chosen),
            Some(_) | None => Selection::All,
        };
        let by = Actor::person(self.person);
        let id = self.visit.site.change(|state| state.install(by, app.id, app.owner, selection))?;
        let setup = app.details.setup_url.as_deref();
        let Some(mut back) = setup.and_then(|url| url::Url::parse(url).ok()) else {
            let path = self.read(|state| settings_path(state, self.person, app.owner));
            return Ok(redirect_to(&format!("{path}/installations/{id}")));
        };
        back.query_pairs_mut().append_pair("installation_id", &id.to_string()).append_pair("setup_action", "install");
        Ok(redirect_to(back.as_str()))
    }

    fn installation(&self, id: &str) -> Result<Response<Body>> {
        let body = self.read(|state| {
            let one = id.parse().ok().and_then(|id: u64| state.installations.get(&id));
            let one = one.filter(|one| one.account == self.account).or_not_found()?;
            let app = state.apps.get(&one.app).or_not_found()?;
            Ok::<_, Refusal>(html! {
                h1 { (app.name) " on " (state.login(one.account)) }
                ul { @for repo in state.covered(one.id) { li { (state.full_name(repo)) } } }
            })
        })?;
        Ok(page("Installation", body))
    }
}

fn settings_path(state: &State, person: u64, account: u64) -> String {
    if person == account { "/settings".to_owned() } else { format!("/organizations/{}/settings", state.login(account)) }
}

fn invalid(wrong: &[String]) -> Response<Body> {
    let body = html! {
        h1 { "Invalid GitHub App configuration" }
        p { "The configuration does not appear to be a valid GitHub App manifest." }
        ul.wrong role="alert" { @for one in wrong { li { "Error " (one) } } }
    };
    page("Invalid GitHub App configuration", body)
}
