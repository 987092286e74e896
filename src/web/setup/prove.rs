//! Checks if GitHub reaches the service: has the first delivery, a ping, sent again, and reads its result in GitHub's
//! log.

use super::{Service, Setup, back, browser::Sent, manifest::Which};
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
pub(super) enum Proof {
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

fn proven(delivery: &HookDelivery) -> Proof {
    match delivery.status_code {
        200..=299 => Proof::Reached,
        0 => Proof::NotReached(delivery.status.clone()),
        code => Proof::Answered(code),
    }
}

impl Setup {
    /// Has the newest ping sent again, unless one arrived already, and waits for its result.
    pub(super) async fn prove(&self) {
        let Ok(_one) = self.proving.try_lock() else { return };
        self.now.lock().proof = Proof::Trying;
        let proof = match self.client(Which::Autobuild) {
            Ok(Some(client)) => try_client(&client).await,
            Ok(None) => Ok(Proof::NotTried),
            Err(error) => Err(error),
        };
        let proof = proof.unwrap_or_else(|error| Proof::Unknown(self.options.secrets.mask(&format!("{error:#}"))));
        self.now.lock().proof = proof;
    }

    /// Returns the result so far. Waits for a running check to end.
    pub(super) async fn proof(&self) -> Proof {
        let _ended = self.proving.lock().await;
        self.now.lock().proof.clone()
    }
}

async fn try_client(client: &Client) -> anyhow::Result<Proof> {
    let pings = async || -> anyhow::Result<Vec<HookDelivery>> {
        let log = client.hook_deliveries(READ).await?;
        Ok(log.into_iter().filter(|delivery| delivery.event == "ping").collect())
    };
    let before = pings().await?;
    let Some(newest) = before.first() else {
        return Ok(Proof::NoPing);
    };
    if before.iter().any(|delivery| proven(delivery) == Proof::Reached) {
        return Ok(Proof::Reached);
    }
    client.redeliver(newest).await?;
    for _ in 0..READS {
        let after = pings().await?;
        let fresh = after.first().filter(|delivery| delivery.id != newest.id);
        if let Some(fresh) = fresh {
            return Ok(proven(fresh));
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(proven(newest))
}

/// `POST /setup/prove`.
pub(super) async fn again(State(setup): State<Arc<Setup>>, _: Sent) -> Response {
    let works = matches!(*setup.service.borrow(), Service::On(_));
    if works {
        setup.prove().await;
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
        assert_eq!(proven(&delivery(202, "OK")), Proof::Reached);
        assert_eq!(proven(&delivery(502, "Invalid HTTP Response: 502")), Proof::Answered(502));
        let unreached = Proof::NotReached("failed to connect to host".to_owned());
        assert_eq!(proven(&delivery(0, "failed to connect to host")), unreached);
    }
}
