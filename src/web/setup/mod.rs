//! The set-up: a page for the person with the link that `serve` prints, until there are credentials. It registers the
//! Apps from manifests, keeps their credentials, checks that GitHub reaches the service, and makes labels and a
//! proposal in chosen repositories.
//!
//! Credentials and codes are saved before they are used. The last step closes the page.

mod browser;
mod finish;
mod link;
mod manifest;
mod page;
mod progress;
mod reach_check;
mod register;

pub use link::SetupLink;
pub use manifest::SIGNED_IN;

use crate::{
    config::{GithubAddress, KeptApp, KeptApps, NotKept, github_named, read_private, write_private},
    engine::Engine,
    github::{App, Client, GithubUrls},
    web::setup::{
        browser::{Browser, Form},
        manifest::{AppKind, REGISTERED},
        page::Note,
        progress::{AppStatus, Choice, Hash, Progress, Step, status, step},
        reach_check::ReachCheck,
    },
};
use axum::{
    Router,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::{
    diagnosis::Row,
    ids::{AppId, InstallationId, Millis, RepoId},
};
use parking_lot::Mutex;
use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use text::secret::Secrets;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use uplink::Uplink;
use url::Url;

/// The file of a set-up in progress.
const PROGRESS_FILE: &str = "setup.json";

/// The time that the last step waits for the service, which restarts after each change of an App.
const STARTING: Duration = Duration::from_secs(15);

/// The time that the page waits for the first check of this machine.
const LOOKING: Duration = Duration::from_secs(3);

/// The time until which kept secrets are masked: for ever.
const NEVER: Millis = Millis(i64::MAX);

/// The environment of the set-up.
pub struct SetupOptions {
    pub folder: PathBuf,
    pub clock: fn() -> Millis,
    /// The generator of random texts; it returns `None` if the system has no randomness.
    pub random: fn() -> Option<String>,
    pub secrets: Secrets,
    /// The GitHub server that the settings name, if they do.
    pub github: Option<GithubAddress>,
    /// How GitHub is reached.
    pub uplink: Uplink,
    /// The service's public address, if the settings name it.
    pub public_url: Option<Url>,
}

/// A set-up, open or over.
pub struct Setup {
    options: SetupOptions,
    now: Mutex<SetupState>,
    /// The lock that allows one choice, exchange, import or last step at a time.
    work: tokio::sync::Mutex<()>,
    /// The lock that allows one proof of the address at a time.
    checking_reach: tokio::sync::Mutex<()>,
    changes: watch::Sender<u64>,
    service: watch::Sender<Service>,
    /// The rows about this machine, once it was checked.
    machine: watch::Sender<Option<Vec<Row>>>,
    /// The exchanges with GitHub in progress, even if no browser waits for them.
    exchanges: TaskTracker,
}

/// The current state of the set-up.
struct SetupState {
    progress: Progress,
    kept: Option<KeptApps>,
    reach: ReachCheck,
    /// `true` if the page is open; `false` once the set-up is over.
    is_open: bool,
}

enum Service {
    Off,
    On(Arc<Engine>),
    /// The service cannot start, for this reason.
    Failed(String),
}

/// A repository in which the AutoBuild App works.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CoveredRepository {
    installation: InstallationId,
    id: RepoId,
    name: String,
}

/// GitHub's answers on the installations.
#[derive(Default)]
struct Installations {
    /// The repositories in which the AutoBuild App works.
    repositories: Vec<CoveredRepository>,
    /// The number of further repositories.
    more: u64,
    /// The state of the Coach App, if it exists.
    coach: Option<bool>,
    /// The error, if GitHub did not answer everything.
    trouble: Option<String>,
}

impl Setup {
    /// Returns `true` if a data folder's set-up is in progress or not begun.
    pub fn is_open_in(folder: &Path) -> Result<bool, NotKept> {
        let has_app = KeptApps::read(folder)?.is_some_and(|kept| kept.autobuild.is_some());
        Ok(!has_app || folder.join(PROGRESS_FILE).exists())
    }

    /// Continues the data folder's set-up. A set-up that is over opens again with a new link.
    pub fn open(options: SetupOptions) -> Result<Arc<Self>, NotKept> {
        let progress = read_private(&options.folder.join(PROGRESS_FILE))?;
        let kept = KeptApps::read(&options.folder)?;
        let has_app = kept.as_ref().is_some_and(|kept| kept.autobuild.is_some());
        let is_open = progress.is_some() || !has_app;
        let now = SetupState {
            is_open,
            progress: progress.unwrap_or_default(),
            kept: kept.filter(|_| is_open),
            reach: ReachCheck::NotTried,
        };
        Ok(Arc::new(Self {
            options,
            now: Mutex::new(now),
            work: tokio::sync::Mutex::default(),
            checking_reach: tokio::sync::Mutex::default(),
            changes: watch::Sender::new(0),
            service: watch::Sender::new(Service::Off),
            machine: watch::Sender::new(None),
            exchanges: TaskTracker::new(),
        }))
    }

    /// `true` if the page is open.
    pub fn is_open(&self) -> bool {
        self.now.lock().is_open
    }

    /// `true` if there is an App to work with.
    pub(super) fn has_app(&self) -> bool {
        self.now.lock().kept.as_ref().is_some_and(|kept| kept.autobuild.is_some())
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// `true` if an exchange with GitHub is in progress.
    pub fn exchanges(&self) -> bool {
        !self.exchanges.is_empty()
    }

    /// Waits for the end of all exchanges with GitHub, whose results are then saved.
    pub async fn exchanged(&self) {
        self.exchanges.close();
        self.exchanges.wait().await;
    }

    /// Records that the service works, and checks its address if the page is open.
    pub fn service_works(self: &Arc<Self>, engine: Arc<Engine>) {
        self.service.send_replace(Service::On(engine));
        self.begin_proof();
    }

    pub fn machine(&self, rows: Vec<Row>) {
        self.machine.send_replace(Some(rows));
    }

    /// Opens a set-up again that was over: shows the kept Apps, and lets missing ones be added.
    fn reopen(self: &Arc<Self>) -> Result<(), NotKept> {
        let mut now = self.now.lock();
        if !now.is_open {
            now.kept = KeptApps::read(&self.options.folder)?;
            (now.progress, now.reach) = (Progress::default(), ReachCheck::NotTried);
            now.is_open = true;
            drop(now);
            tracing::info!("the set-up is open again");
            self.begin_proof();
        }
        Ok(())
    }

    fn begin_proof(self: &Arc<Self>) {
        let setup = Arc::clone(self);
        if setup.is_open() {
            tokio::spawn(async move { setup.check_reach().await });
        }
    }

    /// Restores the choice of a set-up that was over, asking GitHub who owns the App.
    async fn choose_again(&self) -> anyhow::Result<()> {
        let kept = self.apps();
        let (Some(kept), None) = (kept, self.now.lock().progress.choice.clone()) else {
            return Ok(());
        };
        let Some(client) = self.client(AppKind::Autobuild)? else {
            return Ok(());
        };
        let owner = client.owner().await?;
        let choice = Choice {
            github: kept.github(),
            organization: owner.organization().map(str::to_owned),
            public_url: kept.public_url,
        };
        Ok(self.progress(|progress| progress.choice = Some(choice))?)
    }

    /// Records that the service could not start.
    pub fn service_failed(&self, why: String) {
        self.service.send_replace(Service::Failed(why));
    }

    /// Returns the service that uses the credentials, waiting for one that is starting; `None` if it does not start.
    async fn engine(&self) -> Option<Arc<Engine>> {
        let mut service = self.service.subscribe();
        let started = service.wait_for(|service| !matches!(service, Service::Off));
        match &*tokio::time::timeout(STARTING, started).await.ok()?.ok()? {
            Service::On(engine) => Some(Arc::clone(engine)),
            Service::Off | Service::Failed(_) => None,
        }
    }

    pub fn service_ends(&self) {
        self.service.send_replace(Service::Off);
    }

    /// Waits for the lock on the set-up, unless the set-up is over.
    async fn work(&self) -> Result<tokio::sync::MutexGuard<'_, ()>, OtherPage> {
        let one = self.work.lock().await;
        if self.is_open() { Ok(one) } else { Err(OtherPage::of(page::over())) }
    }

    fn clock(&self) -> Millis {
        (self.options.clock)()
    }

    /// Changes the progress, and saves it if the page is open.
    fn progress<T>(&self, change: impl FnOnce(&mut Progress) -> T) -> Result<T, NotKept> {
        let mut now = self.now.lock();
        let mut next = now.progress.clone();
        let result = change(&mut next);
        if next != now.progress && now.is_open {
            write_private(&self.options.folder.join(PROGRESS_FILE), &next)?;
            now.progress = next;
        }
        Ok(result)
    }

    /// Saves an App's credentials beside the others, or forgets them, and signals the change.
    fn keep(&self, mut kept: KeptApps, which: AppKind, app: Option<KeptApp>) -> Result<(), NotKept> {
        let mut now = self.now.lock();
        match which {
            AppKind::Autobuild => kept.autobuild = app,
            AppKind::Coach => kept.coach = app,
        }
        for secret in kept.secrets() {
            self.options.secrets.learn(secret, NEVER.0, self.clock().0);
        }
        kept.write(&self.options.folder)?;
        now.kept = Some(kept).filter(|kept| kept.autobuild.is_some() || kept.coach.is_some());
        if now.kept.is_none() {
            let _ = std::fs::remove_file(self.options.folder.join(crate::config::KEPT_APPS_FILE));
        }
        now.reach = ReachCheck::NotTried;
        drop(now);
        self.changes.send_modify(|changes| *changes += 1);
        Ok(())
    }

    fn apps(&self) -> Option<KeptApps> {
        self.now.lock().kept.clone()
    }

    /// Returns a client for an App with the saved credentials; `None` without them.
    fn client(&self, which: AppKind) -> anyhow::Result<Option<Client>> {
        let Some(kept) = self.apps() else { return Ok(None) };
        let app = which.app_in(&kept);
        app.map(|app| self.client_of(&kept.github(), app)).transpose()
    }

    fn client_of(&self, github: &GithubAddress, app: &KeptApp) -> anyhow::Result<Client> {
        let urls = GithubUrls::new(github.api.as_str(), github.web.as_str())?.through(&self.options.uplink);
        let app = App::new(AppId(app.id), &app.private_key)?;
        Ok(Client::new(&app, &urls, self.options.clock)?.masking(self.options.secrets.clone()))
    }

    async fn installations(&self) -> Installations {
        let mut installations = Installations::default();
        if let Err(error) = self.look_for(&mut installations).await {
            installations.trouble = Some(self.options.secrets.mask(&format!("{error:#}")));
        }
        installations
    }

    async fn look_for(&self, installations: &mut Installations) -> anyhow::Result<()> {
        self.choose_again().await?;
        if let Some(client) = self.client(AppKind::Autobuild)? {
            for installed in client.installations().await? {
                let (repositories, count) = client.repositories(installed.id).await?;
                installations.more += count.saturating_sub(u64::try_from(repositories.len()).unwrap_or(count));
                let open = repositories.into_iter().filter(|repository| !repository.archived);
                installations.repositories.extend(open.map(|repository| CoveredRepository {
                    installation: installed.id,
                    id: repository.id,
                    name: format!("{}/{}", repository.name.owner, repository.name.name),
                }));
            }
        }
        if let Some(client) = self.client(AppKind::Coach)? {
            installations.coach = Some(!client.installations().await?.is_empty());
        }
        Ok(())
    }
}

/// Returns the set-up's routes.
pub(super) fn routes(setup: Arc<Setup>) -> Router {
    Router::new()
        .route("/setup", get(show))
        .route("/setup/choice", post(register::choose))
        .route(REGISTERED, get(register::registered))
        .route("/setup/retry", post(register::retry))
        .route("/setup/forget", post(register::forget))
        .route("/setup/import", post(register::import))
        .route("/setup/prove", post(reach_check::post_reach_check))
        .route("/setup/finish", post(finish::finish))
        .route("/setup/stored", post(finish::confirm_stored))
        .route("/setup/go.js", get(browser::script))
        .with_state(setup)
}

/// The page that a browser gets in place of the requested one.
struct OtherPage(Box<Response>);

impl OtherPage {
    fn of(page: Response) -> Self {
        Self(Box::new(page))
    }
}

impl<E: Error> From<E> for OtherPage {
    fn from(error: E) -> Self {
        Self::of(page::failed(&error.to_string()))
    }
}

impl IntoResponse for OtherPage {
    fn into_response(self) -> Response {
        *self.0
    }
}

/// `GET /setup`: admits a browser with the link, or shows the page.
async fn show(
    State(setup): State<Arc<Setup>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    browser: Result<Browser, OtherPage>,
) -> Result<Response, OtherPage> {
    let query = Form::read(query.unwrap_or_default().as_bytes());
    match query.field("token") {
        Some(token) => browser::admit(&setup, token, &headers, browser),
        None => setup.page(&browser?, None).await,
    }
}

/// Redirects to the page, which shows the current state.
fn back() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/setup")]).into_response()
}

impl Setup {
    /// Returns the page as it is now, with a note on the last action.
    async fn page(&self, browser: &Browser, note: Option<Note>) -> Result<Response, OtherPage> {
        self.page_after(browser, note, &Form::default()).await
    }

    /// Returns the page with a note, and with the text typed into the refused form.
    async fn page_after(&self, browser: &Browser, note: Option<Note>, typed: &Form) -> Result<Response, OtherPage> {
        let (installations, machine) = tokio::join!(self.installations(), self.known_machine());
        let manifests = self.manifests(browser)?;
        let (now, service) = (self.now.lock(), self.service.borrow());
        let is_installed = !installations.repositories.is_empty();
        let autobuild = status(&now.progress, now.kept.as_ref(), AppKind::Autobuild);
        let usual = github_named("").ok();
        let github = self.options.github.as_ref();
        let address = self.options.public_url.as_ref().unwrap_or(&browser.address);
        let proposed = github.or(usual.as_ref()).and_then(|github| Choice::proposal(github, address));
        let step = step(now.progress.choice.as_ref(), &autobuild, is_installed);
        let shown = page::SetupView {
            step,
            autobuild,
            coach: status(&now.progress, now.kept.as_ref(), AppKind::Coach),
            choice: now.progress.choice.as_ref(),
            kept: now.kept.as_ref(),
            github,
            proposed: proposed.as_ref(),
            typed,
            reach: &now.reach,
            failed: match &*service {
                Service::Failed(why) => Some(why),
                Service::Off | Service::On(_) => None,
            },
            installations: &installations,
            machine: machine.as_deref(),
            manifests: &manifests,
            folder: &self.options.folder,
            form: &browser.form,
            note,
        };
        Ok(page::page(&shown))
    }

    /// Returns the rows about this machine; `None` while it is still being checked.
    async fn known_machine(&self) -> Option<Vec<Row>> {
        let mut machine = self.machine.subscribe();
        let looked = tokio::time::timeout(LOOKING, machine.wait_for(Option::is_some)).await;
        looked.ok()?.ok()?.clone()
    }

    /// Returns the content that the buttons post, with a new state for each view of the page.
    fn manifests(&self, browser: &Browser) -> Result<Vec<page::Posted>, NotKept> {
        let choice = self.now.lock().progress.choice.clone();
        let kept = self.apps();
        let mut posted = Vec::new();
        for which in AppKind::BOTH {
            let open = matches!(status(&self.now.lock().progress, kept.as_ref(), which), AppStatus::Missing);
            let (Some(choice), true) = (&choice, open) else {
                continue;
            };
            let random = || (self.options.random)();
            let (Some(state), Some(noise), Some(manifest)) = (random(), random(), manifest::Manifest::of(which)) else {
                continue;
            };
            let suffix: String = noise.chars().take(5).collect();
            let name = manifest.proposed_name(&suffix);
            let (hash, at) = (Hash::of(&browser.cookie), self.clock());
            self.progress(|progress| progress.begin(which, &state, &hash, at))?;
            posted.push(page::Posted {
                which,
                to: choice.registration(&state),
                manifest: manifest.posted(&name, &choice.public_url, &browser.address).to_string(),
            });
        }
        Ok(posted)
    }

    /// `true` if the set-up has not reached this step yet.
    fn is_before(&self, step: Step) -> bool {
        let now = self.now.lock();
        let autobuild = status(&now.progress, now.kept.as_ref(), AppKind::Autobuild);
        progress::step(now.progress.choice.as_ref(), &autobuild, true) < step
    }
}
