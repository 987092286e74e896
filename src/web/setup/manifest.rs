//! Builds the manifests that are posted to GitHub from `app-manifest.yml`. Pure.

use crate::{
    config::{KeptApp, KeptApps},
    github::{AUTOBUILD_PERMISSIONS, COACH_PERMISSIONS},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use url::Url;

const MANIFESTS: &str = include_str!("../../../app-manifest.yml");

/// The address to which GitHub sends the browser back after an App's registration.
pub(super) const REGISTERED: &str = "/setup/registered";

/// The address to which GitHub sends people after a sign-in.
pub const SIGNED_IN: &str = "/sign-in/github";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AppKind {
    /// The App that writes.
    Autobuild,
    /// The App that reviews.
    Coach,
}

impl AppKind {
    pub(super) const BOTH: [Self; 2] = [Self::Autobuild, Self::Coach];

    /// Returns the App's name on the page.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Autobuild => "AutoBuild",
            Self::Coach => "AutoBuild Coach",
        }
    }

    /// Returns the App's name in forms.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Autobuild => "autobuild",
            Self::Coach => "coach",
        }
    }

    /// Returns this App from the kept ones, if it is there.
    pub(super) fn app_in(self, kept: &KeptApps) -> Option<&KeptApp> {
        match self {
            Self::Autobuild => kept.autobuild.as_ref(),
            Self::Coach => kept.coach.as_ref(),
        }
    }

    pub(super) fn permissions(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Autobuild => AUTOBUILD_PERMISSIONS,
            Self::Coach => COACH_PERMISSIONS,
        }
    }

    pub(super) fn of_key(key: &str) -> Option<Self> {
        Self::BOTH.into_iter().find(|which| which.key() == key)
    }
}

/// An App's manifest in `app-manifest.yml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    name: String,
    description: String,
    /// An example; the service's own address is posted instead.
    #[serde(rename = "url")]
    _url: String,
    public: bool,
    hook_attributes: Hook,
    default_permissions: BTreeMap<String, String>,
    #[serde(default)]
    default_events: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hook {
    /// An example; the service's own address is posted instead.
    #[serde(rename = "url")]
    _url: String,
    active: bool,
}

impl Manifest {
    /// Returns an App's manifest; `None` only if the embedded file is wrong.
    pub(super) fn of(which: AppKind) -> Option<Self> {
        let both: Vec<Self> = serde_saphyr::from_multiple(MANIFESTS).ok()?;
        both.into_iter().find(|manifest| manifest.name == which.name())
    }

    /// Returns a name that is probably free: names of Apps are unique on a GitHub server.
    pub(super) fn proposed_name(&self, suffix: &str) -> String {
        format!("{} {suffix}", self.name)
    }

    /// Returns the manifest to post, for a service at this address. GitHub must send the browser back to the address
    /// that the browser uses now, since its cookie is valid only there.
    pub(super) fn posted(&self, name: &str, service: &Url, browser: &Url) -> Value {
        let under = |url: &Url, path: &str| format!("{}{path}", url.as_str().trim_end_matches('/'));
        let (at, back) = (|path: &str| under(service, path), |path: &str| under(browser, path));
        let mut posted = json!({
            "name": name,
            "description": self.description,
            "url": at("/"),
            "public": self.public,
            "hook_attributes": { "url": at("/webhook"), "active": self.hook_attributes.active },
            "redirect_url": back(REGISTERED),
            "callback_urls": [at(SIGNED_IN)],
            "setup_url": at("/setup"),
            "default_permissions": self.default_permissions,
        });
        if let (Some(posted), false) = (posted.as_object_mut(), self.default_events.is_empty()) {
            posted.insert("default_events".to_owned(), json!(self.default_events));
        }
        posted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_posted_manifests_hold_what_the_file_says_and_the_services_addresses() {
        let service: Url = "https://build.example/".parse().unwrap();
        let here: Url = "http://127.0.0.1:8080".parse().unwrap();
        let main = Manifest::of(AppKind::Autobuild).unwrap();
        let posted = main.posted(&main.proposed_name("7f3a"), &service, &here);
        assert_eq!(posted["name"], "AutoBuild 7f3a");
        assert_eq!(posted["hook_attributes"], json!({"url": "https://build.example/webhook", "active": true}));
        assert_eq!(posted["redirect_url"], "http://127.0.0.1:8080/setup/registered");
        assert_eq!(posted["callback_urls"], json!(["https://build.example/sign-in/github"]));
        assert_eq!(posted["setup_url"], "https://build.example/setup");
        assert_eq!(posted["url"], "https://build.example/");
        assert_eq!(posted["public"], false);
        assert_eq!(posted["default_permissions"]["contents"], "write");
        assert!(posted["default_events"].as_array().unwrap().contains(&json!("issues")));
        assert!(posted.get("request_oauth_on_install").is_none());

        let coach = Manifest::of(AppKind::Coach).unwrap();
        let name = coach.proposed_name("7f3a");
        assert!(name.len() <= 34, "GitHub takes no longer one");
        let posted = coach.posted(&name, &service, &here);
        assert_eq!(posted["hook_attributes"]["active"], false);
        assert!(posted.get("default_events").is_none());
    }
}
