//! Reads App manifests and refuses the same mistakes as GitHub.

use crate::state::Permissions;
use serde::Deserialize;
use std::collections::BTreeSet;

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

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Manifest {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) description: String,
    hook_attributes: Option<ManifestHook>,
    pub(crate) redirect_url: Option<String>,
    #[serde(default)]
    pub(crate) callback_urls: Vec<String>,
    pub(crate) setup_url: Option<String>,
    #[serde(default)]
    pub(crate) default_permissions: Permissions,
    #[serde(default)]
    pub(crate) default_events: BTreeSet<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct ManifestHook {
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
        let mut manifest: Self =
            serde_json::from_str(text).map_err(|error| vec![format!("Manifest is not valid JSON: {error}")])?;
        manifest.name = name.unwrap_or(&manifest.name).trim().to_owned();
        let wrong = problems(&manifest);
        if wrong.is_empty() { Ok(manifest) } else { Err(wrong) }
    }

    /// Returns the address of the webhooks, if the App has any.
    pub(crate) fn hook_url(&self) -> Option<&str> {
        self.hook_attributes.as_ref().filter(|hook| hook.active).map(|hook| hook.url.as_str())
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

fn problems(manifest: &Manifest) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |holds: bool, text: &str| {
        if !holds {
            wrong.push(text.to_owned());
        }
    };
    check(!manifest.name.is_empty(), "Name can't be blank");
    check(manifest.name.chars().count() <= LONGEST_NAME, "Name is too long (maximum is 34 characters)");
    check(is_web(&manifest.url), "Url must be a valid URL");
    let hook = manifest.hook_attributes.as_ref();
    check(hook.is_none_or(|hook| is_web(&hook.url)), "Hook url must be a valid URL");
    let redirect = manifest.redirect_url.as_deref();
    check(redirect.is_some_and(is_web), "Redirect url must be a valid URL");
    let others = manifest.callback_urls.iter().chain(&manifest.setup_url);
    check(others.into_iter().all(|url| is_web(url)), "Callback and setup urls must be valid URLs");
    check(manifest.callback_urls.len() <= MOST_CALLBACKS, "Callback urls: at most 10 are allowed");
    let known = |level: &String| ["read", "write", "admin"].contains(&level.as_str());
    check(manifest.default_permissions.values().all(known), "Default permissions must be read, write or admin");
    let unsupported = manifest.default_events.iter().filter(|event| {
        let needed = NEEDS.iter().find(|(name, _)| name == event);
        needed.is_some_and(|(_, permission)| !manifest.default_permissions.contains_key(*permission))
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
        assert_eq!(manifest.hook_url(), Some("https://example.com/hook"));
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
