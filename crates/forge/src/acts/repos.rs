//! Creates, renames, archives and removes repositories, and commits files for people.

use crate::{
    acts::merging::ident,
    feed::FeedEvent,
    hooks::Audience,
    refusal::{OrNotFound, Refusal, Result},
    site::Site,
    state::{Access, Actor, Repo, Selection, Settings, State},
};
use git::bare::{ExpectedRef, NewCommit};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl State {
    /// Records a new repository; returns its id.
    pub(crate) fn new_repo(&mut self, owner: u64, name: &str, default_branch: &str, settings: Settings) -> u64 {
        let (id, now) = (self.next_id(), self.clock.stamp());
        let repo = Repo {
            id,
            owner,
            name: name.to_owned(),
            default_branch: default_branch.to_owned(),
            settings,
            created_at: now,
            updated_at: now,
            pushed_at: now,
            ..Repo::default()
        };
        self.repos.insert(id, repo);
        id
    }

    /// Sends and records an event about the repository itself.
    fn repo_event(&mut self, at: Access, action: &str, fields: Value) {
        self.emit(at, "repository", Some(action), fields);
        let news = FeedEvent::new(format!("repository.{action}"), format!("{action} the repository"), "");
        self.record_event(at.by, Some(at.repo), news);
    }

    /// Renames a repository. The old name leads to it until another repository takes it.
    pub(crate) fn rename_repo(&mut self, at: Access, name: &str) -> Result {
        let full = self.full_name(self.repo(at.repo)?).to_lowercase();
        self.former_names.insert(full, at.repo);
        let old = std::mem::replace(&mut self.repo_mut(at.repo)?.name, name.to_owned());
        let changes = json!({"changes": {"repository": {"name": {"from": old}}}});
        self.repo_event(at, "renamed", changes);
        Ok(())
    }

    /// Gives a repository to another owner. The installations of the old one lose it.
    pub(crate) fn transfer_repo(&mut self, at: Access, to: u64) -> Result {
        let full = self.full_name(self.repo(at.repo)?).to_lowercase();
        self.former_names.insert(full, at.repo);
        self.leave_installations(at);
        let from = self.repo(at.repo)?.owner;
        let changes = json!({"changes": {"owner": {"from": {"user": self.user_json(from)}}}});
        self.repo_mut(at.repo)?.owner = to;
        self.repo_event(at, "transferred", changes);
        Ok(())
    }

    /// Makes a repository read-only, or writable again.
    pub(crate) fn set_archived(&mut self, at: Access, archived: bool) -> Result {
        self.repo_mut(at.repo)?.archived = archived;
        self.repo_event(at, if archived { "archived" } else { "unarchived" }, json!({}));
        Ok(())
    }

    pub(crate) fn make_private(&mut self, at: Access) -> Result {
        self.repo_mut(at.repo)?.settings.private = true;
        self.repo_event(at, "privatized", json!({}));
        Ok(())
    }

    /// Removes a repository from the state.
    pub(crate) fn delete_repo(&mut self, at: Access) -> Result {
        self.repo(at.repo)?;
        self.repo_event(at, "deleted", json!({}));
        self.leave_installations(at);
        self.repos.remove(&at.repo);
        self.former_names.retain(|_, id| *id != at.repo);
        Ok(())
    }

    fn leave_installations(&mut self, at: Access) {
        let chose = |selection: &Selection| matches!(selection, Selection::Selected(ids) if ids.contains(&at.repo));
        let installations = self.installations.values().filter(|one| chose(&one.selection));
        let ids: Vec<u64> = installations.map(|one| one.id).collect();
        for id in ids {
            let now = self.clock.stamp();
            let Some(one) = self.installations.get_mut(&id) else {
                continue;
            };
            one.updated_at = now;
            if let Selection::Selected(ids) = &mut one.selection {
                ids.remove(&at.repo);
            }
            let one = one.clone();
            let repo = self.repos.get(&at.repo);
            let fields = json!({
                "installation": self.installation_json(&one),
                "repository_selection": "selected",
                "repositories_added": [],
                "repositories_removed": repo.map(|repo| vec![self.short_repo(repo)]),
                "requester": null,
            });
            let (to, sender) = (Audience::Installation(id), at.by.user);
            self.emit_to(to, sender, "installation_repositories", Some("removed"), fields);
        }
    }

    pub(crate) fn covered(&self, installation: u64) -> Vec<&Repo> {
        let one = self.installations.get(&installation);
        let covers = |repo: &&Repo| one.is_some_and(|one| self.covers(one, repo.id));
        self.repos.values().filter(covers).collect()
    }

    fn short_repo(&self, repo: &Repo) -> Value {
        json!({
            "id": repo.id,
            "node_id": format!("R_{}", repo.id),
            "name": repo.name,
            "full_name": self.full_name(repo),
            "private": repo.settings.private,
        })
    }

    /// Sends and records a change of an installation.
    pub(crate) fn installation_event(&mut self, by: Actor, installation: u64, action: &str) -> Result {
        let one = self.installations.get(&installation).or_not_found()?;
        let covered = self.covered(installation).into_iter();
        let slug = self.apps.get(&one.app).map(|app| app.slug.clone());
        let fields = json!({
            "installation": self.installation_json(one),
            "repositories": covered.map(|repo| self.short_repo(repo)).collect::<Vec<_>>(),
            "requester": null,
        });
        let to = Audience::Installation(installation);
        self.emit_to(to, by.user, "installation", Some(action), fields);
        let kind = format!("installation.{action}");
        let news = FeedEvent::new(kind, format!("installation {action}"), slug.unwrap_or_default());
        self.record_event(by, None, news);
        Ok(())
    }
}

impl Site {
    /// Commits whole files to a branch and pushes; a new branch starts at the default branch's head. Returns the
    /// commit.
    pub(crate) async fn commit_files(
        &self,
        at: Access,
        branch: &str,
        message: &str,
        files: &BTreeMap<String, Option<Vec<u8>>>,
    ) -> Result<String> {
        let _gate = self.moving(at).await?;
        let (parent, author) = self.change(|state| {
            let seconds = state.clock.stamp().timestamp();
            let repo = state.repo(at.repo)?;
            let default = || repo.branches.get(&repo.default_branch);
            let head = repo.branches.get(branch).or_else(default);
            Ok::<_, Refusal>((head.cloned(), ident(state, at.by.user, seconds)))
        })?;
        let new = NewCommit { branch, parent: parent.as_deref(), author: &author, message, files };
        let sha = self.bare(at.repo).write_commit(&new).await?;
        self.branches_moved(at).await?;
        Ok(sha)
    }

    /// Creates or moves a branch (`to` a commit) or removes it (`None`), as a forced push does.
    pub(crate) async fn set_branch(&self, at: Access, branch: &str, to: Option<&str>) -> Result {
        let _gate = self.moving(at).await?;
        let name = format!("refs/heads/{branch}");
        match to {
            Some(sha) => self.bare(at.repo).update_ref(&name, sha, ExpectedRef::Any).await?,
            None => self.bare(at.repo).delete_ref(&name).await?,
        }
        self.branches_moved(at).await
    }
}
