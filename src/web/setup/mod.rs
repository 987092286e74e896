//! The set-up: one page, until there are credentials, for who holds the link that `serve` prints. It registers the Apps
//! from manifests, keeps their credentials, proves the address, and makes labels and a proposal in chosen repositories.
//!
//! What GitHub gives is written down before it is used. The last step takes the page away.

mod browser;
mod finish;
mod link;
mod manifest;
mod page;
mod progress;
mod prove;
mod register;

pub use link::SetupLink;
pub use manifest::SIGNED_IN;

use crate::{
    config::{GithubAddress, KeptApp, KeptApps, NotKept, read_private, write_private},
    engine::Engine,
    github::{App, Client, GithubUrls},
    web::setup::{
        browser::{Browser, Form},
        manifest::{REGISTERED, Which},
        page::Note,
        progress::{Hash, Installed, Progress, Standing, Step, standing, step},
        prove::Proof,
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
    ids::{AppId, InstallationId, Millis, RepoId},
    secret::Secrets,
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;
use url::Url;

/// The file of a set-up that goes on.
const PROGRESS_FILE: &str = "setup.json";

/// When secrets that are kept end.
const NEVER: Millis = Millis(i64::MAX);

/// What the set-up needs from where it runs.
pub struct SetupOptions {
    /// The data folder.
    pub folder: PathBuf,
    /// The time.
    pub clock: fn() -> Millis,
    /// A text that nobody guesses; none where the system has no randomness.
    pub random: fn() -> Option<String>,
    /// What is masked in everything that is logged.
    pub secrets: Secrets,
    /// The GitHub that the settings name, where they do.
    pub github: Option<GithubAddress>,
    /// Where the settings say that the service is reached.
    pub public_url: Option<Url>,
}

/// A set-up that goes on, or is over.
pub struct Setup {
    options: SetupOptions,
    now: Mutex<Now>,
    /// One choice, exchange, import or last step at a time.
    work: tokio::sync::Mutex<()>,
    /// How often the credentials changed.
    changes: watch::Sender<u64>,
}

/// How it stands at this moment.
struct Now {
    progress: Progress,
    kept: Option<KeptApps>,
    proof: Proof,
    service: Service,
    stage: Stage,
}

/// Whether there is a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    Over,
}

/// The service that works with the credentials.
enum Service {
    /// There is none yet.
    Off,
    /// It works.
    On(Arc<Engine>),
    /// It cannot start, for this reason.
    Failed(String),
}

/// A repository in which the AutoBuild App works.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Covered {
    installation: InstallationId,
    id: RepoId,
    name: String,
}

/// What GitHub says of the installations.
#[derive(Default)]
struct Places {
    /// Where the AutoBuild App works.
    repositories: Vec<Covered>,
    /// How many more there are than are shown.
    more: u64,
    /// Whether the Coach App is installed, where it exists.
    coach: Option<Installed>,
    /// What GitHub did not say.
    trouble: Option<String>,
}

impl Setup {
    /// Whether a data folder holds a set-up that is not over, or none that was begun.
    ///
    /// # Errors
    ///
    /// What is kept cannot be read.
    pub fn is_open_in(folder: &Path) -> Result<bool, NotKept> {
        let has_app = KeptApps::read(folder)?.is_some_and(|kept| kept.autobuild.is_some());
        Ok(!has_app || folder.join(PROGRESS_FILE).exists())
    }

    /// Goes on where the data folder's set-up is.
    ///
    /// # Errors
    ///
    /// What is kept cannot be read.
    pub fn open(options: SetupOptions) -> Result<Arc<Self>, NotKept> {
        let progress = read_private(&options.folder.join(PROGRESS_FILE))?.unwrap_or_default();
        let kept = KeptApps::read(&options.folder)?;
        let now = Now {
            progress,
            kept,
            proof: Proof::NotTried,
            service: Service::Off,
            stage: Stage::Open,
        };
        Ok(Arc::new(Self {
            options,
            now: Mutex::new(now),
            work: tokio::sync::Mutex::default(),
            changes: watch::Sender::new(0),
        }))
    }

    /// Whether there is still a page.
    pub fn is_open(&self) -> bool {
        self.now().stage == Stage::Open
    }

    /// Whether there is an App to work with.
    pub(super) fn has_app(&self) -> bool {
        self.now().kept.as_ref().is_some_and(|kept| kept.autobuild.is_some())
    }

    /// Tells of every change of the credentials.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The service works now; its address is proven.
    pub fn service_works(self: &Arc<Self>, engine: Arc<Engine>) {
        self.now().service = Service::On(engine);
        let setup = Arc::clone(self);
        tokio::spawn(async move { setup.prove().await });
    }

    /// The service could not be started.
    pub fn service_failed(&self, why: String) {
        self.now().service = Service::Failed(why);
    }

    /// The service ends.
    pub fn service_ends(&self) {
        self.now().service = Service::Off;
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn to work on the set-up; none once that is over.
    async fn work(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let one = self.work.lock().await;
        self.is_open().then_some(one)
    }

    fn clock(&self) -> Millis {
        (self.options.clock)()
    }

    /// Changes the progress, and writes it down while there is a page.
    fn progress<T>(&self, change: impl FnOnce(&mut Progress) -> T) -> Result<T, NotKept> {
        let mut now = self.now();
        let mut next = now.progress.clone();
        let result = change(&mut next);
        if next != now.progress && now.stage == Stage::Open {
            write_private(&self.options.folder.join(PROGRESS_FILE), &next)?;
            now.progress = next;
        }
        Ok(result)
    }

    /// Keeps an App's credentials beside what is kept, or forgets them, and tells of it.
    fn keep(&self, mut kept: KeptApps, which: Which, app: Option<KeptApp>) -> Result<(), NotKept> {
        let mut now = self.now();
        match which {
            Which::Autobuild => kept.autobuild = app,
            Which::Coach => kept.coach = app,
        }
        for secret in kept.secrets() {
            self.options.secrets.learn(secret, NEVER, self.clock());
        }
        kept.write(&self.options.folder)?;
        now.kept = Some(kept).filter(|kept| kept.autobuild.is_some() || kept.coach.is_some());
        if now.kept.is_none() {
            let _ = std::fs::remove_file(self.options.folder.join(crate::config::KEPT_APPS_FILE));
        }
        now.proof = Proof::NotTried;
        drop(now);
        self.changes.send_modify(|changes| *changes += 1);
        Ok(())
    }

    fn kept(&self) -> Option<KeptApps> {
        self.now().kept.clone()
    }

    /// An App that calls GitHub with what is kept.
    fn client(&self, which: Which) -> anyhow::Result<Option<Client>> {
        let kept = self.kept();
        let app = kept.as_ref().and_then(|kept| match which {
            Which::Autobuild => kept.autobuild.as_ref(),
            Which::Coach => kept.coach.as_ref(),
        });
        match (&kept, app) {
            (Some(kept), Some(app)) => Ok(Some(self.client_of(&kept.github(), app)?)),
            (None, _) | (_, None) => Ok(None),
        }
    }

    fn client_of(&self, github: &GithubAddress, app: &KeptApp) -> anyhow::Result<Client> {
        let urls = GithubUrls::new(github.api.as_str(), github.web.as_str())?;
        let app = App::new(AppId(app.id), &app.private_key)?;
        Ok(Client::new(&app, &urls, self.options.clock)?.masking(self.options.secrets.clone()))
    }

    /// Where the Apps are installed, asked now.
    async fn places(&self) -> Places {
        let mut places = Places::default();
        if let Err(error) = self.look_for(&mut places).await {
            places.trouble = Some(self.options.secrets.mask(&format!("{error:#}")));
        }
        places
    }

    async fn look_for(&self, places: &mut Places) -> anyhow::Result<()> {
        if let Some(client) = self.client(Which::Autobuild)? {
            for installed in client.installations().await? {
                let (repositories, count) = client.repositories(installed.id).await?;
                places.more += count.saturating_sub(u64::try_from(repositories.len()).unwrap_or(count));
                let open = repositories.into_iter().filter(|repository| !repository.archived);
                places.repositories.extend(open.map(|repository| Covered {
                    installation: installed.id,
                    id: repository.id,
                    name: format!("{}/{}", repository.name.owner, repository.name.name),
                }));
            }
        }
        if let Some(client) = self.client(Which::Coach)? {
            places.coach = Some(match client.installations().await?.is_empty() {
                true => Installed::Nowhere,
                false => Installed::Somewhere,
            });
        }
        Ok(())
    }
}

/// The set-up's routes.
pub(super) fn routes(setup: Arc<Setup>) -> Router {
    Router::new()
        .route("/setup", get(show))
        .route("/setup/choice", post(register::choose))
        .route(REGISTERED, get(register::registered))
        .route("/setup/retry", post(register::retry))
        .route("/setup/forget", post(register::forget))
        .route("/setup/import", post(register::import))
        .route("/setup/prove", post(prove::again))
        .route("/setup/finish", post(finish::finish))
        .route("/setup/stored", post(finish::stored))
        .route("/setup/go.js", get(browser::script))
        .with_state(setup)
}

/// `GET /setup`: opens the page by the link, or shows it.
async fn show(State(setup): State<Arc<Setup>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let query = Form::read(query.unwrap_or_default().as_bytes());
    if !setup.is_open() {
        return page::over();
    }
    if let Some(token) = query.field("token") {
        return browser::admit(&setup, token, &headers);
    }
    match Browser::of(&setup, &headers) {
        Some(browser) => setup.page(&browser, None).await,
        None => page::closed(),
    }
}

/// Back to the page, which says what there is to say.
fn back() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/setup")]).into_response()
}

impl Setup {
    /// The page as it is now, with what has just happened.
    async fn page(&self, browser: &Browser, note: Option<Note>) -> Response {
        let places = self.places().await;
        let manifests = match self.manifests(browser) {
            Ok(manifests) => manifests,
            Err(error) => return page::failed(&error.to_string()),
        };
        let now = self.now();
        let installed = match places.repositories.is_empty() {
            true => Installed::Nowhere,
            false => Installed::Somewhere,
        };
        let autobuild = standing(&now.progress, now.kept.as_ref(), Which::Autobuild);
        let step = step(now.progress.choice.as_ref(), &autobuild, installed);
        let shown = page::Shown {
            step,
            autobuild,
            coach: standing(&now.progress, now.kept.as_ref(), Which::Coach),
            choice: now.progress.choice.as_ref(),
            kept: now.kept.as_ref(),
            github: self.options.github.as_ref(),
            proposed: self.options.public_url.as_ref().unwrap_or(&browser.address),
            proof: &now.proof,
            failed: match &now.service {
                Service::Failed(why) => Some(why),
                Service::Off | Service::On(_) => None,
            },
            places: &places,
            manifests: &manifests,
            folder: &self.options.folder,
            form: &browser.form,
            note,
        };
        page::page(&shown)
    }

    /// What the buttons post: a new state each time that the page is shown.
    fn manifests(&self, browser: &Browser) -> Result<Vec<page::Posted>, NotKept> {
        let choice = self.now().progress.choice.clone();
        let kept = self.kept();
        let mut posted = Vec::new();
        for which in Which::BOTH {
            let open = matches!(standing(&self.now().progress, kept.as_ref(), which), Standing::Missing);
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

    /// The step that is next, for who must not come before it.
    fn is_before(&self, step: Step) -> bool {
        let now = self.now();
        let autobuild = standing(&now.progress, now.kept.as_ref(), Which::Autobuild);
        progress::step(now.progress.choice.as_ref(), &autobuild, Installed::Somewhere) < step
    }
}
