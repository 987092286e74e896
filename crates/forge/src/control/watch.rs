//! Watches the forge and orders faults.

use crate::{
    auth::Caller,
    call::Call,
    disk::ForgeError,
    faults::{Fault, FaultOrder},
    feed::FeedEvent,
    forge::Forge,
    log::LoggedCall,
    rest,
};
use serde_json::Value;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
use tokio::sync::broadcast;

impl Forge {
    /// Returns all events, oldest first.
    pub fn events(&self) -> Vec<FeedEvent> {
        self.site.read(|state| state.feed.clone())
    }

    /// Returns a receiver of the events from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<FeedEvent> {
        self.site.feed.subscribe()
    }

    /// Returns every call since the start or the last [`Forge::clear_calls`].
    pub fn calls(&self) -> Vec<LoggedCall> {
        self.site.calls.lock().clone()
    }

    /// Returns the calls that the forge does not know.
    pub fn unknown_calls(&self) -> Vec<LoggedCall> {
        self.calls().into_iter().filter(|call| !call.known).collect()
    }

    /// Deletes the log of calls so far.
    pub fn clear_calls(&self) {
        self.site.calls.lock().clear();
    }

    /// Orders a fault for future requests or deliveries.
    pub fn order(&self, fault: Fault) -> FaultOrder {
        self.site.faults.give(fault)
    }

    /// Withdraws all orders; the requests that they hold go on.
    pub fn clear_orders(&self) {
        self.site.faults.clear();
    }

    /// Returns how many deliveries are due or on their way.
    pub fn deliveries_under_way(&self) -> usize {
        self.site.post.under_way()
    }

    /// Waits until no delivery is due or on its way. Those held by an order do not count.
    pub async fn deliveries_idle(&self) {
        self.site.post.idle().await;
    }

    /// Returns all delivery attempts to an App, oldest first: id, event, action, and `true` if acknowledged.
    pub fn deliveries(&self, slug: &str) -> Vec<(u64, String, Option<String>, bool)> {
        self.site.read(|state| {
            let app = state.app_named(slug).map(|app| app.id);
            let own = state.deliveries.values().filter(|one| Some(one.app) == app);
            own.map(|one| (one.id, one.event.clone(), one.action.clone(), one.outcome.acknowledged())).collect()
        })
    }

    /// Sends one delivery again, with the same GUID and bytes. Returns the new attempt's id.
    pub fn redeliver(&self, delivery: u64) -> Result<u64, ForgeError> {
        Ok(self.site.change(|state| state.redeliver(delivery))?)
    }

    /// Sends every unacknowledged delivery again and waits until the attempts are over. Returns how many were sent.
    pub async fn redeliver_failed(&self) -> usize {
        let ids = self.site.change(|state| {
            let ids = state.unacknowledged();
            for id in &ids {
                // An error is impossible: each was found under the same lock.
                let _ = state.redeliver(*id);
            }
            ids
        });
        self.deliveries_idle().await;
        ids.len()
    }

    /// Sets if deliveries are repeated until acknowledged.
    pub fn set_retry_until_acknowledged(&self, retry: bool) {
        self.site.set_retry_until_acknowledged(retry);
    }

    /// Returns the folder of the bare repository of `owner/name`.
    pub fn repository_dir(&self, full_name: &str) -> Result<PathBuf, ForgeError> {
        Ok(self.site.bare(self.repo_id(full_name)?).dir().to_owned())
    }

    /// Returns the head commit of a branch, as the forge last saw it.
    pub fn head(&self, full_name: &str, branch: &str) -> Result<Option<String>, ForgeError> {
        self.read_repo(full_name, |repo| repo.branches.get(branch).cloned())
    }

    /// Returns the default branch of a repository.
    pub fn default_branch(&self, full_name: &str) -> Result<String, ForgeError> {
        self.read_repo(full_name, |repo| repo.default_branch.clone())
    }

    /// Returns the answer of `GET` for a path below `/repos/{owner}/{name}`, as its owner sees it, without logging the
    /// call. A list is one page of 100 entries unless the path asks for another size.
    pub async fn look(&self, full_name: &str, path: &str) -> Result<Value, ForgeError> {
        let (repo, owner) = self.read_repo(full_name, |repo| (repo.id, repo.owner))?;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut query: BTreeMap<String, String> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        query.entry("per_page".to_owned()).or_insert_with(|| "100".to_owned());
        let whole = format!("repositories/{repo}/{path}");
        let parts = whole.split('/').filter(|part| !part.is_empty());
        let call = Call {
            site: Arc::clone(&self.site),
            method: "GET".to_owned(),
            parts: parts.map(str::to_owned).collect(),
            query,
            body: Value::Null,
            caller: Caller::Person(owner),
        };
        let answer = rest::answer(call).await?;
        let answer = answer.ok_or_else(|| ForgeError::Unknown(format!("call GET /{whole}")))?;
        Ok(answer.body)
    }
}
