//! Putting labels on and taking them off.

use super::super::{
    json,
    refusal::Refusal,
    state::{Actor, Label, State},
};
use crate::acts::limits::check_writable;
use serde_json::json;

impl State {
    /// Makes a label known to the repository, if it is not yet.
    pub(crate) fn make_label(
        &mut self,
        repo: u64,
        name: &str,
        color: Option<&str>,
        description: Option<&str>,
    ) -> Result<(), Refusal> {
        if name.trim().is_empty() || name.chars().count() > 50 {
            return Err(Refusal::invalid("Label", "name", "invalid"));
        }
        let id = self.next_id();
        self.repo_mut(repo)?
            .labels
            .entry(name.to_lowercase())
            .or_insert_with(|| Label {
                id,
                name: name.to_owned(),
                color: color.unwrap_or("ededed").to_owned(),
                description: description.map(str::to_owned),
            });
        Ok(())
    }

    /// Puts a label on an issue; one that is there already changes nothing.
    pub(crate) fn add_label(&mut self, by: Actor, repo: u64, number: u64, name: &str) -> Result<(), Refusal> {
        check_writable(self.repo(repo)?)?;
        self.issue(repo, number)?;
        self.make_label(repo, name, None, None)?;
        let name = self.known_label(repo, name)?;
        let at = self.clock.stamp();
        let issue = self.issue_mut(repo, number)?;
        if issue.labels.contains(&name) {
            return Ok(());
        }
        issue.labels.push(name.clone());
        issue.updated_at = at;
        self.label_event(by, repo, number, "labeled", &name)
    }

    /// Takes a label off an issue.
    pub(crate) fn remove_label(&mut self, by: Actor, repo: u64, number: u64, name: &str) -> Result<(), Refusal> {
        check_writable(self.repo(repo)?)?;
        let at = self.clock.stamp();
        let issue = self.issue_mut(repo, number)?;
        let Some(place) = issue.labels.iter().position(|label| label.eq_ignore_ascii_case(name)) else {
            return Err(Refusal::new(404, "Label does not exist"));
        };
        let name = issue.labels.remove(place);
        issue.updated_at = at;
        self.label_event(by, repo, number, "unlabeled", &name)
    }

    /// Makes an issue carry exactly these labels.
    pub(crate) fn set_labels(&mut self, by: Actor, repo: u64, number: u64, names: &[String]) -> Result<(), Refusal> {
        let before = self.issue(repo, number)?.labels.clone();
        for gone in before
            .iter()
            .filter(|old| !names.iter().any(|new| new.eq_ignore_ascii_case(old)))
        {
            self.remove_label(by, repo, number, gone)?;
        }
        names.iter().try_for_each(|name| self.add_label(by, repo, number, name))
    }

    fn known_label(&self, repo: u64, name: &str) -> Result<String, Refusal> {
        let label = self
            .repo(repo)?
            .labels
            .get(&name.to_lowercase())
            .ok_or_else(Refusal::not_found)?;
        Ok(label.name.clone())
    }

    fn label_event(&mut self, by: Actor, repo: u64, number: u64, action: &str, name: &str) -> Result<(), Refusal> {
        let known = self.repo(repo)?;
        let label = known
            .labels
            .get(&name.to_lowercase())
            .map(|label| json::label(self, known, label));
        self.issue_event(by, repo, number, action, json!({"label": label}))?;
        self.tell_issue(by, repo, number, action, name);
        Ok(())
    }
}
