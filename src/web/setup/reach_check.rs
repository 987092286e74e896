//! Checks if GitHub reaches the service: has the first delivery, a ping, sent again, and reads its result in GitHub's
//! log.

use super::{Service, Setup, back, browser::SentForm, manifest::AppKind};
use crate::github::{Client, HookDelivery};
use axum::{extract::State, response::Response};
use std::{sync::Arc, time::Duration};

/// The most deliveries that are searched for pings.
const READ: usize = 100;

/// The number of times that GitHub's log is read for a delivery's end, and the pause in between.
const READS: u32 = 12;
const PAUSE: Duration = Duration::from_secs(1);

/// The result of the check of the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReachCheck {
    NotTried,
    Trying,
    /// GitHub reached the service.
    Reached,
    /// The service, or a proxy before it, answered with this status.
    Answered(u16),
    /// Nobody answered; the text is GitHub's.
    NotReached(String),
    /// GitHub's log holds no ping yet.
    NoPing,
    /// GitHub could not be asked; the text is the error.
    Unknown(String),
}

fn result_of(delivery: &HookDelivery) -> ReachCheck {
    match delivery.status_code {
        200..=299 => ReachCheck::Reached,
        0 => ReachCheck::NotReached(delivery.status.clone()),
        code => ReachCheck::Answered(code),
    }
}

impl Setup {
    /// Has the newest ping sent again, unless one arrived already, and waits for its result.
    pub(super) async fn check_reach(&self) {
        let Ok(_one) = self.checking_reach.try_lock() else { return };
        self.now.lock().reach = ReachCheck::Trying;
        let reach = match self.client(AppKind::Autobuild) {
            Ok(Some(client)) => try_client(&client).await,
            Ok(None) => Ok(ReachCheck::NotTried),
            Err(error) => Err(error),
        };
        let reach = reach.unwrap_or_else(|error| ReachCheck::Unknown(self.options.secrets.mask(&format!("{error:#}"))));
        self.now.lock().reach = reach;
    }

    /// Returns the result so far. Waits for a running check to end.
    pub(super) async fn reach(&self) -> ReachCheck {
        let _ended = self.checking_reach.lock().await;
        self.now.lock().reach.clone()
    }
}

async fn try_client(client: &Client) -> anyhow::Result<ReachCheck> {
    let pings = async || -> anyhow::Result<Vec<HookDelivery>> {
        let log = client.hook_deliveries(READ).await?;
        Ok(log.into_iter().filter(|delivery| delivery.event == "ping").collect())
    };
    let before = pings().await?;
    let Some(newest) = before.first() else {
        return Ok(ReachCheck::NoPing);
    };
    if before.iter().any(|delivery| result_of(delivery) == ReachCheck::Reached) {
        return Ok(ReachCheck::Reached);
    }
    client.redeliver(newest).await?;
    for _ in 0..READS {
        let after = pings().await?;
        let fresh = after.first().filter(|delivery| delivery.id != newest.id);
        if let Some(fresh) = fresh {
            return Ok(result_of(fresh));
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(result_of(newest))
}

/// `POST /setup/prove`.
pub(super) async fn post_reach_check(State(setup): State<Arc<Setup>>, _: SentForm) -> Response {
    let works = matches!(*setup.service.borrow(), Service::On(_));
    if works {
        setup.check_reach().await;
    }
    back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_proves_what_its_status_says() {
        let delivery = |code: u16, status: &str| HookDelivery {
            id: 1,
            guid: "a".to_owned(),
            event: "ping".to_owned(),
            delivered_at: None,
            status: status.to_owned(),
            status_code: code,
        };
        assert_eq!(result_of(&delivery(202, "OK")), ReachCheck::Reached);
        assert_eq!(result_of(&delivery(502, "Invalid HTTP Response: 502")), ReachCheck::Answered(502));
        let unreached = ReachCheck::NotReached("failed to connect to host".to_owned());
        assert_eq!(result_of(&delivery(0, "failed to connect to host")), unreached);
    }
}
