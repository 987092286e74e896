//! The permissions of our Apps, and the part of them that each token gets.

/// The permissions that the AutoBuild App requests, the same as in `app-manifest.yml`.
pub const AUTOBUILD_PERMISSIONS: &[(&str, &str)] = &[
    ("checks", "write"),
    ("contents", "write"),
    ("issues", "write"),
    ("metadata", "read"),
    ("pull_requests", "write"),
    ("statuses", "read"),
];

/// The permissions that the AutoBuild Coach App requests.
pub const COACH_PERMISSIONS: &[(&str, &str)] = &[("metadata", "read"), ("pull_requests", "write")];

/// The events that the AutoBuild App subscribes to, as `app-manifest.yml` lists them.
pub const AUTOBUILD_EVENTS: &[&str] = include!(concat!(env!("OUT_DIR"), "/events.rs"));

/// The purpose of a token. Each kind of call gets a token that allows nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rights {
    /// Seeing that a repository exists.
    Metadata,
    /// Reading issues, pull requests and rules.
    Read,
    Fetch,
    /// Pushing with git, and making and deleting branches.
    Push,
    /// Comments and reactions on issues and pull requests.
    Converse,
    /// Opening and changing pull requests, and reviewing them.
    Pulls,
    /// Marking as ready, merging and dismissing reviews, which need both permissions.
    Land,
    Checks,
    /// Reading other Apps' checks of a commit.
    Evidence,
}

impl Rights {
    /// Returns the permissions with GitHub's names.
    pub fn permissions(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Metadata => &[("metadata", "read")],
            Self::Read => &[("metadata", "read"), ("contents", "read"), ("issues", "read"), ("pull_requests", "read")],
            Self::Fetch => &[("metadata", "read"), ("contents", "read")],
            Self::Push => &[("metadata", "read"), ("contents", "write")],
            Self::Converse => &[("metadata", "read"), ("issues", "write"), ("pull_requests", "write")],
            Self::Pulls => &[("metadata", "read"), ("pull_requests", "write")],
            Self::Land => &[("metadata", "read"), ("contents", "write"), ("pull_requests", "write")],
            Self::Checks => &[("metadata", "read"), ("checks", "write")],
            Self::Evidence => &[("metadata", "read"), ("checks", "read"), ("statuses", "read")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    const ALL: [Rights; 9] = [
        Rights::Metadata,
        Rights::Read,
        Rights::Fetch,
        Rights::Push,
        Rights::Converse,
        Rights::Pulls,
        Rights::Land,
        Rights::Checks,
        Rights::Evidence,
    ];

    #[derive(Deserialize)]
    struct Manifest {
        name: String,
        public: bool,
        hook_attributes: Hook,
        default_permissions: BTreeMap<String, String>,
        #[serde(default)]
        default_events: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Hook {
        active: bool,
    }

    fn manifests() -> [Manifest; 2] {
        let text = include_str!("../../app-manifest.yml");
        let both: Vec<Manifest> = serde_saphyr::from_multiple(text).unwrap();
        both.try_into().ok().unwrap()
    }

    fn owned(permissions: &[(&str, &str)]) -> BTreeMap<String, String> {
        permissions.iter().map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect()
    }

    /// Returns the highest level of each permission that tokens are minted with.
    fn minted(rights: &[Rights]) -> BTreeMap<String, String> {
        let mut highest = BTreeMap::new();
        for (name, level) in rights.iter().flat_map(|one| one.permissions()) {
            let kept: &mut String = highest.entry((*name).to_owned()).or_default();
            if kept != "write" {
                (*level).clone_into(kept);
            }
        }
        highest
    }

    #[test]
    fn the_manifest_asks_for_what_the_code_uses_and_no_more() {
        let [main, coach] = manifests();
        assert_eq!(main.name, "AutoBuild");
        assert_eq!(main.default_permissions, owned(AUTOBUILD_PERMISSIONS));
        assert!(main.hook_attributes.active && !main.public);
        assert_eq!(coach.name, "AutoBuild Coach");
        assert_eq!(coach.default_permissions, owned(COACH_PERMISSIONS));
        assert!(!coach.hook_attributes.active && coach.default_events.is_empty() && !coach.public);
    }

    #[test]
    fn an_app_asks_for_exactly_what_its_tokens_are_minted_with() {
        assert_eq!(minted(&ALL), owned(AUTOBUILD_PERMISSIONS));
        assert_eq!(minted(&[Rights::Metadata, Rights::Pulls]), owned(COACH_PERMISSIONS));
    }
}
