//! GitHub's log of deliveries to an App's webhook.

use super::{
    http::{Call, Credential, Intent, Wire},
    model::time,
};
use crate::github::error::GithubError;
use domain::ids::Millis;
use http::Method;
use serde::Deserialize;

/// One delivery attempt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HookDelivery {
    /// The attempt's id.
    pub id: u64,
    /// The id of the event; all attempts to deliver it share it.
    pub guid: String,
    /// The event's name.
    pub event: String,
    /// The time at which it was sent.
    #[serde(default, deserialize_with = "time")]
    pub delivered_at: Option<Millis>,
    /// The result in GitHub's words.
    #[serde(default)]
    pub status: String,
    /// The status of the service's answer; 0 for no answer.
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
