//! Reads App manifests and refuses what GitHub refuses in one.

use crate::state::{AppDetails, Permissions};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The longest name of an App, in characters.
const LONGEST_NAME: usize = 34;
/// The most callback addresses of an App.
const MOST_CALLBACKS: usize = 10;

/// The permission that each event needs. Events that are not in the list need none.
const NEEDS: [(&str, &str); 10] = [
    ("check_run", "checks"),
    ("check_suite", "checks"),
    ("issue_comment", "issues"),
    ("issues", "issues"),
    ("label", "issues"),
    ("pull_request", "pull_requests"),
    ("pull_request_review", "pull_requests"),
    ("pull_request_review_comment", "pull_requests"),
    ("push", "contents"),
    ("status", "statuses"),
];

#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    /// The address of the webhooks, if the App has any.
    pub(crate) hook: Option<String>,
    pub(crate) redirect_url: String,
    pub(crate) permissions: Permissions,
    pub(crate) events: BTreeSet<String>,
    pub(crate) details: AppDetails,
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    name: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    description: String,
    hook_attributes: Option<WrittenHook>,
    redirect_url: Option<String>,
    #[serde(default)]
    callback_urls: Vec<String>,
    setup_url: Option<String>,
    #[serde(default)]
    default_permissions: BTreeMap<String, String>,
    #[serde(default)]
    default_events: BTreeSet<String>,
}

#[derive(Deserialize)]
struct WrittenHook {
    #[serde(default)]
    url: String,
    #[serde(default = "active")]
    active: bool,
}

fn active() -> bool {
    true
}

impl Manifest {
    /// Reads a manifest; `name` is the name that the person typed instead of the manifest's. An error lists all
    /// problems.
    pub(crate) fn read(text: &str, name: Option<&str>) -> Result<Self, Vec<String>> {
        let written: Written =
            serde_json::from_str(text).map_err(|error| vec![format!("Manifest is not valid JSON: {error}")])?;
        let name = name.unwrap_or(&written.name).trim().to_owned();
        let wrong = problems(&written, &name);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let hook = written.hook_attributes.filter(|hook| hook.active).map(|hook| hook.url);
        Ok(Self {
            name,
            hook,
            redirect_url: written.redirect_url.unwrap_or_default(),
            permissions: written.default_permissions,
            events: written.default_events,
            details: AppDetails {
                description: written.description,
                homepage: written.url,
                setup_url: written.setup_url,
                callback_urls: written.callback_urls,
                client_secret: String::new(),
            },
        })
    }

    /// Returns the App's name for addresses.
    pub(crate) fn slug(&self) -> String {
        let kept = |c: char| {
            if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
        };
        let slug: String = self.name.chars().map(kept).collect();
        let parts: Vec<&str> = slug.split('-').filter(|part| !part.is_empty()).collect();
        parts.join("-")
    }
}

fn problems(written: &Written, name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |holds: bool, text: &str| {
        if !holds {
            wrong.push(text.to_owned());
        }
    };
    check(!name.is_empty(), "Name can't be blank");
    check(name.chars().count() <= LONGEST_NAME, "Name is too long (maximum is 34 characters)");
    check(is_web(&written.url), "Url must be a valid URL");
    let hook = written.hook_attributes.as_ref();
    check(hook.is_none_or(|hook| is_web(&hook.url)), "Hook url must be a valid URL");
    let redirect = written.redirect_url.as_deref();
    check(redirect.is_some_and(is_web), "Redirect url must be a valid URL");
    let others = written.callback_urls.iter().chain(&written.setup_url);
    check(others.into_iter().all(|url| is_web(url)), "Callback and setup urls must be valid URLs");
    check(written.callback_urls.len() <= MOST_CALLBACKS, "Callback urls: at most 10 are allowed");
    let known = |level: &String| ["read", "write", "admin"].contains(&level.as_str());
    check(written.default_permissions.values().all(known), "Default permissions must be read, write or admin");
    let unsupported = written.default_events.iter().filter(|event| {
        let needed = NEEDS.iter().find(|(name, _)| name == event);
        needed.is_some_and(|(_, permission)| !written.default_permissions.contains_key(*permission))
    });
    for event in unsupported {
        wrong.push(format!("Default events are not supported by permissions: {event}"));
    }
    wrong
}

fn is_web(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::Manifest;
    use serde_json::{Value, json};

    fn good() -> Value {
        json!({
            "name": "Build Bot", "url": "https://example.com", "redirect_url": "https://example.com/back",
            "hook_attributes": {"url": "https://example.com/hook"},
            "default_permissions": {"issues": "write"}, "default_events": ["issues"],
        })
    }

    fn wrong(field: &str, value: Value) -> Vec<String> {
        let mut manifest = good();
        manifest[field] = value;
        Manifest::read(&manifest.to_string(), None).err().unwrap_or_default()
    }

    #[test]
    fn a_manifest_is_read_and_what_github_refuses_is_named() {
        let manifest = Manifest::read(&good().to_string(), Some(" Build  it! ")).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.slug().as_str()), ("Build  it!", "build-it"));
        assert_eq!(manifest.hook.as_deref(), Some("https://example.com/hook"));
        for (field, value, said) in [
            ("name", json!("x".repeat(35)), "Name is too long (maximum is 34 characters)"),
            ("name", json!(" "), "Name can't be blank"),
            ("url", json!("nowhere"), "Url must be a valid URL"),
            ("hook_attributes", json!({}), "Hook url must be a valid URL"),
            ("redirect_url", Value::Null, "Redirect url must be a valid URL"),
            ("setup_url", json!("javascript:alert(1)"), "Callback and setup urls must be valid URLs"),
            ("default_events", json!(["push"]), "Default events are not supported by permissions: push"),
        ] {
            assert_eq!(wrong(field, value), [said], "{field}");
        }
        assert!(Manifest::read("name: x", None).is_err());
    }
}
