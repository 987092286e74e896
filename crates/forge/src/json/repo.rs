//! Repositories.

use crate::{
    json::fields::{extend, links, time},
    state::{Repo, Role, State},
};
use serde_json::{Value, json};

const REPO_LINKS: [(&str, &str); 37] = [
    ("url", ""),
    ("forks_url", "/forks"),
    ("keys_url", "/keys{/key_id}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("teams_url", "/teams"),
    ("hooks_url", "/hooks"),
    ("issue_events_url", "/issues/events{/number}"),
    ("events_url", "/events"),
    ("assignees_url", "/assignees{/user}"),
    ("branches_url", "/branches{/branch}"),
    ("tags_url", "/tags"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("trees_url", "/git/trees{/sha}"),
    ("statuses_url", "/statuses/{sha}"),
    ("languages_url", "/languages"),
    ("stargazers_url", "/stargazers"),
    ("contributors_url", "/contributors"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("commits_url", "/commits{/sha}"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("comments_url", "/comments{/number}"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("contents_url", "/contents/{+path}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("merges_url", "/merges"),
    ("archive_url", "/{archive_format}{/ref}"),
    ("downloads_url", "/downloads"),
    ("issues_url", "/issues{/number}"),
    ("pulls_url", "/pulls{/number}"),
    ("milestones_url", "/milestones{/number}"),
    ("notifications_url", "/notifications{?since,all,participating}"),
    ("labels_url", "/labels{/name}"),
    ("releases_url", "/releases{/id}"),
    ("deployments_url", "/deployments"),
];

impl State {
    pub fn repo_api(&self, repo: &Repo) -> String {
        format!("{}/repos/{}", self.api(), self.full_name(repo))
    }

    pub fn repo_page(&self, repo: &Repo) -> String {
        format!("{}/{}", self.base, self.full_name(repo))
    }

    /// Returns a repository. With a role, it also shows the role's rights and the repository's options.
    pub fn repo_json(&self, repo: &Repo, role: Option<Role>) -> Value {
        let page = self.repo_page(repo);
        let open = repo.issues.values().filter(|issue| issue.open).count();
        let mut value = json!({
            "id": repo.id,
            "node_id": format!("R_{}", repo.id),
            "name": repo.name,
            "full_name": self.full_name(repo),
            "private": repo.settings.private,
            "owner": self.user_json(repo.owner),
            "html_url": page,
            "description": null,
            "fork": false,
            "created_at": time(repo.created_at),
            "updated_at": time(repo.updated_at),
            "pushed_at": time(repo.pushed_at),
            "git_url": format!("{page}.git"),
            "ssh_url": format!("{page}.git"),
            "clone_url": format!("{page}.git"),
            "svn_url": page,
        });
        let counted = json!({
            "homepage": null,
            "size": 1, "stargazers_count": 0, "watchers_count": 0, "language": null,
            "has_issues": repo.settings.has_issues, "has_projects": false, "has_downloads": true,
            "has_wiki": false, "has_pages": false, "has_discussions": false,
            "forks_count": 0, "mirror_url": null, "archived": repo.archived, "disabled": false,
            "open_issues_count": open, "license": null, "allow_forking": true, "is_template": false,
            "web_commit_signoff_required": false, "topics": [],
            "visibility": if repo.settings.private { "private" } else { "public" },
            "forks": 0, "open_issues": open, "watchers": 0,
            "default_branch": repo.default_branch,
        });
        extend(&mut value, counted);
        extend(&mut value, links(&self.repo_api(repo), &REPO_LINKS));
        if let Some(role) = role {
            extend(&mut value, allowances(repo, role));
        }
        value
    }
}

pub(crate) fn permissions_of(role: Role) -> Value {
    json!({
        "admin": role >= Role::Admin, "maintain": role >= Role::Maintain, "push": role >= Role::Write,
        "triage": role >= Role::Triage, "pull": role >= Role::Read,
    })
}

/// Returns the permissions of a role and the settings of the repository.
fn allowances(repo: &Repo, role: Role) -> Value {
    json!({
        "permissions": permissions_of(role),
        "allow_squash_merge": repo.settings.allow_squash_merge,
        "allow_merge_commit": repo.settings.allow_merge_commit,
        "allow_rebase_merge": repo.settings.allow_rebase_merge,
        "allow_auto_merge": false,
        "allow_update_branch": false,
        "delete_branch_on_merge": repo.settings.delete_branch_on_merge,
        "squash_merge_commit_title": "COMMIT_OR_PR_TITLE",
        "squash_merge_commit_message": "COMMIT_MESSAGES",
        "subscribers_count": 0, "network_count": 0,
    })
}
