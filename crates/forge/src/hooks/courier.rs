//! Sends deliveries to their receivers: in order and one at a time for each App. Each is tried once, unless the forge
//! is told to retry.

use crate::{
    faults::Mishap,
    site::Site,
    state::{Delivery, Hook, Outcome},
};
use hmac::{Hmac, Mac};
use http_body_util::Full;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use sha2::Sha256;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::{mpsc, watch};

/// The time that GitHub waits for a receiver's answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause before an unacknowledged delivery is repeated, if the forge retries.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Hands deliveries to the couriers, and counts those on their way.
#[derive(Debug)]
pub(crate) struct Post {
    queue: mpsc::UnboundedSender<u64>,
    under_way: watch::Sender<usize>,
}

impl Post {
    /// Returns it with the queue for [`run_couriers`].
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<u64>) {
        let (queue, receiver) = mpsc::unbounded_channel();
        (Self { queue, under_way: watch::Sender::new(0) }, receiver)
    }

    pub(crate) fn hand_over(&self, delivery: u64) {
        self.under_way.send_modify(|count| *count += 1);
        if self.queue.send(delivery).is_err() {
            self.arrived();
        }
    }

    fn arrived(&self) {
        self.under_way.send_modify(|count| *count = count.saturating_sub(1));
    }

    pub(crate) fn under_way(&self) -> usize {
        *self.under_way.borrow()
    }

    /// Returns once no delivery is due or on its way. Deliveries that an order holds do not count.
    pub(crate) async fn idle(&self) {
        let mut count = self.under_way.subscribe();
        // The sender lives as long as `self`.
        let _ = count.wait_for(|count| *count == 0).await;
    }
}

type HookClient = Client<HttpConnector, Full<bytes::Bytes>>;

/// Sends deliveries until the site is gone.
pub(crate) async fn run_couriers(mut queue: mpsc::UnboundedReceiver<u64>, site: Weak<Site>) {
    let client: HookClient = Client::builder(TokioExecutor::new()).build_http();
    let mut lanes: HashMap<u64, mpsc::UnboundedSender<u64>> = HashMap::new();
    while let Some(id) = queue.recv().await {
        let Some(strong) = site.upgrade() else { return };
        let Some(app) = strong.read(|state| state.deliveries.get(&id).map(|one| one.app)) else {
            strong.post.arrived();
            continue;
        };
        let lane = lanes.entry(app).or_insert_with(|| {
            let (sender, receiver) = mpsc::unbounded_channel();
            tokio::spawn(carry_all(receiver, site.clone(), client.clone()));
            sender
        });
        if lane.send(id).is_err() {
            strong.post.arrived();
        }
    }
}

async fn carry_all(mut lane: mpsc::UnboundedReceiver<u64>, site: Weak<Site>, client: HookClient) {
    while let Some(id) = lane.recv().await {
        let Some(site) = site.upgrade() else { return };
        carry(&site, &client, id).await;
        site.post.arrived();
    }
}

async fn carry(site: &Arc<Site>, client: &HookClient, id: u64) {
    let Some(delivery) = site.read(|state| state.deliveries.get(&id).cloned()) else {
        return;
    };
    site.saved().await;
    let kind = match &delivery.action {
        Some(action) => format!("{}.{action}", delivery.event),
        None => delivery.event.clone(),
    };
    let Some(order) = site.faults.meet(None, &kind, delivery.payload.as_bytes()) else {
        return deliver(site, client, &delivery).await;
    };
    let mut hold = order.hold();
    order.strike();
    match order.mishap() {
        Mishap::LoseRequest => site.finish_delivery(id, Outcome::Failed("dropped by order".to_owned())),
        Mishap::Hold => {
            let (weak, client) = (Arc::downgrade(site), client.clone());
            tokio::spawn(async move {
                let released = hold.released().await;
                if let Some(site) = weak.upgrade().filter(|_| released) {
                    site.post.under_way.send_modify(|count| *count += 1);
                    drop(hold);
                    deliver(&site, &client, &delivery).await;
                    site.post.arrived();
                }
            });
        }
        Mishap::Twice => {
            drop(hold);
            deliver(site, client, &delivery).await;
            deliver(site, client, &delivery).await;
        }
        Mishap::Fail { .. } | Mishap::HoldReply | Mishap::Delay(_) | Mishap::LoseReply => {
            drop(hold);
            deliver(site, client, &delivery).await;
        }
    }
}

/// Sends a delivery; repeats it until it is acknowledged if the forge is told to retry.
async fn deliver(site: &Arc<Site>, client: &HookClient, delivery: &Delivery) {
    loop {
        let hook = site.read(|state| state.apps.get(&delivery.app).and_then(|app| app.hook.clone()));
        let outcome = match hook {
            Some(hook) => send(client, &hook, delivery).await,
            None => Outcome::Failed("the App has no hook".to_owned()),
        };
        let done = outcome.acknowledged() || !site.retries_until_acknowledged();
        site.finish_delivery(delivery.id, outcome);
        if done {
            return;
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

async fn send(client: &HookClient, hook: &Hook, delivery: &Delivery) -> Outcome {
    let request = match request(hook, delivery) {
        Ok(request) => request,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    match tokio::time::timeout(PATIENCE, client.request(request)).await {
        Ok(Ok(answer)) => Outcome::Answered(answer.status().as_u16()),
        Ok(Err(error)) => Outcome::Failed(error.to_string()),
        Err(_) => Outcome::Failed("timed out".to_owned()),
    }
}

fn request(hook: &Hook, delivery: &Delivery) -> Result<http::Request<Full<bytes::Bytes>>, http::Error> {
    let mut request = http::Request::post(&hook.url);
    for (name, value) in headers(hook, delivery) {
        request = request.header(name, value);
    }
    request.body(Full::new(bytes::Bytes::from(delivery.payload.clone())))
}

fn headers(hook: &Hook, delivery: &Delivery) -> [(&'static str, String); 9] {
    [
        ("Accept", "*/*".to_owned()),
        ("Content-Type", "application/json".to_owned()),
        ("User-Agent", "GitHub-Hookshot/f0e3a1b".to_owned()),
        ("X-GitHub-Event", delivery.event.clone()),
        ("X-GitHub-Delivery", delivery.guid.clone()),
        ("X-GitHub-Hook-ID", hook.id.to_string()),
        ("X-GitHub-Hook-Installation-Target-ID", delivery.app.to_string()),
        ("X-GitHub-Hook-Installation-Target-Type", "integration".to_owned()),
        ("X-Hub-Signature-256", signature(&hook.secret, delivery.payload.as_bytes())),
    ]
}

fn signature(secret: &str, body: &[u8]) -> String {
    // An HMAC key may have any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return String::new();
    };
    mac.update(body);
    format!("sha256={:x}", mac.finalize().into_bytes())
}
