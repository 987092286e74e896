//! Keeps CI from running agent-written code until a person lets it, by the skip instruction in our commits.

use crate::engine::{
    apply::Fact,
    exposure::of_tree,
    job::EffectError,
    perform::{context::EffectContext, turn},
    settings::Workflows,
};
use domain::{
    ci::{CiPolicy, CiRelease, CiStatus, CiTreatment, held_message, released_message, skips, treatment},
    feature::event::Event,
    ids::Sha,
};
use git::Mirror;

/// The most new commits of one push that may have to be held.
const MOST: usize = 1_000;

/// Returns the commit to push in place of `head`: if CI is held for its tree, each new commit of ours ends with the
/// skip instruction. If the tree's workflows give more than the Feature knows, that is recorded first, so that the
/// Feature waits for a person.
pub(super) async fn commit_to_push(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    head: &Sha,
) -> Result<Sha, EffectError> {
    let feature = &context.feature;
    if context.engine.settings.workflows == Workflows::Never {
        return Ok(head.clone());
    }
    match (feature.rules.ci, &feature.ci.release) {
        (CiPolicy::Wait | CiPolicy::Ignore, _) | (_, CiRelease::By(_)) => return Ok(head.clone()),
        (CiPolicy::Auto | CiPolicy::Ask, CiRelease::None) => {}
    }
    let default = context.repo().repository().await?.default_branch;
    let shown = of_tree(mirror, head, &context.engine.run_branches(&context.feature.key, &default)).await?;
    let exposure = feature.ci.exposure.clone().with(shown.clone());
    if exposure != feature.ci.exposure {
        let event = Event::CiExposed { exposure: shown };
        let fact = Fact::ours(event, format!("exposure/{head}"), context.engine);
        context.engine.apply(&context.feature.key, fact, None).await?;
    }
    let status = CiStatus { exposure, release: CiRelease::None };
    if treatment(feature.rules.ci, &status) != CiTreatment::Hold {
        return Ok(head.clone());
    }
    let us = turn::author(context).await?.email;
    let commits = mirror.on_no_branch(head, MOST).await?;
    let remade =
        mirror.reworded(&commits, |info| turn::is_ours(info, &us).then(|| held_message(&info.message))).await?;
    Ok(remade.get(head).unwrap_or(head).clone())
}

/// Returns the commit to open the feature pull request from: the tree of `head`, with no skip instruction in the message
/// of any new commit. It is `head` itself if there is none.
pub(super) async fn released(mirror: &Mirror, default: &Sha, head: &Sha) -> Result<Sha, EffectError> {
    let commits = mirror.lacking(default, head).await?;
    let remade =
        mirror.reworded(&commits, |info| skips(&info.message).then(|| released_message(&info.message))).await?;
    Ok(remade.get(head).unwrap_or(head).clone())
}
