//! Handles pushes to the default branch. Feature pull requests in review may no longer merge, and the settings file may
//! have changed.

use crate::{
    config::SETTINGS_FILE,
    engine::{
        Engine,
        ingest::context::fact,
        job::{Done, EffectError},
    },
    github::webhook::{EventOrigin, Push},
    store::Scope,
};
use domain::feature::{State, event::Event};

/// Applies the push to every Feature in review.
pub async fn pushed(engine: &Engine, origin: &EventOrigin, push: &Push) -> Result<Done, EffectError> {
    if push.branch != origin.repo.default_branch {
        return Ok(Done::Nothing);
    }
    if push.may_change(SETTINGS_FILE) {
        engine.doubt_settings(origin.repo.id, &origin.repo.name).await?;
    }
    let Some(head) = &push.after else {
        return Ok(Done::Nothing);
    };
    let rows = engine.store.unfinished(Scope::Repo(origin.repo.id)).await?;
    let in_review = State::InReview.word();
    let mut done = Ok(());
    for row in rows.into_iter().filter(|row| row.state == in_review) {
        let event = Event::DefaultPushed { head: head.clone() };
        let fact = fact(engine, event, format!("default/{head}"), &origin.sender.user);
        done = done.and(engine.apply(&row.key, fact, None).await.map(drop));
    }
    done?;
    Ok(Done::Nothing)
}
