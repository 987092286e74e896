//! The starting point of a Player: the task's branch, the integration branch, or a merge with conflicts to resolve.

use crate::{
    agents::prompt::{GateRequirements, InstructionFile, Leftovers, MergedTask, PlayerInput, Prompt, Tests},
    config::{Mode, RepositorySettings, Role},
    engine::{
        job::EffectError,
        perform::{branches::branch_name, context::EffectContext, run_result, run_result::is_of_player},
        repository::tip,
    },
    gates,
    gates::CommandChoice,
};
use domain::{
    ci::CiTreatment,
    evidence::{Baseline, Finding},
    ids::Sha,
    question::{OpenQuestion, Question},
    task::{Origin, Task, Turn, TurnKind},
};
use git::{Checkout, MergeOutcome, Mirror};
use std::collections::BTreeSet;
use text::shell_command::ShellCommand;

/// The starting point of a Player.
pub(super) struct Ground {
    pub mirror: Mirror,
    pub checkout: Checkout,
    pub start: Sha,
    /// The head of the branch on GitHub; `None` if it does not exist.
    pub expected_head: Option<Sha>,
    /// The other side of a merge that the Player resolves.
    pub other: Option<Sha>,
    pub conflicts: Vec<String>,
    /// The leftovers of an earlier run of the turn, from which this one continues.
    pub left: Leftovers,
    /// The commands that the Gates will run.
    commands: CommandChoice,
    instructions: Vec<InstructionFile>,
    /// The result of pre-flight, if it is known.
    baseline: Option<Baseline>,
}

impl Ground {
    /// Fetches the commits that the Player started from if the mirror lost them: somebody may have removed its folder while
    /// the Player worked. A merge is made again, since the tree with its conflicts is in the mirror alone.
    pub(super) async fn restore_start(&self, context: &EffectContext<'_>, task: &Task) -> Result<(), EffectError> {
        if self.mirror.has_commit(&self.start).await? {
            return Ok(());
        }
        let mirror = fetched(context, task).await?;
        context.has_or_unpacks(&mirror, &self.start).await?;
        if let Some(other) = &self.other {
            mirror.merge(&self.start, other).await?;
        }
        Ok(())
    }
}

/// The starting point, or the discovery that a person pushed first.
pub(super) enum StartOutcome {
    /// The Player starts here.
    Ground(Box<Ground>),
    /// The branch has this head, which no Player pushed.
    Overtaken(Sha),
}

pub(super) async fn ground(context: &EffectContext<'_>, task: &Task, turn: &Turn) -> Result<StartOutcome, EffectError> {
    let feature = &context.feature;
    let mirror = fetched(context, task).await?;
    let integration = tip(&mirror, &feature.integration_branch()).await?;
    let expected_head = mirror.rev_parse(&branch_name(&task.branch)?).await?;
    let start = match (&expected_head, &task.head) {
        (None, None) => integration.clone(),
        // The branch was deleted. Its last known commit is pushed again.
        (None, Some(head)) => head.clone(),
        (Some(tip), known) if known.as_ref() == Some(tip) || is_of_player(context, &mirror, tip).await? => tip.clone(),
        (Some(tip), _) => return Ok(StartOutcome::Overtaken(tip.clone())),
    };
    let info = mirror.commit_info(&start).await?;
    let is_partial = info.as_ref().is_some_and(run_result::is_partial);
    let left = if is_partial { Leftovers::Changes } else { Leftovers::Nothing };
    let commands = gates::commands::choose_at(&mirror, &start, &context.settings()).await?;
    let instructions = context.instructions(&mirror).await?;
    let baseline = context.known_baseline(&mirror).await?;
    let (checkout, other, conflicts) = match to_merge(context, &mirror, task, turn, &start, &integration).await? {
        Some(other) => merged(context, &mirror, &start, &other).await?,
        None => (context.checkout(&mirror, &start, None).await?, None, Vec::new()),
    };
    Ok(StartOutcome::Ground(Box::new(Ground {
        mirror,
        checkout,
        start,
        expected_head,
        other,
        conflicts,
        left,
        commands,
        instructions,
        baseline,
    })))
}

/// Fetches the Feature's branches into the mirror, and the default branch if the task is to merge it.
pub(super) async fn fetched(context: &EffectContext<'_>, task: &Task) -> Result<Mirror, EffectError> {
    match task.origin {
        Origin::Sync { .. } => Ok(context.fetch_with_default().await?.mirror),
        Origin::Planned | Origin::Fix { .. } | Origin::Review { .. } => context.fetch_own().await,
    }
}

/// Returns the commit that the Player must merge, if any: the default branch if the task must merge it and has not yet.
/// Otherwise the integration branch, if the turn resolves a conflict with it or the work lacks the measured commit.
async fn to_merge(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    task: &Task,
    turn: &Turn,
    start: &Sha,
    integration: &Sha,
) -> Result<Option<Sha>, EffectError> {
    if let Origin::Sync { other } = &task.origin
        && !mirror.is_ancestor(other, start).await?
    {
        return Ok(Some(other.clone()));
    }
    let is_due = match turn.kind {
        TurnKind::Conflict => true,
        TurnKind::Full | TurnKind::VerifyOnly => !context.stands_on_measured(mirror, start).await?,
    };
    Ok(is_due.then(|| integration.clone()))
}

/// Makes a working copy of `ours` with `theirs` merged in, including conflict markers. Returns no other side if there
/// is nothing to merge.
async fn merged(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    ours: &Sha,
    theirs: &Sha,
) -> Result<(Checkout, Option<Sha>, Vec<String>), EffectError> {
    let (tree, files) = match mirror.merge(ours, theirs).await? {
        MergeOutcome::Conflict { tree, files } => (tree, files),
        MergeOutcome::Clean { tree } => (tree, Vec::new()),
        MergeOutcome::AlreadyUpToDate | MergeOutcome::FastForward | MergeOutcome::Unrelated => {
            return Ok((context.checkout(mirror, ours, None).await?, None, Vec::new()));
        }
    };
    let checkout = context.checkout(mirror, ours, Some((&tree, &files))).await?;
    let files = files.iter().map(ToString::to_string).collect();
    Ok((checkout, Some(theirs.clone()), files))
}

impl Ground {
    /// Returns the parents of the new commit: both sides if it resolves a merge.
    pub(super) fn parents(&self) -> Vec<Sha> {
        std::iter::once(&self.start).chain(&self.other).cloned().collect()
    }

    /// Returns the names of the folders that set-up and tests make; `None` if no test ran before.
    pub(super) fn made_folders(&self) -> Option<&BTreeSet<String>> {
        let baseline = self.baseline.as_ref()?;
        baseline.tests.finding().map(|_| &baseline.made)
    }

    pub(super) fn prompt(
        &self,
        context: &EffectContext<'_>,
        task: &Task,
        turn: &Turn,
        settings: &RepositorySettings,
    ) -> Prompt {
        let hearing = task.hearing(&context.feature.task_rules());
        let mut items = task.to_mend(turn.number);
        items.extend(turn.input.reviews.iter().flat_map(|review| review.items.iter().cloned()));
        let guidance: Vec<String> = turn.input.guidance.iter().map(|guidance| guidance.text.clone()).collect();
        let shown = |command: &Option<ShellCommand>| command.as_ref().map(ToString::to_string);
        let (test, setup) = (shown(&self.commands.test), shown(&self.commands.setup));
        let network = context.ceiling().rules(&settings.network.allow);
        let reaches: Vec<String> = network.hosts.iter().map(ToString::to_string).collect();
        PlayerInput {
            issue: context.shown_issue(),
            task: &task.plan,
            turn: turn.number,
            items: &items,
            questions: asked_before(task, turn),
            guidance: &guidance,
            delivered: &delivered(context, task),
            instructions: &self.instructions,
            tests: Tests::of(test.as_deref(), &gates::runners_here()),
            setup_command: setup.as_deref(),
            reaches: Some(&reaches),
            conflicts: &self.conflicts,
            design: task.pre_loop.design(),
            demands: GateRequirements {
                red_before_green: settings.mode == Mode::Tdd && task.origin.brings_tests(),
                coverage: settings.coverage.file.as_ref().map(|_| settings.coverage.threshold),
                ci: context.feature.ci_treatment() == CiTreatment::Wait,
                failing_before: &failing_before(context, self.baseline.as_ref()),
            },
        }
        .prompt(context.engine.agents.definition(Role::Player))
        .with_inquiries(task.rounds(), hearing)
    }
}

/// Returns the questions of the last judged turn, and those of them that nobody answered.
fn asked_before<'a>(task: &'a Task, turn: &Turn) -> (&'a [Question], &'a [OpenQuestion]) {
    let Some(before) = task.asked_before(turn.number) else {
        return (&[], &[]);
    };
    let questions = before.gates.as_ref().map(|gates| gates.questions.as_slice());
    let open = before.verdict.as_ref().map(|verdict| verdict.open_questions.as_slice());
    (questions.unwrap_or_default(), open.unwrap_or_default())
}

/// Returns the tests that failed before the Feature began, and those that a person has waived since.
fn failing_before(context: &EffectContext<'_>, baseline: Option<&Baseline>) -> Vec<String> {
    let tests = baseline.and_then(|baseline| baseline.tests.finding());
    let mut failing: Vec<String> = tests.into_iter().flat_map(Finding::failed_names).cloned().collect();
    failing.extend(context.waived().into_iter().map(|waived| waived.test));
    failing.dedup();
    failing
}

/// Returns the results of the completed tasks of earlier waves.
fn delivered(context: &EffectContext<'_>, task: &Task) -> Vec<MergedTask> {
    let summary = |task: &Task| {
        let report = task.turns_of_attempt().rev().find_map(|turn| turn.report.as_ref());
        report.map(|report| report.summary.clone()).unwrap_or_default()
    };
    let tasks = context.feature.tasks.iter();
    let earlier = tasks.filter(|other| other.is_completed() && other.wave < task.wave);
    earlier.map(|other| MergedTask { task: other.id, name: other.plan.name.clone(), summary: summary(other) }).collect()
}
