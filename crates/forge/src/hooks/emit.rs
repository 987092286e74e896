//! From something that happened to the deliveries it causes.

use super::super::{
    refusal::Refusal,
    state::{Delivery, Installation, Outcome, Selection, State, UserKind},
};
use serde_json::{Value, json};

/// Something that happened, as webhooks tell it.
pub(crate) struct Occasion<'a> {
    pub(crate) event: &'a str,
    pub(crate) action: Option<&'a str>,
    /// The repository it happened in.
    pub(crate) repo: Option<u64>,
    /// Who did it.
    pub(crate) sender: u64,
    /// The fields of the event's own.
    pub(crate) fields: Value,
    /// Who hears of it.
    pub(crate) audience: Audience,
}

/// Which Apps hear of an event.
pub(crate) enum Audience {
    /// All that cover the repository and subscribed to the event.
    Subscribed,
    /// The one whose check run it is, where it covers the repository.
    App(u64),
    /// The one that the installation belongs to, whether subscribed or not.
    Installation(u64),
}

impl Occasion<'_> {
    /// An event of a repository that all subscribers hear of.
    pub(crate) fn of_repo<'a>(
        event: &'a str,
        action: Option<&'a str>,
        repo: u64,
        sender: u64,
        fields: Value,
    ) -> Occasion<'a> {
        Occasion {
            event,
            action,
            repo: Some(repo),
            sender,
            fields,
            audience: Audience::Subscribed,
        }
    }

    /// An event of an installation itself.
    pub(crate) fn of_installation<'a>(
        event: &'a str,
        action: &'a str,
        installation: u64,
        sender: u64,
        fields: Value,
    ) -> Occasion<'a> {
        Occasion {
            event,
            action: Some(action),
            repo: None,
            sender,
            fields,
            audience: Audience::Installation(installation),
        }
    }
}

/// Who may write checks hears of them without subscribing.
fn comes_by_itself(one: &Installation, occasion: &Occasion<'_>) -> bool {
    let writes = one.permissions.get("checks").is_some_and(|level| level == "write");
    writes && ["check_run", "check_suite"].contains(&occasion.event)
}

impl State {
    /// Whether an installation covers a repository.
    pub fn covers(&self, one: &Installation, repo: u64) -> bool {
        self.repos.get(&repo).is_some_and(|known| known.owner == one.account)
            && match &one.selection {
                Selection::All => true,
                Selection::Selected(ids) => ids.contains(&repo),
            }
    }

    /// Writes down a delivery for every App that hears of this.
    pub(crate) fn emit(&mut self, occasion: &Occasion<'_>) {
        let listeners: Vec<(u64, u64)> = self
            .installations
            .values()
            .filter(|one| self.hears(one, occasion))
            .map(|one| (one.id, one.app))
            .collect();
        if listeners.is_empty() {
            return;
        }
        let guid = self.next_guid();
        let body = self.payload(occasion);
        for (installation, app) in listeners {
            let mut body = body.clone();
            if body.get("installation").is_none() {
                crate::json::put(
                    &mut body,
                    "installation",
                    json!({"id": installation, "node_id": format!("IN_{installation}")}),
                );
            }
            let id = self.next_id();
            let at = self.clock.stamp();
            self.deliveries.insert(
                id,
                Delivery {
                    id,
                    guid: guid.clone(),
                    app,
                    event: occasion.event.to_owned(),
                    action: occasion.action.map(str::to_owned),
                    installation: Some(installation),
                    repository: occasion.repo,
                    redelivery: false,
                    payload: body.to_string(),
                    outcome: Outcome::Due,
                    at,
                },
            );
            self.outbox.push_back(id);
        }
    }

    fn hears(&self, one: &Installation, occasion: &Occasion<'_>) -> bool {
        if self.apps.get(&one.app).is_none_or(|app| app.hook.is_none()) {
            return false;
        }
        let covered = || occasion.repo.is_some_and(|repo| self.covers(one, repo)) && one.suspended_at.is_none();
        match occasion.audience {
            Audience::Subscribed => {
                (one.events.contains(occasion.event) || comes_by_itself(one, occasion)) && covered()
            }
            Audience::App(app) => one.app == app && covered(),
            Audience::Installation(id) => one.id == id,
        }
    }

    fn payload(&self, occasion: &Occasion<'_>) -> Value {
        let mut body = json!({});
        if let Some(action) = occasion.action {
            crate::json::put(&mut body, "action", json!(action));
        }
        super::super::json::extend(&mut body, occasion.fields.clone());
        if let Some(repo) = occasion.repo.and_then(|id| self.repos.get(&id)) {
            if body.get("repository").is_none() {
                crate::json::put(&mut body, "repository", self.repo_json(repo, None));
            }
            if let Some(owner) = self
                .user(repo.owner)
                .filter(|owner| owner.kind == UserKind::Organization)
            {
                crate::json::put(&mut body, "organization", self.organization_json(owner));
            }
        }
        crate::json::put(&mut body, "sender", self.user_json(occasion.sender));
        body
    }

    /// Sends an earlier delivery again: the same GUID and bytes, a new id.
    pub(crate) fn redeliver(&mut self, id: u64) -> Result<u64, Refusal> {
        let (fresh, at) = (self.next_id(), self.clock.stamp());
        let mut again = self.deliveries.get(&id).cloned().ok_or_else(Refusal::not_found)?;
        (again.id, again.at, again.redelivery, again.outcome) = (fresh, at, true, Outcome::Due);
        self.deliveries.insert(fresh, again);
        self.outbox.push_back(fresh);
        Ok(fresh)
    }

    /// The newest delivery of every event that some App was told of and never acknowledged.
    pub(crate) fn unacknowledged(&self) -> Vec<u64> {
        let mut newest = std::collections::BTreeMap::new();
        let mut settled = std::collections::BTreeSet::new();
        for one in self.deliveries.values() {
            newest.insert((one.app, one.guid.clone()), one.id);
            if one.outcome.acknowledged() || one.outcome == Outcome::Due {
                settled.insert((one.app, one.guid.clone()));
            }
        }
        let mut ids: Vec<u64> = newest
            .into_iter()
            .filter(|(key, _)| !settled.contains(key))
            .map(|(_, id)| id)
            .collect();
        ids.sort_unstable();
        ids
    }

    fn next_guid(&mut self) -> String {
        let number = self.next_id();
        if let Some(seed) = self.seed {
            return format!("{seed:08x}-0000-4000-8000-{number:012x}");
        }
        let mut bytes = [0_u8; 16];
        if getrandom::fill(&mut bytes).is_err() {
            return format!("00000000-0000-4000-8000-{number:012x}");
        }
        let random = u128::from_be_bytes(bytes);
        let hex = format!("{random:032x}");
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
        format!(
            "{}-{}-4{}-8{}-{}",
            part(0, 8),
            part(8, 12),
            part(13, 16),
            part(17, 20),
            part(20, 32)
        )
    }
}
