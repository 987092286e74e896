//! Accounts, Apps and installations.

use crate::{
    json::fields::{extend, links, time},
    state::{App, Installation, Selection, State, User, UserKind},
};
use serde_json::{Value, json};

const USER_LINKS: [(&str, &str); 9] = [
    ("followers_url", "/followers"),
    ("following_url", "/following{/other_user}"),
    ("gists_url", "/gists{/gist_id}"),
    ("starred_url", "/starred{/owner}{/repo}"),
    ("subscriptions_url", "/subscriptions"),
    ("organizations_url", "/orgs"),
    ("repos_url", "/repos"),
    ("events_url", "/events{/privacy}"),
    ("received_events_url", "/received_events"),
];

const ORGANIZATION_LINKS: [(&str, &str); 6] = [
    ("repos_url", "/repos"),
    ("events_url", "/events"),
    ("hooks_url", "/hooks"),
    ("issues_url", "/issues"),
    ("members_url", "/members{/member}"),
    ("public_members_url", "/public_members{/member}"),
];

impl State {
    /// Returns an account as other answers show it. An id that no account has is shown as `ghost`.
    pub fn user_json(&self, id: u64) -> Value {
        let login = self.login(id);
        let kind = self.user(id).map_or(UserKind::User, |user| user.kind);
        let encoded = login.replace('[', "%5B").replace(']', "%5D");
        let api = format!("{}/users/{encoded}", self.api());
        let page = match login.strip_suffix("[bot]") {
            Some(slug) => format!("{}/apps/{slug}", self.base),
            None => format!("{}/{login}", self.base),
        };
        let mut user = json!({
            "login": login,
            "id": id,
            "node_id": format!("U_{id}"),
            "avatar_url": format!("{}/avatars/{id}", self.base),
            "gravatar_id": "",
            "url": api,
            "html_url": page,
            "type": kind,
            "user_view_type": "public",
            "site_admin": false,
        });
        extend(&mut user, links(&api, &USER_LINKS));
        user
    }

    /// Returns an organisation as deliveries show it.
    pub fn organization_json(&self, one: &User) -> Value {
        let api = format!("{}/orgs/{}", self.api(), one.login);
        let mut value = json!({
            "login": one.login,
            "id": one.id,
            "node_id": format!("O_{}", one.id),
            "url": api,
            "avatar_url": format!("{}/avatars/{}", self.base, one.id),
            "description": null,
        });
        extend(&mut value, links(&api, &ORGANIZATION_LINKS));
        value
    }

    /// Returns the address of the REST API.
    pub fn api(&self) -> String {
        format!("{}/api/v3", self.base)
    }

    pub fn app_json(&self, app: &App) -> Value {
        let installed = self.installations.values().filter(|one| one.app == app.id).count();
        let page = format!("{}/apps/{}", self.base, app.slug);
        let external = if app.details.homepage.is_empty() { &page } else { &app.details.homepage };
        json!({
            "id": app.id,
            "slug": app.slug,
            "client_id": app.client_id,
            "node_id": format!("A_{}", app.id),
            "owner": self.user_json(app.owner),
            "name": app.name,
            "description": app.details.description,
            "external_url": external,
            "html_url": page,
            "created_at": time(app.created_at),
            "updated_at": time(app.created_at),
            "permissions": app.permissions,
            "events": app.events,
            "installations_count": installed,
        })
    }

    pub fn installation_json(&self, one: &Installation) -> Value {
        let app = self.apps.get(&one.app);
        let selection = match one.selection {
            Selection::All => "all",
            Selection::Selected(_) => "selected",
        };
        json!({
            "id": one.id,
            "client_id": app.map(|app| app.client_id.clone()),
            "account": self.user_json(one.account),
            "repository_selection": selection,
            "access_tokens_url": format!("{}/app/installations/{}/access_tokens", self.api(), one.id),
            "repositories_url": format!("{}/installation/repositories", self.api()),
            "html_url": format!("{}/settings/installations/{}", self.base, one.id),
            "app_id": one.app,
            "app_slug": app.map(|app| app.slug.clone()),
            "target_id": one.account,
            "target_type": self.user(one.account).map_or(UserKind::User, |user| user.kind),
            "permissions": one.permissions,
            "events": one.events,
            "created_at": time(one.created_at),
            "updated_at": time(one.updated_at),
            "single_file_name": null,
            "has_multiple_single_files": false,
            "single_file_paths": [],
            "suspended_by": one.suspended_by.map(|id| self.user_json(id)),
            "suspended_at": one.suspended_at.map(time),
        })
    }
}
