//! GitHub's log of deliveries to an App's webhook.

use super::{
    http::{Call, Credential, Intent, Wire},
    model::time,
};
use crate::github::error::GithubError;
use domain::ids::Millis;
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
    /// When it was sent.
    #[serde(default, deserialize_with = "time")]
    pub delivered_at: Option<Millis>,
    /// How it went, in GitHub's words.
    #[serde(default)]
    pub status: String,
    /// What the service answered; 0: nothing.
    #[serde(default)]
    pub status_code: u16,
}

pub(super) async fn deliveries(wire: &Wire, most: usize) -> Result<Vec<HookDelivery>, GithubError> {
    let path = format!("/app/hook/deliveries?per_page={most}");
    wire.rest(&Credential::App, &Call::get(&path)).await?.json()
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
