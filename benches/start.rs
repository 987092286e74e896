//! The time from exec to the first answer of `/healthz`, with an empty database and with 5,000 stored deliveries.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a bench that cannot go on has failed")]

mod support;

use autobuild::store::{DeliverySource, NewDelivery, OpenOptions, Store};
use domain::ids::Millis;
use std::{path::Path, sync::Arc};

const STARTS: usize = 11;

#[tokio::main]
async fn main() {
    for deliveries in [0, 5_000] {
        let folder = tempfile::tempdir().expect("a folder");
        fill(folder.path(), deliveries).await;
        // The first start creates the key and migrates the database, so it does not count.
        drop(support::Server::start(folder.path()));
        let (mut times, mut cpu, mut memory) = (Vec::new(), 0, 0);
        for _ in 0..STARTS {
            let server = support::Server::start(folder.path());
            times.push(server.started_in);
            assert!(support::alive(server.address), "the service stopped answering");
            cpu = server.cpu_us();
            memory = server.memory_kib().0;
        }
        let (median, worst) = (support::percentile(&mut times, 50), support::percentile(&mut times, 100));
        println!(
            "{deliveries:>5} deliveries stored: median {median:.1?}, worst {worst:.1?} of {STARTS} starts; {cpu} µs CPU, \
             {memory} KiB"
        );
    }
}

async fn fill(folder: &Path, deliveries: usize) {
    let url = format!("sqlite:{}", folder.join("autobuild.db").display());
    let store = Store::open(&url, OpenOptions::default()).await.expect("a database");
    let payload: Arc<str> = support::payload(9).into();
    let all = (0..deliveries).map(|number| NewDelivery {
        app: support::APP,
        id: format!("{number}"),
        event: "push".to_owned(),
        installation: None,
        repo: None,
        payload: Arc::clone(&payload),
        // Far in the future, so that no payload is old enough to be blanked.
        received_at: Millis(4_000_000_000_000),
        source: DeliverySource::Webhook,
    });
    let accepting = all.map(|delivery| store.accept_delivery(delivery, None));
    for accepted in futures_util::future::join_all(accepting).await {
        accepted.expect("stored");
    }
    store.close().await;
}
