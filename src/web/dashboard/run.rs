//! A run's page: its events one by one.

use crate::{
    engine::{Engine, view::ViewError},
    messages,
    messages::clean,
    web::dashboard::parts::feature_address,
};
use domain::{ids::FeatureKey, trace, trace::TraceLine};
use maud::{Markup, html};
use text::{secret::Secrets, shorten};

/// The most characters of one event.
const LONGEST: usize = 4_000;

/// Returns the page's content; `None` if the Feature has no such run.
pub(super) async fn content(engine: &Engine, key: &FeatureKey, id: &str) -> Result<Option<Markup>, ViewError> {
    let runs = engine.store.runs_of(key, None).await?;
    let Some(run) = runs.into_iter().find(|run| run.id == id) else {
        return Ok(None);
    };
    let events = engine.store.run_events(id).await?.unwrap_or_default();
    let task = run.task.map_or_else(|| "the plan".to_owned(), |task| task.to_string());
    let lines: Vec<TraceLine> = trace::read(&events).collect();
    Ok(Some(html! {
        p { a href=(feature_address(key)) { (key.name()) } }
        h1 { "The " (run.role) " of " (task) ", turn " (run.turn) }
        p.muted {
            (run.agent) @if let Some(model) = &run.model { " · " (model) }
            @if let Some(level) = run.level { " · isolation " (level) }
            " · " (engine.secrets.mask(&run.failure.unwrap_or_else(|| run.state.to_string())))
        }
        @if lines.is_empty() { p { "What happened is written down when the run ends." } }
        div.scroll tabindex="0" role="region" aria-label="Events" {
            table.list { tbody { @for line in &lines { (row(engine, line)) } } }
        }
    }))
}

fn row(engine: &Engine, line: &TraceLine) -> Markup {
    match line {
        TraceLine::Omitted { omitted } => {
            html! { tr { td {} td {} td.muted { (omitted) " events are left out here" } } }
        }
        TraceLine::Event(event) => {
            let (word, text) = messages::event_in_words(&event.kind);
            let text = mask_and_shorten(&engine.secrets, &text);
            html! { tr { td { (event.ms / 1_000) "." (event.ms % 1_000 / 100) " s" } td { (word) } td.says { (text) } } }
        }
    }
}

/// Masks a text before it is shortened, since half a secret would not be recognised.
fn mask_and_shorten(secrets: &Secrets, text: &str) -> String {
    shorten::middle(&secrets.mask(&clean(text)), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, mask_and_shorten};
    use secrecy::SecretString;
    use text::secret::Secrets;

    #[test]
    fn a_secret_across_the_cut_is_masked_whole() {
        let secret = "hush-hush-0123456789";
        let secrets = Secrets::new(&[SecretString::from(secret)]);
        for before in LONGEST / 2 - 40..=LONGEST / 2 {
            let text = format!("{}{secret}{}", "a ".repeat(before / 2), "b ".repeat(LONGEST));
            let shown = mask_and_shorten(&secrets, &text);
            assert!(!shown.contains("hush") && !shown.contains("0123"), "{before}");
        }
    }
}
