//! The access of people to a repository, and the rules of its branches.

use super::{
    error::GithubError,
    http::{branch_path, segment},
    model::Actor,
    repo::Repo,
    rights::Rights,
};
use serde::Deserialize;
use serde_json::Value;

/// A level of access to a repository. Each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessLevel {
    /// Nothing.
    None,
    Read,
    /// Label and close issues.
    Triage,
    /// Push.
    Write,
    /// Change some settings.
    Maintain,
    /// Everything.
    Admin,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Rule {
    /// GitHub's name of it: `creation`, `pull_request`, `required_status_checks`, …
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub parameters: Value,
    #[serde(default, rename = "ruleset_id")]
    pub ruleset: Option<u64>,
}

/// The maker of AutoBuild's commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// AutoBuild makes them, unsigned.
    Unsigned,
    /// GitHub makes and signs them.
    Signed,
}

impl Rule {
    /// Returns `true` if the rule stops AutoBuild from making the branch, or from pushing such commits to it.
    pub fn forbids(&self, branch: &str, commits: Commits) -> bool {
        match self.kind.as_str() {
            "creation" | "update" | "pull_request" | "merge_queue" => true,
            "required_signatures" => commits == Commits::Unsigned,
            "branch_name_pattern" => !self.fits(branch),
            _ => false,
        }
    }

    /// `true` if the name fits the rule, as far as we can tell. Regular expressions are left to the push itself.
    fn fits(&self, branch: &str) -> bool {
        let text = |key: &str| self.parameters.get(key).and_then(Value::as_str);
        let negate = self.parameters.get("negate").and_then(Value::as_bool);
        let Some(pattern) = text("pattern") else { return true };
        let found = match text("operator") {
            Some("starts_with") => branch.starts_with(pattern),
            Some("ends_with") => branch.ends_with(pattern),
            Some("contains") => branch.contains(pattern),
            Some(_) | None => return true,
        };
        found != negate.unwrap_or(false)
    }

    pub fn approvals(&self) -> u64 {
        let count = self.parameters.get("required_approving_review_count");
        count.and_then(Value::as_u64).unwrap_or(0)
    }
}

/// A person's access, in GitHub's answer. The role is more precise than the permission, which has neither triage nor
/// maintain.
#[derive(Deserialize)]
pub(super) struct PermissionWire {
    pub(super) permission: String,
    role_name: Option<String>,
    pub(super) user: Option<Actor>,
}

impl Repo<'_> {
    /// Returns the current access of `login`. Bots, strangers and accounts that do not exist have none.
    pub async fn access_of(&self, login: &str) -> Result<AccessLevel, GithubError> {
        Ok(self.permission(login, Rights::Read).await?.map_or(AccessLevel::None, access))
    }

    /// Returns GitHub's answer about a person; `None` for an account that does not exist.
    pub(super) async fn permission(&self, login: &str, rights: Rights) -> Result<Option<PermissionWire>, GithubError> {
        match self.get(rights, &format!("/collaborators/{}/permission", segment(login))).await {
            Err(GithubError::NotFound) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Returns the rules for a branch of this name, even if it does not exist. An older Enterprise Server has no rules.
    pub async fn rules_for(&self, branch: &str) -> Result<Vec<Rule>, GithubError> {
        let tail = format!("/rules/branches/{}", branch_path(branch));
        match self.list(Rights::Read, &tail, |reply| reply.json()).await {
            Err(GithubError::NotFound) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Returns `true` if the App may always bypass the rule. It may not bypass a ruleset that it cannot see.
    pub async fn may_bypass(&self, rule: &Rule) -> Result<bool, GithubError> {
        let Some(id) = rule.ruleset else { return Ok(false) };
        let tail = format!("/rulesets/{id}");
        let bypass = self.get_at::<Option<String>>(Rights::Read, &tail, "/current_user_can_bypass");
        match bypass.await {
            Ok(bypass) => Ok(bypass.as_deref() == Some("always")),
            Err(GithubError::NotFound | GithubError::Forbidden { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns the access. The permission is used for a custom role.
fn access(wire: PermissionWire) -> AccessLevel {
    let of_role = wire.role_name.as_deref().and_then(level);
    of_role.or_else(|| level(&wire.permission)).unwrap_or(AccessLevel::None)
}

fn level(name: &str) -> Option<AccessLevel> {
    Some(match name {
        "none" => AccessLevel::None,
        "read" => AccessLevel::Read,
        "triage" => AccessLevel::Triage,
        "write" => AccessLevel::Write,
        "maintain" => AccessLevel::Maintain,
        "admin" => AccessLevel::Admin,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn level_of(permission: &str, role: Option<&str>) -> AccessLevel {
        let wire = PermissionWire { permission: permission.to_owned(), role_name: role.map(str::to_owned), user: None };
        access(wire)
    }

    #[test]
    fn a_role_refines_the_permission_and_a_made_up_one_does_not() {
        assert_eq!(level_of("read", Some("triage")), AccessLevel::Triage);
        assert_eq!(level_of("write", Some("maintain")), AccessLevel::Maintain);
        assert_eq!(level_of("write", Some("release-captain")), AccessLevel::Write);
        assert_eq!(level_of("admin", None), AccessLevel::Admin);
        assert_eq!(level_of("something", None), AccessLevel::None);
    }

    fn rule(kind: &str, parameters: serde_json::Value) -> Rule {
        Rule { kind: kind.to_owned(), parameters, ruleset: Some(4) }
    }

    #[test]
    fn a_rule_that_keeps_us_from_a_branch_is_known() {
        let branch = "autobuild/7/integration";
        let pattern = |operator: &str, pattern: &str, negate: bool| {
            let parameters = json!({"operator": operator, "pattern": pattern, "negate": negate});
            rule("branch_name_pattern", parameters)
        };
        let table = [
            (rule("creation", json!(null)), true),
            (rule("update", json!(null)), true),
            (rule("pull_request", json!({})), true),
            (rule("required_signatures", json!(null)), true),
            (rule("deletion", json!(null)), false),
            (rule("non_fast_forward", json!(null)), false),
            (rule("required_status_checks", json!({})), false),
            (rule("unheard_of", json!(null)), false),
            (pattern("starts_with", "feature/", false), true),
            (pattern("starts_with", "autobuild/", false), false),
            (pattern("contains", "autobuild", true), true),
            (pattern("regex", "^x", false), false),
            (rule("branch_name_pattern", json!("odd")), false),
        ];
        for (rule, expected) in table {
            assert_eq!(rule.forbids(branch, Commits::Unsigned), expected, "{rule:?}");
        }
        let signatures = rule("required_signatures", json!(null));
        assert!(!signatures.forbids(branch, Commits::Signed));
    }
}
