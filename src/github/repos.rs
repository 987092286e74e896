//! Who may do what in a repository, and which rules its branches have.

use super::{
    error::GithubError,
    http::{branch_path, segment},
    repo::Repo,
    rights::Rights,
};
use serde::Deserialize;
use serde_json::Value;

/// What somebody may do in a repository; each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessLevel {
    /// Nothing.
    None,
    /// Read.
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

/// Somebody's access to a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryAccess {
    /// The level.
    pub level: AccessLevel,
    /// GitHub's name of the role, which may be one that the organisation made up.
    pub role: String,
}

/// One rule that holds for a branch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Rule {
    /// GitHub's name of it: `creation`, `pull_request`, `required_status_checks`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Its parameters, whatever they are.
    #[serde(default)]
    pub parameters: Value,
    /// The ruleset that it belongs to.
    #[serde(default, rename = "ruleset_id")]
    pub ruleset: Option<u64>,
}

/// Whether commits are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// They are not.
    Unsigned,
    /// GitHub makes and signs them.
    Signed,
}

impl Rule {
    /// Whether it keeps AutoBuild from making the branch, or from bringing such commits to it.
    pub fn forbids(&self, branch: &str, commits: Commits) -> bool {
        match self.kind.as_str() {
            "creation" | "update" | "pull_request" | "merge_queue" => true,
            "required_signatures" => commits == Commits::Unsigned,
            "branch_name_pattern" => !self.fits(branch),
            _ => false,
        }
    }

    /// Whether the name is as the rule wants it; of a regular expression the push itself tells.
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

    /// How many approvals it asks for.
    pub fn approvals(&self) -> u64 {
        let count = self.parameters.get("required_approving_review_count");
        count.and_then(Value::as_u64).unwrap_or(0)
    }
}

#[derive(Deserialize)]
struct PermissionWire {
    permission: String,
    role_name: Option<String>,
}

#[derive(Deserialize)]
struct RulesetWire {
    #[serde(default)]
    current_user_can_bypass: Option<String>,
}

impl Repo<'_> {
    /// What `login` may do here, asked now. Bots, strangers and accounts that do not exist may do nothing.
    pub async fn access_of(&self, login: &str) -> Result<RepositoryAccess, GithubError> {
        let tail = format!("/collaborators/{}/permission", segment(login));
        match self.get::<PermissionWire>(Rights::Read, &tail).await {
            Ok(wire) => Ok(access(wire)),
            Err(GithubError::NotFound) => Ok(RepositoryAccess {
                level: AccessLevel::None,
                role: String::new(),
            }),
            Err(error) => Err(error),
        }
    }

    /// The rules that hold for a branch of this name, whether it is there or not. An older Enterprise Server knows none.
    pub async fn rules_for(&self, branch: &str) -> Result<Vec<Rule>, GithubError> {
        let tail = format!("/rules/branches/{}", branch_path(branch));
        match self.list(Rights::Read, &tail, |reply| reply.json()).await {
            Err(GithubError::NotFound) => Ok(Vec::new()),
            other => other,
        }
    }
}

impl Repo<'_> {
    /// Whether the App may always pass over the rule. A ruleset that we may not see is not ours to pass over.
    pub async fn may_bypass(&self, rule: &Rule) -> Result<bool, GithubError> {
        let Some(id) = rule.ruleset else { return Ok(false) };
        match self.get::<RulesetWire>(Rights::Read, &format!("/rulesets/{id}")).await {
            Ok(ruleset) => Ok(ruleset.current_user_can_bypass.as_deref() == Some("always")),
            Err(GithubError::NotFound | GithubError::Forbidden { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The role says more than the permission, which knows neither triage nor maintain; but a role may be made up.
fn access(wire: PermissionWire) -> RepositoryAccess {
    let role = wire.role_name.unwrap_or_default();
    let level = level(&role)
        .or_else(|| level(&wire.permission))
        .unwrap_or(AccessLevel::None);
    RepositoryAccess { level, role }
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
        let wire = PermissionWire {
            permission: permission.to_owned(),
            role_name: role.map(str::to_owned),
        };
        access(wire).level
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
        Rule {
            kind: kind.to_owned(),
            parameters,
            ruleset: Some(4),
        }
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
