//! The last step: labels and a proposal in the repositories that were ticked; then the page is gone.

use super::{
    PROGRESS_FILE, Service, Setup, Stage, back,
    browser::{Browser, Form},
    link::SetupLink,
    page,
    page::Note,
    register::sending,
};
use crate::{
    config::{KEPT_APPS_FILE, KeptApps},
    engine::{Engine, onboarding::Onboarded},
    web::setup::Covered,
};
use axum::{body::Bytes, extract::State, http::HeaderMap, response::Response};
use std::sync::Arc;

/// Repositories that are set up at once: each costs several writes, and a browser waits.
pub(super) const MOST: usize = 10;

/// What was made in a repository, or why nothing was.
pub(super) struct Made {
    pub(super) repository: String,
    pub(super) result: Result<Onboarded, String>,
}

/// `POST /setup/finish`.
pub(super) async fn finish(State(setup): State<Arc<Setup>>, headers: HeaderMap, body: Bytes) -> Response {
    let form = Form::read(&body);
    let browser = match sending(&setup, &headers, &form) {
        Ok(browser) => browser,
        Err(refused) => return *refused,
    };
    let _one = setup.work.lock().await;
    if !setup.is_open() {
        return page::over();
    }
    let engine = match &setup.now().service {
        Service::On(engine) => Some(Arc::clone(engine)),
        Service::Off | Service::Failed(_) => None,
    };
    let Some(engine) = engine else {
        return setup.page(&browser, Some(Note::NoService)).await;
    };
    setup.finished(&browser, &engine, &form).await
}

impl Setup {
    async fn finished(&self, browser: &Browser, engine: &Engine, form: &Form) -> Response {
        let places = self.places().await;
        let is_ticked = |covered: &&Covered| {
            let id = covered.id.to_string();
            form.fields("repository").any(|ticked| ticked == id)
        };
        let ticked: Vec<&Covered> = places.repositories.iter().filter(is_ticked).collect();
        if ticked.len() > MOST {
            return self.page(browser, Some(Note::TooMany(MOST))).await;
        }
        let mut made = Vec::new();
        for covered in ticked {
            let result = engine.onboard(covered.installation, covered.id).await;
            made.push(Made {
                repository: covered.name.clone(),
                result: result.map_err(|error| self.options.secrets.mask(&error.to_string())),
            });
        }
        if made.iter().any(|made| made.result.is_err()) {
            return self.page(browser, Some(Note::Made(made))).await;
        }
        let Some(kept) = self.kept() else { return back() };
        let shown = match form.text("keep") {
            "show" => Some(&kept),
            _ => None,
        };
        let response = page::done(&kept, &made, shown, self.options.folder.as_path());
        match self.close(shown) {
            Ok(()) => response,
            Err(error) => page::failed(&error.to_string()),
        }
    }

    /// The page is gone; with it the file of credentials that were handed out.
    fn close(&self, handed_out: Option<&KeptApps>) -> std::io::Result<()> {
        let gone = |name: &str| match std::fs::remove_file(self.options.folder.join(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        if handed_out.is_some() {
            gone(KEPT_APPS_FILE)?;
        }
        gone(PROGRESS_FILE)?;
        SetupLink::remove(&self.options.folder);
        let mut now = self.now();
        now.stage = Stage::Over;
        now.service = Service::Off;
        now.kept = None;
        tracing::info!("the set-up is over");
        Ok(())
    }
}
