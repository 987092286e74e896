//! The first two steps: the choice, and the Apps, registered from a manifest or imported.

use super::{
    OtherPage, Setup, back,
    browser::{Browser, Form, SentForm},
    manifest::AppKind,
    page,
    page::Note,
    progress::{AppStatus, Choice, CodeAppStatus, Hash, NoReturn, NotOurs, Step, status},
};
use crate::{
    config::{KeptApp, KeptApps, OAuthClient, github_named},
    github::{GithubError, GithubUrls, Identity, RegisteredApp, exchange, lacking},
};
use axum::{
    extract::{RawQuery, State},
    http::{StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
};
use secrecy::SecretString;
use std::sync::Arc;

/// `POST /setup/choice`.
pub(super) async fn choose(
    State(setup): State<Arc<Setup>>,
    SentForm { browser, form }: SentForm,
) -> Result<Response, OtherPage> {
    let _one = setup.work().await?;
    if setup.is_choice_fixed() {
        return setup.page(&browser, Some(Note::ChoiceIsFixed)).await;
    }
    let github = match &setup.options.github {
        Some(github) => Ok(github.clone()),
        None => github_named(form.text("github")),
    };
    let note = match Choice::read(github, form.text("organization"), form.text("address")) {
        Ok(choice) => {
            setup.progress(|progress| progress.choice = Some(choice))?;
            Note::Chosen
        }
        Err(why) => Note::NoChoice(why),
    };
    setup.page_after(&browser, Some(note), &form).await
}

/// `GET /setup/registered`: GitHub sends the browser back with a code.
pub(super) async fn registered(
    State(setup): State<Arc<Setup>>,
    RawQuery(query): RawQuery,
    browser: Browser,
) -> Result<Response, OtherPage> {
    let query = Form::read(query.unwrap_or_default().as_bytes());
    let tracked = Arc::clone(&setup);
    to_its_end(&tracked, async move {
        let _one = setup.work().await?;
        let (hash, now) = (Hash::of(&browser.cookie), setup.clock());
        match setup.progress(|progress| progress.accept_return(query.text("state"), query.text("code"), &hash, now))? {
            Ok(which) => setup.exchange(&browser, which).await,
            // A browser that loads the address again is shown the result.
            Err(NoReturn::UnknownState) if setup.apps().is_some() => Ok(back()),
            Err(why) => {
                let note = setup.page(&browser, Some(Note::NoReturn(why))).await?;
                Ok((StatusCode::BAD_REQUEST, note).into_response())
            }
        }
    })
    .await
}

/// Runs the work to its end, even if the browser leaves or the service is stopped: GitHub hands out an App's key only
/// once.
async fn to_its_end(
    setup: &Setup,
    work: impl Future<Output = Result<Response, OtherPage>> + Send + 'static,
) -> Result<Response, OtherPage> {
    let ended = setup.exchanges.spawn(work).await;
    ended.unwrap_or_else(|_| Ok(page::failed(page::BROKEN_OFF)))
}

/// `POST /setup/retry`: exchanges a saved code again.
pub(super) async fn retry(State(setup): State<Arc<Setup>>, sent: SentForm) -> Result<Response, OtherPage> {
    let Some(which) = AppKind::of_key(sent.form.text("which")) else {
        return Ok(back());
    };
    let tracked = Arc::clone(&setup);
    to_its_end(&tracked, async move {
        let _one = setup.work().await?;
        setup.exchange(&sent.browser, which).await
    })
    .await
}

/// `POST /setup/forget`: forgets an App that the person deleted on GitHub, or does not want.
pub(super) async fn forget(State(setup): State<Arc<Setup>>, sent: SentForm) -> Result<Response, OtherPage> {
    let Some(which) = AppKind::of_key(sent.form.text("which")) else {
        return Ok(back());
    };
    let _one = setup.work().await?;
    let kept = setup.apps().filter(|kept| which.app_in(kept).is_some());
    setup.progress(|progress| progress.drop_code(which))?;
    if let Some(kept) = kept {
        setup.keep(kept, which, None)?;
    }
    Ok(back())
}

/// `POST /setup/import`: imports an App that is registered already.
pub(super) async fn import(
    State(setup): State<Arc<Setup>>,
    SentForm { browser, form }: SentForm,
) -> Result<Response, OtherPage> {
    if setup.is_before(Step::Register) {
        return Ok(back());
    }
    let _one = setup.work().await?;
    match setup.imported(&form).await {
        Ok(()) => Ok(back()),
        Err(why) => setup.page_after(&browser, Some(Note::NotImported(why)), &form).await,
    }
}

/// Why an App was not imported.
pub(super) enum NotImported {
    NoGithub,
    NoWhich,
    NoId,
    NoKey,
    NoSecret,
    /// The client's secret was given without its id.
    NoClientId,
    /// The key cannot be used, for this masked cause.
    UnusableKey(String),
    NotOurs(AppKind, NotOurs),
    /// GitHub or this machine failed, with this masked cause.
    Failed(String),
}

impl NotImported {
    /// Returns the field that must change, if it is one.
    pub(super) fn field(&self) -> Option<ImportField> {
        match self {
            Self::NoWhich | Self::NotOurs(..) => Some(ImportField::Which),
            Self::NoId => Some(ImportField::Id),
            Self::NoKey | Self::UnusableKey(_) => Some(ImportField::Key),
            Self::NoSecret => Some(ImportField::Secret),
            Self::NoClientId => Some(ImportField::ClientId),
            Self::NoGithub | Self::Failed(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportField {
    Which,
    Id,
    Key,
    Secret,
    ClientId,
}

impl Setup {
    /// Exchanges the saved code for an App. On success, the browser goes to GitHub to install the App.
    async fn exchange(&self, browser: &Browser, which: AppKind) -> Result<Response, OtherPage> {
        let (choice, code) = {
            let now = self.now.lock();
            let open = matches!(
                status(&now.progress, now.kept.as_ref(), which),
                AppStatus::Unfinished(CodeAppStatus::Begun | CodeAppStatus::NoAnswer)
            );
            let code = now.progress.code(which).filter(|_| open).map(|code| code.code.clone());
            (now.progress.choice.clone(), code)
        };
        let (Some(choice), Some(code)) = (choice, code) else {
            return Ok(back());
        };
        let urls = GithubUrls::new(choice.github.api.as_str(), choice.github.web.as_str())?;
        let urls = urls.through(&self.options.uplink);
        let result = match exchange(&urls, &code, self.options.clock).await {
            Ok(app) => self.accept(&choice, which, app),
            Err(GithubError::NotFound | GithubError::Gone) => Err(CodeAppStatus::Lost),
            Err(error) => {
                let why = self.options.secrets.mask(&error.to_string());
                tracing::warn!("the code for {} was not exchanged: {why}", which.name());
                Err(CodeAppStatus::NoAnswer)
            }
        };
        let app = match result {
            Ok(app) => app,
            Err(standing) => {
                self.progress(|progress| progress.set_status(which, standing))?;
                return self.page(browser, None).await;
            }
        };
        let install = page::install_page(&app);
        self.keep(self.kept_apps_for(&choice), which, Some(app))?;
        self.progress(|progress| progress.drop_code(which))?;
        let response = (StatusCode::SEE_OTHER, [(LOCATION, install)]).into_response();
        Ok(page::guarded(response, None))
    }

    /// `true` if the choice can no longer change: an App is kept, or a code is not exchanged yet.
    fn is_choice_fixed(&self) -> bool {
        let now = self.now.lock();
        now.kept.is_some() || !now.progress.codes.is_empty()
    }

    /// Returns the Apps kept so far, or an empty value for this choice.
    fn kept_apps_for(&self, choice: &Choice) -> KeptApps {
        self.apps().unwrap_or_else(|| KeptApps::none(&choice.github, choice.public_url.clone()))
    }

    /// Accepts an App that GitHub returned, if it is the requested one.
    fn accept(&self, choice: &Choice, which: AppKind, app: RegisteredApp) -> Result<KeptApp, CodeAppStatus> {
        for secret in app.webhook_secret.iter().chain([&app.private_key, &app.client_secret]) {
            self.options.secrets.learn(secret, super::NEVER.0, self.clock().0);
        }
        let wrong = self.wrong(which, &app.identity).or_else(|| {
            let wanted = choice.organization.as_ref()?;
            let other = !wanted.eq_ignore_ascii_case(&app.owner.login);
            other.then(|| NotOurs::OwnedBy(app.owner.login.clone()))
        });
        let without_hook = which == AppKind::Autobuild && app.webhook_secret.is_none();
        let wrong = wrong.or_else(|| without_hook.then_some(NotOurs::NoWebhook));
        if let Some(why) = wrong {
            let page = app.page;
            return Err(CodeAppStatus::Foreign { page, why });
        }
        Ok(KeptApp {
            id: app.identity.id.0,
            slug: app.identity.slug,
            page: app.page,
            private_key: app.private_key,
            webhook_secret: app.webhook_secret,
            oauth: Some(OAuthClient { id: app.client_id, secret: app.client_secret }),
        })
    }

    /// Returns the reason why an App is not the right one, if there is one.
    fn wrong(&self, which: AppKind, app: &Identity) -> Option<NotOurs> {
        let other = match which {
            AppKind::Autobuild => AppKind::Coach,
            AppKind::Coach => AppKind::Autobuild,
        };
        let kept = self.apps();
        let other = kept.as_ref().and_then(|kept| other.app_in(kept));
        if other.is_some_and(|other| other.id == app.id.0) {
            return Some(NotOurs::TheOther);
        }
        let owned = |(name, level): (&str, &str)| (name.to_owned(), level.to_owned());
        let lacking: Vec<_> = lacking(&app.permissions, which.permissions()).into_iter().map(owned).collect();
        (!lacking.is_empty()).then_some(NotOurs::Lacks(lacking))
    }

    async fn imported(&self, form: &Form) -> Result<(), NotImported> {
        let masked = |why: anyhow::Error| self.options.secrets.mask(&format!("{why:#}"));
        let failed = |why: anyhow::Error| NotImported::Failed(masked(why));
        let choice = self.now.lock().progress.choice.clone().ok_or(NotImported::NoGithub)?;
        let (which, mut app) = read_import(form)?;
        let client = self.client_of(&choice.github, &app);
        let client = client.map_err(|why| NotImported::UnusableKey(masked(why)))?;
        let identity = client.identity().await.cloned().map_err(|error| failed(error.into()))?;
        if let Some(why) = self.wrong(which, &identity) {
            return Err(NotImported::NotOurs(which, why));
        }
        app.page = identity.page(choice.github.web.as_str());
        app.slug = identity.slug;
        let kept = self.keep(self.kept_apps_for(&choice), which, Some(app));
        let dropped = kept.and_then(|()| self.progress(|progress| progress.drop_code(which)));
        dropped.map_err(|error| failed(error.into()))
    }
}

/// Reads the form that imports an App, whose name GitHub reports later.
fn read_import(form: &Form) -> Result<(AppKind, KeptApp), NotImported> {
    let which = AppKind::of_key(form.text("which")).ok_or(NotImported::NoWhich)?;
    let id = form.text("id").trim().parse::<u64>().map_err(|_| NotImported::NoId)?;
    let secret = |name: &str| {
        let text = form.text(name).trim();
        (!text.is_empty()).then(|| SecretString::from(text.to_owned()))
    };
    let app = KeptApp {
        id,
        slug: String::new(),
        page: String::new(),
        private_key: secret("key").ok_or(NotImported::NoKey)?,
        webhook_secret: secret("secret"),
        oauth: secret("client_secret")
            .map(|secret| OAuthClient { id: form.text("client_id").trim().to_owned(), secret }),
    };
    if which == AppKind::Autobuild && app.webhook_secret.is_none() {
        return Err(NotImported::NoSecret);
    }
    if app.oauth.as_ref().is_some_and(|client| client.id.is_empty()) {
        return Err(NotImported::NoClientId);
    }
    Ok((which, app))
}
