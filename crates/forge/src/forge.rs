//! Starts and stops a forge.

use crate::{
    clock::Clock,
    disk,
    disk::{ForgeError, Saving, io_error},
    git_http,
    hooks::{Post, run_couriers},
    readers::Readers,
    server,
    site::Site,
    state::{Actor, Outcome, State},
};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// The options of a forge.
#[derive(Clone, Debug)]
pub struct ForgeOptions {
    /// The folder of its state file and its repositories; created if missing.
    pub data_dir: PathBuf,
    /// The address that it listens on; port 0 picks a free one.
    pub listen: SocketAddr,
    /// The clock that dates events; an existing folder keeps its own.
    pub clock: Clock,
    /// With a seed, delivery ids and the random part of tokens are counted, so that the same story gets the same ids.
    /// An existing folder keeps its own.
    pub seed: Option<u64>,
    /// `true` if deliveries are repeated until acknowledged, which GitHub does not do.
    pub retry_until_acknowledged: bool,
    /// When the state is written to its file.
    pub saving: Saving,
    /// Who may read the pages and act on them.
    pub readers: Readers,
}

impl ForgeOptions {
    /// Returns the options of a forge in `data_dir`, on a free port of this machine, with the real time.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            clock: Clock::Real,
            seed: None,
            retry_until_acknowledged: false,
            saving: Saving::Soon,
            readers: Readers::Everybody,
        }
    }
}

/// A running forge. Dropping it stops it; [`Forge::shutdown`] also saves its state.
#[derive(Debug)]
pub struct Forge {
    pub(crate) site: Arc<Site>,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Forge {
    /// Opens or creates the forge in a folder and listens.
    pub async fn start(options: ForgeOptions) -> Result<Self, ForgeError> {
        let folder = &options.data_dir;
        std::fs::create_dir_all(folder.join("repositories")).map_err(io_error("making", folder))?;
        git_http::install_hook(&folder.join("hooks")).map_err(io_error("writing in", folder))?;
        let folder = folder.canonicalize().map_err(io_error("opening", folder))?;
        let file = Site::file(&folder);
        let mut state = disk::load(&file)?;
        if !file.exists() {
            state.clock = options.clock;
            state.seed = options.seed;
            state.last_id = 1000;
        }
        let place = options.listen.to_string();
        let listening = || io_error("listening on", place.as_ref());
        let listener = TcpListener::bind(options.listen).await.map_err(listening())?;
        let address = listener.local_addr().map_err(listening())?;
        let (post, queue) = Post::new();
        let base = format!("http://{address}");
        let mut site = Site::new(state, folder, base, post, options.saving);
        site.readers = options.readers;
        site.set_retry_until_acknowledged(options.retry_until_acknowledged);
        let site = Arc::new(site);
        let stop = CancellationToken::new();
        let tasks = vec![
            tokio::spawn(run_couriers(queue, Arc::downgrade(&site))),
            tokio::spawn(Arc::clone(&site).keep_saved()),
            tokio::spawn(server::serve(Arc::clone(&site), listener, stop.clone())),
        ];
        let forge = Self { site, stop, tasks };
        forge.catch_up().await?;
        Ok(forge)
    }

    /// Records branches that moved unsaved before a restart, and queues the deliveries that were due.
    async fn catch_up(&self) -> Result<(), ForgeError> {
        let repos = |state: &State| state.repos.values().map(|repo| (repo.id, repo.owner)).collect::<Vec<_>>();
        for (repo, owner) in self.site.read(repos) {
            self.site.finish_move(repo, Actor::person(owner)).await?;
        }
        let retries = self.site.retries_until_acknowledged();
        self.site.change(|state| {
            let due = state.deliveries.values().filter(|one| one.outcome == Outcome::Due);
            let mut due: Vec<u64> = due.map(|one| one.id).collect();
            if retries {
                due.extend(state.unacknowledged());
                due.sort_unstable();
            }
            due.retain(|id| !state.outbox.contains(id));
            state.outbox.extend(due);
        });
        Ok(())
    }

    /// Returns the forge's base address, such as `http://127.0.0.1:4711`. Pages are below it, and git below
    /// `/owner/name.git`.
    pub fn url(&self) -> &str {
        &self.site.base
    }

    /// Returns the address of the REST API.
    pub fn api_url(&self) -> String {
        format!("{}/api/v3", self.site.base)
    }

    /// Waits until every change so far is in the file. With [`Saving::Soon`], does nothing.
    pub async fn saved(&self) {
        self.site.saved().await;
    }

    /// Saves and stops.
    pub async fn shutdown(mut self) -> Result<(), ForgeError> {
        self.stop.cancel();
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            // The task was aborted, so an error is expected.
            let _ = task.await;
        }
        self.site.save()
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        self.stop.cancel();
        for task in &self.tasks {
            task.abort();
        }
    }
}
