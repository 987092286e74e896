//! Results of a Player's runs. A result and its commit are stored with the end of the run, before the commit is pushed.
//! So the next try, a later effect or another machine can push the commit, and the run is not paid again.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{
            context::EffectContext,
            ground,
            ground::Ground,
            play::ended_badly,
            push::{Landed, push},
            turn,
            turn::PARTIAL,
        },
    },
    store::{EffectState, Fenced, StoredEffect},
};
use domain::{
    blocked::{BlockReason, Defect, Failure, WorkStep},
    ids::{Emission, Sha},
    inquiry::Inquiries,
    report::{LeftOut, PlayerReport},
    task,
    task::{PlayerOutcome, Task, Turn},
};
use git::{CommitInfo, Mirror};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use text::secret::Secrets;

/// The result of a run, as it is recorded with its effect.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunResult {
    /// The run finished.
    Finished(Box<FinishedPlayer>),
    /// The run ended with inquiries. It has a commit of the work so far if the tree had changed.
    Inquired { inquiries: Inquiries, commit: Option<MadeCommit> },
    /// Nothing may be pushed, or nothing changed.
    Ended(Box<PlayerOutcome>),
    /// The run failed. The work that it left is judged.
    Failed { commit: MadeCommit, reason: Box<BlockReason> },
    /// The run was ended by a failure of something else. Another run continues from its unfinished work.
    Interrupted { commit: MadeCommit },
}

/// A finished run whose commit may be pushed.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct FinishedPlayer {
    pub commit: MadeCommit,
    pub base: Sha,
    pub report: PlayerReport,
    /// New files that ignore rules kept out of the commit.
    pub left_out: Vec<LeftOut>,
}

/// A commit that is to be pushed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeCommit {
    pub head: Sha,
    pub branch: String,
    /// The head of the branch on GitHub before the run; `None` if the branch did not exist.
    #[serde(rename = "stood")]
    pub expected_head: Option<Sha>,
    /// The effect that the commit's trailer names.
    pub effect: String,
}

impl RunResult {
    /// Returns the result that is recorded with an effect.
    pub(super) fn of(effect: &StoredEffect) -> Option<Self> {
        serde_json::from_str(effect.external_id.as_deref()?).ok()
    }

    /// Returns its stored form, with secrets masked, for example in the names of files. A word of the form or of the
    /// commit stays: the commit must be found again.
    pub(super) fn to_json(&self, secrets: &Secrets) -> Result<String, EffectError> {
        let value =
            serde_json::to_value(self).map_err(|error| EffectError::defect(Defect::Other(error.to_string())))?;
        let keeps_commit = |value: &_| Self::deserialize(value).is_ok_and(|read| read.commit() == self.commit());
        Ok(secrets.mask_valid(value, keeps_commit).to_string())
    }

    fn commit(&self) -> Option<&MadeCommit> {
        match self {
            Self::Finished(finished) => Some(&finished.commit),
            Self::Failed { commit, .. } | Self::Interrupted { commit } => Some(commit),
            Self::Inquired { commit, .. } => commit.as_ref(),
            Self::Ended(_) => None,
        }
    }

    /// Pushes the commit and returns the result; `None` if another run has to continue, or the commit is lost.
    pub(super) async fn publish(
        self,
        context: &EffectContext<'_>,
        task: &Task,
        emission: Emission,
    ) -> Result<Option<Done>, EffectError> {
        let landed = match self.commit() {
            None => None,
            Some(commit) => match self.land(context, task, commit).await? {
                None => {
                    let id = &context.job.effect.id;
                    tracing::warn!(%id, commit = %commit.head, "the commit of {id} is lost: its run is made again");
                    return Ok(None);
                }
                Some(landed) => Some(landed),
            },
        };
        let outcome = match (self, landed) {
            (Self::Interrupted { .. }, _) => return Ok(None),
            (Self::Ended(outcome), _) => *outcome,
            (Self::Finished(finished), Some(Landed::OnBranch(head))) => PlayerOutcome::Pushed {
                base: finished.base,
                head,
                report: finished.report,
                left_out: finished.left_out,
            },
            (Self::Failed { reason, .. }, Some(Landed::OnBranch(head))) => ended_badly(*reason, Some(head)),
            (Self::Failed { reason, .. }, Some(Landed::Rejected(_))) => ended_badly(*reason, None),
            (Self::Finished(_) | Self::Failed { .. }, Some(Landed::Overtaken(head))) => {
                PlayerOutcome::Overtaken { head }
            }
            (Self::Finished(_) | Self::Inquired { .. }, Some(Landed::Rejected(rule))) => {
                let reason = BlockReason::BranchRule { rule };
                return Ok(Some(context.task_event(task.id, task::Event::Stuck { emission, reason })));
            }
            (Self::Inquired { inquiries, .. }, landed) => {
                return Ok(Some(inquired(context, task, emission, inquiries, landed)));
            }
            (Self::Finished(_) | Self::Failed { .. }, None) => return Ok(None),
        };
        let outcome = Box::new(outcome);
        Ok(Some(context.task_event(task.id, task::Event::Played { emission, outcome })))
    }

    /// Handles the result of an earlier effect: publishes it, or only pushes its commit if people said more since. Then a
    /// Player goes on from there.
    pub(super) async fn take_over(
        self,
        context: &EffectContext<'_>,
        task: &Task,
        turn: &Turn,
        emission: Emission,
    ) -> Result<Option<Done>, EffectError> {
        if turn.input.guidance.is_empty() && turn.input.reviews.is_empty() {
            self.record(context).await?;
            return self.publish(context, task, emission).await;
        }
        let Some(commit) = self.commit() else {
            return Ok(None);
        };
        let event = match self.land(context, task, commit).await? {
            // The words may say how to satisfy the rule.
            None | Some(Landed::Rejected(_)) => return Ok(None),
            Some(Landed::OnBranch(head) | Landed::Overtaken(head)) => {
                task::Event::Played { emission, outcome: Box::new(PlayerOutcome::Overtaken { head }) }
            }
        };
        Ok(Some(context.task_event(task.id, event)))
    }

    /// Pushes the commit, provided that the branch still has its earlier head. Returns `None` if neither this machine, nor
    /// the database, nor GitHub has the commit.
    async fn land(
        &self,
        context: &EffectContext<'_>,
        task: &Task,
        commit: &MadeCommit,
    ) -> Result<Option<Landed>, EffectError> {
        if !is_at_hand(context, task, &commit.head).await? {
            return self.landed_before(context, commit).await;
        }
        let store = &context.engine.store;
        let has_pack = || async { Ok(store.has_pack(&context.feature.key, &commit.head).await?) };
        let landed = if store.is_shared() && !context.patiently(has_pack).await? {
            // The next worker would not find a commit that is in this folder alone, so this one waits until it can push it.
            context.patiently(|| push_while_held(context, task, commit)).await?
        } else {
            push(context, task, &commit.head, commit.expected_head.clone()).await?
        };
        match &landed {
            Landed::OnBranch(_) | Landed::Overtaken(_) => {
                store.pack_pushed(&context.feature.key, &commit.head, context.engine.now()).await?;
            }
            Landed::Rejected(_) => {}
        }
        Ok(Some(landed))
    }

    /// Returns the branch's head on GitHub if the same effect pushed it: the push succeeded, and its answer was lost.
    async fn landed_before(
        &self,
        context: &EffectContext<'_>,
        commit: &MadeCommit,
    ) -> Result<Option<Landed>, EffectError> {
        let mirror = context.engine.mirrors.mirror(context.feature.key.repo);
        let tip = mirror.rev_parse(&super::branches::branch_name(&commit.branch)?).await?;
        let Some(tip) = tip else {
            return Ok(None);
        };
        let info = mirror.commit_info(&tip).await?;
        let is_whole = matches!(self, Self::Finished(_));
        let is_it = info.is_some_and(|info| names(&info, &commit.effect) && is_partial(&info) != is_whole);
        Ok(is_it.then_some(Landed::OnBranch(tip)))
    }

    /// Records the result with the effect. From then on its commit is pushed and no run is made.
    async fn record(&self, context: &EffectContext<'_>) -> Result<(), EffectError> {
        let text = self.to_json(&context.engine.secrets)?;
        match context.engine.store.record_external(&context.job.hold, &text).await? {
            Fenced::Written => Ok(()),
            Fenced::Lost => Err(EffectError::Stopped),
        }
    }
}

/// Pushes a commit for a worker that must keep its effect: a limit of GitHub is waited for here, and a lease that was not
/// renewed in time may be renewed yet, unless it is lost.
async fn push_while_held(context: &EffectContext<'_>, task: &Task, commit: &MadeCommit) -> Result<Landed, EffectError> {
    let passing = |message: String| Err(Failure::GitHubUnreachable { message }.into());
    match push(context, task, &commit.head, commit.expected_head.clone()).await {
        Err(EffectError::Limited { by, until }) => {
            let wait = u64::try_from(until.0.saturating_sub(context.engine.now().0)).unwrap_or(0);
            context.job.sleep(Duration::from_millis(wait)).await?;
            passing(by.to_string())
        }
        Err(stopped @ EffectError::Stopped) if !context.job.cancel.is_cancelled() => passing(stopped.to_string()),
        landed => landed,
    }
}

/// Reports the questions of a Player. If a person pushed meanwhile, the turn restarts from their commit instead.
fn inquired(
    context: &EffectContext<'_>,
    task: &Task,
    emission: Emission,
    inquiries: Inquiries,
    landed: Option<Landed>,
) -> Done {
    let partial = match landed {
        Some(Landed::OnBranch(head) | Landed::Overtaken(head)) => Some(head),
        Some(Landed::Rejected(_)) | None => None,
    };
    let event = task::Event::Inquired { emission, inquiries, partial };
    context.task_event(task.id, event)
}

/// Returns `true` if the commit's trailer names this effect.
pub(super) fn names(info: &CommitInfo, effect: &str) -> bool {
    info.trailer("AutoBuild-Attempt") == Some(effect)
}

pub(super) fn is_partial(info: &CommitInfo) -> bool {
    info.trailer(PARTIAL).is_some()
}

/// Makes sure that the mirror has a commit: it may be here, on GitHub or in the database.
async fn is_at_hand(context: &EffectContext<'_>, task: &Task, head: &Sha) -> Result<bool, EffectError> {
    let mirror = context.engine.mirrors.mirror(context.feature.key.repo);
    if mirror.has_commit(head).await? {
        return Ok(true);
    }
    let mirror = ground::fetched(context, task).await?;
    context.has_or_unpacks(&mirror, head).await
}

/// Returns the result of an earlier run that nobody judged. Either the branch's head on GitHub is its commit, or the
/// commit was never pushed and neither the branch nor its merge's other side has changed since.
pub(super) async fn left_behind(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
) -> Result<Option<RunResult>, EffectError> {
    match pushed_unheard(context, task, ground).await? {
        Some(result) => Ok(Some(result)),
        None => unpushed(context, task, turn, ground).await,
    }
}

/// Returns the result whose commit is on GitHub although no event reported it.
async fn pushed_unheard(
    context: &EffectContext<'_>,
    task: &Task,
    ground: &Ground,
) -> Result<Option<RunResult>, EffectError> {
    let Some(tip) = ground.expected_head.as_ref().filter(|tip| task.head.as_ref() != Some(tip)) else {
        return Ok(None);
    };
    let info = ground.mirror.commit_info(tip).await?.filter(|info| !is_partial(info));
    let Some(effect) = info.as_ref().and_then(|info| info.trailer("AutoBuild-Attempt")) else {
        return Ok(None);
    };
    let commit = MadeCommit {
        head: tip.clone(),
        branch: task.branch.clone(),
        expected_head: Some(tip.clone()),
        effect: effect.to_owned(),
    };
    let recorded = context.engine.store.effect(effect).await?;
    Ok(Some(match recorded.as_ref().and_then(RunResult::of) {
        Some(RunResult::Finished(finished)) => RunResult::Finished(Box::new(FinishedPlayer { commit, ..*finished })),
        // Its report is lost, for example because the database was restored.
        Some(_) | None => {
            RunResult::Failed { commit, reason: Box::new(BlockReason::failed(WorkStep::Play, Failure::ReportMissing)) }
        }
    }))
}

/// Returns the result of the previous effect, if its commit was never pushed.
async fn unpushed(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
) -> Result<Option<RunResult>, EffectError> {
    let own = &context.job.effect;
    let effects = context.engine.store.effects_of(&context.feature.key).await?;
    let is_earlier = |effect: &&StoredEffect| is_sibling(effect, own) && effect.id != own.id;
    let Some(result) = effects.iter().rev().find(is_earlier).and_then(RunResult::of) else {
        return Ok(None);
    };
    let Some(commit) = result.commit() else {
        return Ok(None);
    };
    if !is_at_hand(context, task, &commit.head).await? {
        return Ok(None);
    }
    let Some(info) = ground.mirror.commit_info(&commit.head).await? else {
        return Ok(None);
    };
    let fits = info.trailer("AutoBuild-Turn") == Some(&turn.number.to_string())
        && info.parents == ground.parents()
        && commit.branch == task.branch
        && commit.expected_head == ground.expected_head;
    Ok(fits.then_some(result))
}

/// Returns `true` if both are runs of the same task's Player.
fn is_sibling(one: &StoredEffect, other: &StoredEffect) -> bool {
    one.kind == other.kind && one.subject == other.subject
}

/// Returns `true` if a run of this task's Player made the commit, and its Feature does not know of it yet.
pub(super) async fn is_of_player(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    commit: &Sha,
) -> Result<bool, EffectError> {
    let Some(info) = mirror.commit_info(commit).await? else {
        return Ok(false);
    };
    let own = &context.job.effect;
    let Some(effect) = info.trailer("AutoBuild-Attempt") else {
        return Ok(false);
    };
    if effect == own.id {
        return Ok(true);
    }
    let us = turn::author(context).await?.email;
    let maker = context.engine.store.effect(effect).await?;
    // An effect that is done has reported its commit. So an unknown head with its trailer was made by a person.
    let is_unheard = |maker: StoredEffect| is_sibling(&maker, own) && maker.state != EffectState::Done;
    Ok(turn::is_ours(&info, &us) && maker.is_some_and(is_unheard))
}
