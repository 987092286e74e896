//! GitHub's current data about an App, for the people who set the service up or maintain it.

use super::{
    app,
    app::{Identity, MAX_PAGES, PER_PAGE, endless, has_more},
    error::GithubError,
    http::{Call, Credential, segment},
    model::{Actor, time},
};
use crate::github::client::Client;
use domain::ids::{InstallationId, Millis};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Installation {
    pub id: InstallationId,
    #[serde(deserialize_with = "login")]
    pub account: String,
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    #[serde(default)]
    pub events: Vec<String>,
    /// The page on which an owner of the account accepts the App's requested permissions.
    #[serde(default, rename = "html_url")]
    pub page: String,
    /// The time since which it is suspended.
    #[serde(default, deserialize_with = "time")]
    pub suspended_at: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HookDelivery {
    pub id: u64,
    /// The id of the event; all attempts to deliver it share it.
    pub guid: String,
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

fn login<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Actor::deserialize(deserializer).map(|actor| actor.user.login)
}

/// The most pages of the log of deliveries that are read: 100,000 entries.
const MOST_LOG_PAGES: usize = 1_000;

/// Returns the place at which the next page of a list begins; `None` on the last page.
fn next_cursor(headers: &http::HeaderMap) -> Option<String> {
    let links = headers.get(http::header::LINK)?.to_str().ok()?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    let address = next.split_once('<')?.1.split_once('>')?.0;
    let address = url::Url::parse(address).ok()?;
    let mut query = address.query_pairs();
    query.find_map(|(name, value)| (name == "cursor").then(|| value.into_owned()))
}

impl Client {
    /// Returns GitHub's current data about the App.
    pub async fn identity_now(&self) -> Result<Identity, GithubError> {
        app::identity(&self.wire).await
    }

    /// Returns the App's installations with their granted permissions.
    pub async fn installations(&self) -> Result<Vec<Installation>, GithubError> {
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let path = format!("/app/installations?per_page={PER_PAGE}&page={page}");
            let reply = self.wire.send(&Credential::App, &Call::get(&path)).await?;
            let found: Vec<Installation> = reply.json()?;
            let more = has_more(&reply.headers, found.len());
            all.extend(found);
            if !more {
                return Ok(all);
            }
        }
        Err(endless())
    }

    /// Returns the `most` latest deliveries to the App's webhook, newest first; at most 100.
    pub async fn hook_deliveries(&self, most: usize) -> Result<Vec<HookDelivery>, GithubError> {
        let path = format!("/app/hook/deliveries?per_page={most}");
        self.wire.send(&Credential::App, &Call::get(&path)).await?.json()
    }

    /// Returns the App's log of deliveries, newest first. `since` maps the time of its newest entry to the time back to
    /// which it is read.
    pub async fn delivery_log(&self, since: impl Fn(Millis) -> Millis) -> Result<Vec<HookDelivery>, GithubError> {
        let mut log: Vec<HookDelivery> = Vec::new();
        let mut path = format!("/app/hook/deliveries?per_page={PER_PAGE}");
        for _ in 0..MOST_LOG_PAGES {
            let reply = self.wire.send(&Credential::App, &Call::get(&path)).await?;
            let page: Vec<HookDelivery> = reply.json()?;
            let oldest = page.iter().filter_map(|entry| entry.delivered_at).min();
            log.extend(page);
            let newest = log.iter().filter_map(|entry| entry.delivered_at).max();
            let is_whole = oldest.zip(newest).is_none_or(|(oldest, newest)| oldest < since(newest));
            let Some(cursor) = next_cursor(&reply.headers).filter(|_| !is_whole) else {
                return Ok(log);
            };
            path = format!("/app/hook/deliveries?per_page={PER_PAGE}&cursor={}", segment(&cursor));
        }
        tracing::warn!("GitHub's log of deliveries is longer than {MOST_LOG_PAGES} pages; its oldest part is not read");
        Ok(log)
    }

    /// Returns the payload of a delivery of the log.
    pub async fn delivery_body(&self, id: u64) -> Result<Vec<u8>, GithubError> {
        let path = format!("/app/hook/deliveries/{id}");
        let reply = self.wire.send(&Credential::App, &Call::get(&path)).await?;
        let payload: serde_json::Map<String, serde_json::Value> = reply.at("/request/payload")?;
        Ok(serde_json::Value::Object(payload).to_string().into_bytes())
    }

    /// Asks GitHub to send a delivery again.
    pub async fn redeliver(&self, delivery: &HookDelivery) -> Result<(), GithubError> {
        let path = format!("/app/hook/deliveries/{}/attempts", delivery.id);
        self.wire.send(&Credential::App, &Call::post(&path, None)).await.map(drop)
    }

    /// Returns the address to which GitHub sends the App's deliveries; `None` if there is none.
    pub async fn hook_address(&self) -> Result<Option<String>, GithubError> {
        match self.wire.send(&Credential::App, &Call::get("/app/hook/config")).await {
            Ok(reply) => Ok(reply.at::<Option<String>>("/url")?.filter(|url| !url.is_empty())),
            Err(GithubError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns GitHub's time, to the second, even if our key is not accepted; `None` if GitHub does not report it.
    pub async fn githubs_time(&self) -> Result<Option<Millis>, GithubError> {
        let headers = self.wire.headers_for_anyone("/rate_limit").await?;
        let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| chrono::DateTime::parse_from_rfc2822(date).ok());
        Ok(date.map(|date| Millis(date.timestamp_millis())))
    }
}
