//! Turns events into webhook deliveries.

use crate::{
    json,
    refusal::{OrNotFound, Result},
    state::{Access, Delivery, Installation, Outcome, Selection, State, UserKind},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
pub(crate) enum Audience {
    /// All Apps that are subscribed to the event and whose installation covers the repository.
    Subscribed { repo: u64 },
    /// The App of a check run or suite, if an installation covers the repository.
    App { app: u64, repo: u64 },
    /// The App of this installation, subscribed or not.
    Installation(u64),
    /// This App, installed or not.
    Hook(u64),
}

impl Audience {
    fn repo(self) -> Option<u64> {
        match self {
            Self::Subscribed { repo } | Self::App { repo, .. } => Some(repo),
            Self::Installation(_) | Self::Hook(_) => None,
        }
    }
}

impl State {
    /// Returns `true` if an installation covers a repository.
    pub fn covers(&self, one: &Installation, repo: u64) -> bool {
        self.repos.get(&repo).is_some_and(|known| known.owner == one.account)
            && match &one.selection {
                Selection::All => true,
                Selection::Selected(ids) => ids.contains(&repo),
            }
    }

    /// Records a delivery of a repository's event for every App that is subscribed to it.
    pub(crate) fn emit(&mut self, at: Access, event: &str, action: Option<&str>, fields: Value) {
        self.emit_to(Audience::Subscribed { repo: at.repo }, at.by.user, event, action, fields);
    }

    /// Records a delivery for every App in the audience. `fields` are those that only this event has.
    pub(crate) fn emit_to(&mut self, to: Audience, sender: u64, event: &str, action: Option<&str>, fields: Value) {
        if let Audience::Subscribed { repo } = to {
            self.workflows_hear(repo, event, action, &fields);
        }
        let listeners = self.installations.values().filter(|one| self.hears(one, to, event));
        let mut listeners: Vec<(Option<u64>, u64)> = listeners.map(|one| (Some(one.id), one.app)).collect();
        if let Audience::Hook(app) = to {
            listeners.push((None, app));
        }
        if listeners.is_empty() {
            return;
        }
        let guid = self.next_guid();
        let body = self.payload(to.repo(), sender, action, fields);
        for (installation, app) in listeners {
            let mut body = body.clone();
            if let Some(installation) = installation.filter(|_| body.get("installation").is_none()) {
                let short = json!({"id": installation, "node_id": format!("IN_{installation}")});
                json::put(&mut body, "installation", short);
            }
            let (id, at) = (self.next_id(), self.clock.stamp());
            let delivery = Delivery {
                id,
                guid: guid.clone(),
                app,
                event: event.to_owned(),
                action: action.map(str::to_owned),
                installation,
                repository: to.repo(),
                redelivery: false,
                payload: body.to_string(),
                outcome: Outcome::Due,
                at,
            };
            self.deliveries.insert(id, delivery);
            self.outbox.push_back(id);
        }
    }

    fn hears(&self, one: &Installation, to: Audience, event: &str) -> bool {
        if self.apps.get(&one.app).is_none_or(|app| app.hook.is_none()) {
            return false;
        }
        // GitHub sends check events to Apps that may write checks, without a subscription.
        let comes_by_itself = one.writes("checks") && ["check_run", "check_suite"].contains(&event);
        let covered = |repo: u64| self.covers(one, repo) && one.suspended_at.is_none();
        match to {
            Audience::Subscribed { repo } => (one.events.contains(event) || comes_by_itself) && covered(repo),
            Audience::App { app, repo } => one.app == app && covered(repo),
            Audience::Installation(id) => one.id == id,
            Audience::Hook(_) => false,
        }
    }

    fn payload(&self, repo: Option<u64>, sender: u64, action: Option<&str>, fields: Value) -> Value {
        let mut body = json!({});
        if let Some(action) = action {
            json::put(&mut body, "action", action);
        }
        json::extend(&mut body, fields);
        if let Some(repo) = repo.and_then(|id| self.repos.get(&id)) {
            json::put(&mut body, "repository", self.repo_json(repo, None));
            let owner = self.user(repo.owner);
            if let Some(owner) = owner.filter(|owner| owner.kind == UserKind::Organization) {
                json::put(&mut body, "organization", self.organization_json(owner));
            }
        }
        json::put(&mut body, "sender", self.user_json(sender));
        body
    }

    /// Sends an earlier delivery again, with the same GUID and bytes and a new id.
    pub(crate) fn redeliver(&mut self, id: u64) -> Result<u64> {
        let (fresh, at) = (self.next_id(), self.clock.stamp());
        let mut again = self.deliveries.get(&id).cloned().or_not_found()?;
        (again.id, again.at, again.redelivery, again.outcome) = (fresh, at, true, Outcome::Due);
        self.deliveries.insert(fresh, again);
        self.outbox.push_back(fresh);
        Ok(fresh)
    }

    /// Returns the newest delivery to each App of each event that the App never acknowledged and that is not still due.
    pub(crate) fn unacknowledged(&self) -> Vec<u64> {
        let mut newest = BTreeMap::new();
        for one in self.deliveries.values() {
            let settled = one.outcome.acknowledged() || one.outcome == Outcome::Due;
            let (id, settled_before) = newest.entry((one.app, &one.guid)).or_insert((one.id, false));
            (*id, *settled_before) = (one.id, *settled_before || settled);
        }
        let open = newest.into_values().filter(|(_, settled)| !settled);
        let mut ids: Vec<u64> = open.map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    fn next_guid(&mut self) -> String {
        let number = self.next_id();
        let mut bytes = [0_u8; 16];
        if let Some(seed) = self.seed {
            return format!("{seed:08x}-0000-4000-8000-{number:012x}");
        }
        if getrandom::fill(&mut bytes).is_err() {
            return format!("00000000-0000-4000-8000-{number:012x}");
        }
        let hex = format!("{:032x}", u128::from_be_bytes(bytes));
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        let (first, second, third) = (part(0, 8), part(8, 12), part(13, 16));
        format!("{first}-{second}-4{third}-8{}-{}", part(17, 20), part(20, 32))
    }
}
