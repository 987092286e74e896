//! Adds and removes labels.

use crate::{
    json,
    refusal::{Refusal, Result},
    state::{Access, Label, State, TimelineChange},
};
use serde_json::json;

impl State {
    /// Creates a label in the repository if it is new. Returns its name in the spelling that the repository has.
    pub(crate) fn make_label(
        &mut self,
        repo: u64,
        name: &str,
        color: Option<&str>,
        description: Option<&str>,
    ) -> Result<String> {
        if name.trim().is_empty() || name.chars().count() > 50 {
            return Err(Refusal::invalid("Label", "name", "invalid"));
        }
        let id = self.next_id();
        let labels = &mut self.repo_mut(repo)?.labels;
        let label = labels.entry(name.to_lowercase()).or_insert_with(|| Label {
            id,
            name: name.to_owned(),
            color: color.unwrap_or("ededed").to_owned(),
            description: description.map(str::to_owned),
        });
        Ok(label.name.clone())
    }

    /// Adds a label to an issue; nothing happens if the issue has it.
    pub(crate) fn add_label(&mut self, at: Access, number: u64, name: &str) -> Result {
        self.issue(at.repo, number)?;
        let name = self.make_label(at.repo, name, None, None)?;
        let now = self.clock.stamp();
        let issue = self.issue_mut(at.repo, number)?;
        if issue.labels.contains(&name) {
            return Ok(());
        }
        issue.labels.push(name.clone());
        issue.updated_at = now;
        self.label_event(at, number, "labeled", &name)
    }

    pub(crate) fn remove_label(&mut self, at: Access, number: u64, name: &str) -> Result {
        let now = self.clock.stamp();
        let issue = self.issue_mut(at.repo, number)?;
        let Some(place) = issue.labels.iter().position(|label| label.eq_ignore_ascii_case(name)) else {
            return Err(Refusal::new(404, "Label does not exist"));
        };
        let name = issue.labels.remove(place);
        issue.updated_at = now;
        issue.changed(now, at.by.user, TimelineChange::Unlabeled(name.clone()));
        self.label_event(at, number, "unlabeled", &name)
    }

    fn label_event(&mut self, at: Access, number: u64, action: &str, name: &str) -> Result {
        let repo = self.repo(at.repo)?;
        let label = repo.labels.get(&name.to_lowercase());
        let label = label.map(|label| json::label(self, repo, label));
        self.issue_event(at, number, action, json!({"label": label}))?;
        self.record_on_issue(at, number, action, name)
    }
}
