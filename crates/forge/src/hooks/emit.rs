//! Turns events into webhook deliveries.

use crate::{
    json,
    refusal::{Found, Result},
    state::{Access, Delivery, Installation, Outcome, Selection, State, UserKind},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An event, as webhooks report it.
pub(crate) struct Occasion<'a> {
    pub(crate) event: &'a str,
    pub(crate) action: Option<&'a str>,
    /// The Apps that receive it.
    pub(crate) audience: Audience,
    /// The repository of the event.
    pub(crate) repo: Option<u64>,
    /// The account that caused it.
    pub(crate) sender: u64,
    /// The fields that only this event has.
    pub(crate) fields: Value,
}

/// The Apps that receive an event.
pub(crate) enum Audience {
    /// All Apps that are subscribed to the event and whose installation covers the repository.
    Subscribed,
    /// The App of a check run or suite, if an installation covers the repository.
    App(u64),
    /// The App of this installation, subscribed or not.
    Installation(u64),
    /// This App, installed or not.
    Hook(u64),
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
        let (repo, sender) = (Some(at.repo), at.by.user);
        self.emit_to(Occasion {
            event,
            action,
            audience: Audience::Subscribed,
            repo,
            sender,
            fields,
        });
    }

    /// Records a delivery for every App in the event's audience.
    pub(crate) fn emit_to(&mut self, occasion: Occasion<'_>) {
        let installations = self.installations.values();
        let listeners = installations.filter(|one| self.hears(one, &occasion));
        let mut listeners: Vec<(Option<u64>, u64)> = listeners.map(|one| (Some(one.id), one.app)).collect();
        if let Audience::Hook(app) = occasion.audience {
            listeners.push((None, app));
        }
        if listeners.is_empty() {
            return;
        }
        let (event, action) = (occasion.event.to_owned(), occasion.action.map(str::to_owned));
        let (guid, repository) = (self.next_guid(), occasion.repo);
        let body = self.payload(occasion);
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
                event: event.clone(),
                action: action.clone(),
                installation,
                repository,
                redelivery: false,
                payload: body.to_string(),
                outcome: Outcome::Due,
                at,
            };
            self.deliveries.insert(id, delivery);
            self.outbox.push_back(id);
        }
    }

    fn hears(&self, one: &Installation, occasion: &Occasion<'_>) -> bool {
        if self.apps.get(&one.app).is_none_or(|app| app.hook.is_none()) {
            return false;
        }
        // GitHub sends check events to Apps that may write checks, without a subscription.
        let comes_by_itself = one.writes("checks") && ["check_run", "check_suite"].contains(&occasion.event);
        let covered = || occasion.repo.is_some_and(|repo| self.covers(one, repo)) && one.suspended_at.is_none();
        match occasion.audience {
            Audience::Subscribed => (one.events.contains(occasion.event) || comes_by_itself) && covered(),
            Audience::App(app) => one.app == app && covered(),
            Audience::Installation(id) => one.id == id,
            Audience::Hook(_) => false,
        }
    }

    fn payload(&self, occasion: Occasion<'_>) -> Value {
        let mut body = json!({});
        if let Some(action) = occasion.action {
            json::put(&mut body, "action", action);
        }
        json::extend(&mut body, occasion.fields);
        if let Some(repo) = occasion.repo.and_then(|id| self.repos.get(&id)) {
            if body.get("repository").is_none() {
                json::put(&mut body, "repository", self.repo_json(repo, None));
            }
            let owner = self.user(repo.owner);
            if let Some(owner) = owner.filter(|owner| owner.kind == UserKind::Organization) {
                json::put(&mut body, "organization", self.organization_json(owner));
            }
        }
        json::put(&mut body, "sender", self.user_json(occasion.sender));
        body
    }

    /// Sends an earlier delivery again, with the same GUID and bytes and a new id.
    pub(crate) fn redeliver(&mut self, id: u64) -> Result<u64> {
        let (fresh, at) = (self.next_id(), self.clock.stamp());
        let mut again = self.deliveries.get(&id).cloned().found()?;
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
