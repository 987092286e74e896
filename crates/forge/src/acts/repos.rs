//! Repositories as things: made, renamed, moved, archived, removed; and branches written by people.

use super::{
    super::{
        feed::{EventOutcome, Telling},
        hooks::{Audience, Occasion},
        refusal::Refusal,
        site::Site,
        state::{Actor, Repo, Selection, Settings, State},
    },
    merging::ident,
};
use git::bare::NewCommit;
use serde_json::json;
use std::collections::BTreeMap;

impl State {
    /// Makes a repository's record.
    pub(crate) fn new_repo(&mut self, owner: u64, name: &str, default_branch: &str, settings: Settings) -> u64 {
        let (id, at) = (self.next_id(), self.clock.stamp());
        let repo = Repo {
            id,
            owner,
            name: name.to_owned(),
            default_branch: default_branch.to_owned(),
            settings,
            archived: false,
            collaborators: BTreeMap::new(),
            labels: BTreeMap::new(),
            last_number: 0,
            issues: BTreeMap::new(),
            branches: BTreeMap::new(),
            tags: BTreeMap::new(),
            rules: Vec::new(),
            checks: BTreeMap::new(),
            suites: BTreeMap::new(),
            head_commits: BTreeMap::new(),
            statuses: Vec::new(),
            ci: Vec::new(),
            created_at: at,
            updated_at: at,
            pushed_at: at,
        };
        self.repos.insert(id, repo);
        id
    }

    /// Tells of a change of the repository itself.
    fn repo_event(&mut self, by: Actor, repo: u64, action: &str, fields: serde_json::Value) {
        self.emit(&Occasion::of_repo("repository", Some(action), repo, by.user, fields));
        let kind = format!("repository.{action}");
        let telling = Telling {
            kind: &kind,
            what: format!("{action} the repository"),
            number: None,
            page: String::new(),
            text: String::new(),
            outcome: EventOutcome::Neutral,
        };
        self.tell(by, Some(repo), telling);
    }

    /// Gives a repository another name; the old one leads to it until it is taken.
    pub(crate) fn rename_repo(&mut self, by: Actor, repo: u64, name: &str) -> Result<(), Refusal> {
        let known = self.repo(repo)?;
        let (old, full) = (known.name.clone(), self.full_name(known));
        self.former_names.insert(full.to_lowercase(), repo);
        name.clone_into(&mut self.repo_mut(repo)?.name);
        let changes = json!({"changes": {"repository": {"name": {"from": old}}}});
        self.repo_event(by, repo, "renamed", changes);
        Ok(())
    }

    /// Makes a repository read-only, or writable again.
    pub(crate) fn archive_repo(&mut self, by: Actor, repo: u64, archived: bool) -> Result<(), Refusal> {
        self.repo_mut(repo)?.archived = archived;
        self.repo_event(by, repo, if archived { "archived" } else { "unarchived" }, json!({}));
        Ok(())
    }

    /// Hands a repository to another account. Only Apps installed there hear of it.
    pub(crate) fn transfer_repo(&mut self, by: Actor, repo: u64, to: u64) -> Result<(), Refusal> {
        let known = self.repo(repo)?;
        let (from, full) = (known.owner, self.full_name(known));
        self.former_names.insert(full.to_lowercase(), repo);
        self.leave_installations(by, repo);
        self.repo_mut(repo)?.owner = to;
        let changes = json!({"changes": {"owner": {"from": {"user": self.user_json(from)}}}});
        self.repo_event(by, repo, "transferred", changes);
        Ok(())
    }

    /// Removes a repository's record.
    pub(crate) fn delete_repo(&mut self, by: Actor, repo: u64) -> Result<(), Refusal> {
        self.repo(repo)?;
        self.repo_event(by, repo, "deleted", json!({}));
        self.leave_installations(by, repo);
        self.repos.remove(&repo);
        self.former_names.retain(|_, id| *id != repo);
        Ok(())
    }

    /// Takes a repository out of the installations that chose it.
    fn leave_installations(&mut self, by: Actor, repo: u64) {
        let chosen: Vec<u64> = self
            .installations
            .values()
            .filter(|one| matches!(&one.selection, Selection::Selected(ids) if ids.contains(&repo)))
            .map(|one| one.id)
            .collect();
        for id in chosen {
            let ids = [repo].into();
            // The installation was found a moment ago.
            let _ = self.change_selection(by, id, &Default::default(), &ids);
        }
    }

    /// Shows or hides a repository.
    pub(crate) fn set_private(&mut self, by: Actor, repo: u64, private: bool) -> Result<(), Refusal> {
        self.repo_mut(repo)?.settings.private = private;
        self.repo_event(by, repo, if private { "privatized" } else { "publicized" }, json!({}));
        Ok(())
    }

    /// The repositories that an installation covers.
    pub(crate) fn covered(&self, installation: u64) -> Vec<&Repo> {
        let Some(one) = self.installations.get(&installation) else {
            return Vec::new();
        };
        self.repos.values().filter(|repo| self.covers(one, repo.id)).collect()
    }

    /// Adds repositories to an installation and takes others out.
    pub(crate) fn change_selection(
        &mut self,
        by: Actor,
        installation: u64,
        add: &std::collections::BTreeSet<u64>,
        remove: &std::collections::BTreeSet<u64>,
    ) -> Result<(), Refusal> {
        let at = self.clock.stamp();
        let one = self
            .installations
            .get_mut(&installation)
            .ok_or_else(Refusal::not_found)?;
        one.updated_at = at;
        if let Selection::Selected(ids) = &mut one.selection {
            ids.extend(add);
            ids.retain(|id| !remove.contains(id));
        }
        let short = |id: &u64| self.repos.get(id).map(|repo| short_repo(self, repo));
        let added: Vec<_> = add.iter().filter_map(short).collect();
        let removed: Vec<_> = remove.iter().filter_map(short).collect();
        let shown = self
            .installations
            .get(&installation)
            .map(|one| self.installation_json(one));
        for (action, any) in [("added", !added.is_empty()), ("removed", !removed.is_empty())] {
            if any {
                let empty = Vec::new();
                let fields = json!({
                    "installation": shown,
                    "repository_selection": shown.as_ref().and_then(|one| one.get("repository_selection").cloned()),
                    "repositories_added": if action == "added" { &added } else { &empty },
                    "repositories_removed": if action == "removed" { &removed } else { &empty },
                    "requester": null,
                });
                let event = "installation_repositories";
                self.emit(&Occasion::of_installation(event, action, installation, by.user, fields));
            }
        }
        Ok(())
    }

    /// Tells an App of a change of one of its installations.
    pub(crate) fn installation_event(&mut self, by: Actor, installation: u64, action: &str) -> Result<(), Refusal> {
        let one = self.installations.get(&installation).ok_or_else(Refusal::not_found)?;
        let repositories: Vec<_> = self
            .covered(installation)
            .into_iter()
            .map(|repo| short_repo(self, repo))
            .collect();
        let fields = json!({
            "installation": self.installation_json(one),
            "repositories": repositories,
            "requester": null,
        });
        self.emit(&Occasion {
            event: "installation",
            action: Some(action),
            repo: None,
            sender: by.user,
            fields,
            audience: Audience::Installation(installation),
        });
        let slug = self
            .installations
            .get(&installation)
            .and_then(|one| self.apps.get(&one.app));
        let text = slug.map(|app| app.slug.clone()).unwrap_or_default();
        let kind = format!("installation.{action}");
        let telling = Telling {
            kind: &kind,
            what: format!("installation {action}"),
            number: None,
            page: String::new(),
            text,
            outcome: EventOutcome::Neutral,
        };
        self.tell(by, None, telling);
        Ok(())
    }
}

fn short_repo(state: &State, repo: &Repo) -> serde_json::Value {
    json!({
        "id": repo.id,
        "node_id": format!("R_{}", repo.id),
        "name": repo.name,
        "full_name": state.full_name(repo),
        "private": repo.settings.private,
    })
}

impl Site {
    /// Writes a commit of whole files on a branch, on `parent` or its head (a new branch: the default branch's), and
    /// pushes it.
    pub(crate) async fn commit_files(
        &self,
        by: Actor,
        repo: u64,
        branch: &str,
        parent: Option<&str>,
        message: &str,
        files: &BTreeMap<String, Option<Vec<u8>>>,
    ) -> Result<String, Refusal> {
        let _gate = self.gate(repo).await;
        let (parent, author) = self.change(|state| {
            let seconds = state.clock.stamp().timestamp();
            let known = state.repo(repo)?;
            let head = known
                .branches
                .get(branch)
                .or_else(|| known.branches.get(&known.default_branch));
            let parent = parent.map(str::to_owned).or_else(|| head.cloned());
            Ok::<_, Refusal>((parent, ident(state, by.user, seconds)))
        })?;
        let new = NewCommit {
            branch,
            parent: parent.as_deref(),
            author: &author,
            message,
            files,
        };
        let sha = self.bare(repo).write_commit(&new).await?;
        self.branches_moved(by, repo).await?;
        Ok(sha)
    }

    /// Moves, creates (`to`) or removes (none) a branch, as a person's forced push does.
    pub(crate) async fn set_branch(&self, by: Actor, repo: u64, branch: &str, to: Option<&str>) -> Result<(), Refusal> {
        let _gate = self.gate(repo).await;
        let name = format!("refs/heads/{branch}");
        match to {
            Some(sha) => self.bare(repo).update_ref(&name, sha, None).await?,
            None => self.bare(repo).delete_ref(&name).await?,
        }
        self.branches_moved(by, repo).await
    }
}
