//! The last step: makes labels and a proposal in the chosen repositories, then closes the set-up.

use super::{
    PROGRESS_FILE, Setup, Stage, back,
    browser::{Browser, Form},
    link::SetupLink,
    page,
    page::Note,
    register::sending,
};
use crate::{
    config::KEPT_APPS_FILE,
    engine::{Engine, onboarding::Onboarded},
    web::setup::Covered,
};
use axum::{body::Bytes, extract::State, http::HeaderMap, response::Response};
use std::sync::Arc;

/// The most repositories that are set up at once: each costs several writes, while a browser waits.
pub(super) const MOST: usize = 10;

/// The result for a repository, or the reason why nothing was made.
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
    let Some(_one) = setup.work().await else {
        return page::over();
    };
    let Some(engine) = setup.engine().await else {
        return setup.page(&browser, Some(Note::NoService)).await;
    };
    setup.finished(&browser, &engine, &form).await
}

/// `POST /setup/stored`: a person has stored the shown credentials elsewhere, so the data folder must not keep them any
/// longer.
pub(super) async fn stored(State(setup): State<Arc<Setup>>, headers: HeaderMap, body: Bytes) -> Response {
    let form = Form::read(&body);
    let browser = match sending(&setup, &headers, &form) {
        Ok(browser) => browser,
        Err(refused) => return *refused,
    };
    let Some(_one) = setup.work().await else {
        return page::over();
    };
    let Some(kept) = setup.kept() else { return back() };
    // Another App may have been registered since the credentials were shown.
    let proof = setup.proof().await;
    if form.text("shown") != page::mark(&kept).text() {
        return page::credentials(&kept, &proof, &[], &browser.form);
    }
    match setup.close(&[KEPT_APPS_FILE, PROGRESS_FILE]) {
        Ok(()) => page::done(&kept, &proof, &[], None),
        Err(error) => page::failed(&error.to_string()),
    }
}

impl Setup {
    async fn finished(&self, browser: &Browser, engine: &Engine, form: &Form) -> Response {
        let installations = self.installations().await;
        let is_ticked = |covered: &&Covered| {
            let id = covered.id.to_string();
            form.fields("repository").any(|ticked| ticked == id)
        };
        let ticked: Vec<&Covered> = installations.repositories.iter().filter(is_ticked).collect();
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
        let proof = self.proof().await;
        if form.text("keep") == "show" {
            return page::credentials(&kept, &proof, &made, &browser.form);
        }
        match self.close(&[PROGRESS_FILE]) {
            Ok(()) => page::done(&kept, &proof, &made, Some(&self.options.folder)),
            Err(error) => page::failed(&error.to_string()),
        }
    }

    /// Closes the set-up and removes these files.
    fn close(&self, files: &[&str]) -> std::io::Result<()> {
        let gone = |name: &str| match std::fs::remove_file(self.options.folder.join(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        let mut now = self.now();
        files.iter().try_for_each(|name| gone(name))?;
        SetupLink::remove(&self.options.folder);
        now.stage = Stage::Over;
        now.kept = None;
        tracing::info!("the set-up is over");
        Ok(())
    }
}
