//! The last step: makes labels and a proposal in the chosen repositories, then closes the set-up.

use super::{
    CoveredRepository, OtherPage, PROGRESS_FILE, Setup, back, browser::SentForm, link::SetupLink, page, page::Note,
};
use crate::{
    config::KEPT_APPS_FILE,
    engine::{Engine, onboarding::OnboardingOutcome},
};
use axum::{extract::State, response::Response};
use std::sync::Arc;

/// The most repositories that are set up at once: each takes several writes, while a browser waits.
pub(super) const MOST: usize = 10;

/// The result for a repository, or the reason why nothing was made.
pub(super) struct Onboarding {
    pub(super) repository: String,
    pub(super) result: Result<OnboardingOutcome, String>,
}

/// `POST /setup/finish`.
pub(super) async fn finish(State(setup): State<Arc<Setup>>, sent: SentForm) -> Result<Response, OtherPage> {
    let _one = setup.work().await?;
    let Some(engine) = setup.engine().await else {
        return setup.page_after(&sent.browser, Some(Note::NoService), &sent.form).await;
    };
    setup.finished(&sent, &engine).await
}

/// `POST /setup/stored`: a person has stored the shown credentials elsewhere, so the data folder must not keep them any
/// longer.
pub(super) async fn confirm_stored(State(setup): State<Arc<Setup>>, sent: SentForm) -> Result<Response, OtherPage> {
    let _one = setup.work().await?;
    let Some(kept) = setup.apps() else {
        return Ok(back());
    };
    // Another App may have been registered since the credentials were shown.
    let reach = setup.reach().await;
    if sent.form.text("shown") != page::mark(&kept).text() {
        return Ok(page::credentials(&kept, &reach, &[], &sent.browser.form));
    }
    setup.close(&[KEPT_APPS_FILE, PROGRESS_FILE])?;
    Ok(page::final_page(&kept, &reach, &[], None))
}

impl Setup {
    async fn finished(&self, SentForm { browser, form }: &SentForm, engine: &Engine) -> Result<Response, OtherPage> {
        let installations = self.installations().await;
        let is_ticked = |covered: &&CoveredRepository| {
            let id = covered.id.to_string();
            form.fields("repository").any(|ticked| ticked == id)
        };
        let ticked: Vec<&CoveredRepository> = installations.repositories.iter().filter(is_ticked).collect();
        if ticked.len() > MOST {
            return self.page_after(browser, Some(Note::TooMany(MOST)), form).await;
        }
        let mut made = Vec::new();
        for covered in ticked {
            let result = engine.onboard(covered.installation, covered.id).await;
            made.push(Onboarding {
                repository: covered.name.clone(),
                result: result.map_err(|error| self.options.secrets.mask(&error.to_string())),
            });
        }
        if made.iter().any(|made| made.result.is_err()) {
            return self.page_after(browser, Some(Note::Made(made)), form).await;
        }
        let Some(kept) = self.apps() else {
            return Ok(back());
        };
        let reach = self.reach().await;
        if form.text("keep") == "show" {
            return Ok(page::credentials(&kept, &reach, &made, &browser.form));
        }
        self.close(&[PROGRESS_FILE])?;
        Ok(page::final_page(&kept, &reach, &made, Some(&self.options.folder)))
    }

    /// Closes the set-up and removes these files.
    fn close(&self, files: &[&str]) -> std::io::Result<()> {
        let gone = |name: &str| match std::fs::remove_file(self.options.folder.join(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        let mut now = self.now.lock();
        files.iter().try_for_each(|name| gone(name))?;
        SetupLink::remove(&self.options.folder);
        now.is_open = false;
        now.kept = None;
        tracing::info!("the set-up is over");
        Ok(())
    }
}
