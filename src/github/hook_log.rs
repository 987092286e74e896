//! GitHub's log of deliveries to an App's webhook.

use super::http::{Call, Credential, Intent, Wire};
use crate::github::error::GithubError;
use http::Method;
use serde::Deserialize;

/// One attempt to deliver.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HookDelivery {
    /// Its id.
    pub id: u64,
    /// Which event it tells of; attempts at the same one share it.
    pub guid: String,
    /// The event.
    pub event: String,
    /// How it went, in GitHub's words.
    #[serde(default)]
    pub status: String,
    /// What the service answered; 0: nothing.
    #[serde(default)]
    pub status_code: u16,
}

pub(super) async fn deliveries(wire: &Wire) -> Result<Vec<HookDelivery>, GithubError> {
    let call = Call::get("/app/hook/deliveries?per_page=100");
    wire.rest(&Credential::App, &call).await?.json()
}

pub(super) async fn redeliver(wire: &Wire, delivery: &HookDelivery) -> Result<(), GithubError> {
    let path = format!("/app/hook/deliveries/{}/attempts", delivery.id);
    let call = Call {
        method: Method::POST,
        path: &path,
        body: None,
        intent: Intent::Write,
    };
    wire.rest(&Credential::App, &call).await.map(|_| ())
}
