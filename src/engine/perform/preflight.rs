//! Pre-flight: finds reasons against the work, before any agent costs money.

use crate::{
    config::{CommitsBy, TestDemand},
    engine::{
        job::{Done, EffectError},
        perform::{baseline::baseline, branches::in_the_way, ci, context::EffectContext},
        repository::DefaultBranch,
        running::Worker,
    },
    gates,
    github::{Commits, GithubError, Rule},
    messages::{self, UnusedFilter},
};
use domain::{
    blocked::{BlockReason, Failure, RepositoryFault, WorkStep},
    ci::CiSays,
    evidence::Baseline,
    feature::{
        CiOfBase, Doubt, FailingBase, PreFlight, PreFlightOutcome, event::Event, is_planning, nameless, nothing_passes,
        obstacle, too_many_failures, unknown_tests, untestable,
    },
    ids::{Emission, Sha, TaskId},
    plan::{Check, Plan},
};
use git::Mirror;
use std::collections::BTreeSet;

/// The most paths of a commit that are read.
const MAX_PATHS: usize = 200_000;
/// The mode of a submodule in a tree.
const SUBMODULE: u32 = 0o160_000;

/// Checks a commit of the default branch: `commit`, else the head.
pub(super) async fn pre_flight(
    context: &EffectContext<'_>,
    emission: Emission,
    commit: Option<&Sha>,
) -> Result<Done, EffectError> {
    let _shown = context.on_board(Worker::PreFlight, None);
    let feature = &context.feature;
    let refused = |reason: BlockReason| {
        let outcome = Box::new(PreFlightOutcome::Refused(reason));
        Ok(context.event(Event::PreFlown { emission, outcome }))
    };
    let default = context.fetch_default().await?;
    let is_first = commit.is_none();
    let commit = commit.unwrap_or(&default.head);
    // Before there is a plan, the current settings of the default branch apply.
    let before_plan = is_planning(feature, emission);
    let settings = if !before_plan {
        context.settings()
    } else {
        match context.engine.settings_at(&default).await?.settings {
            Ok(read) => read.settings,
            Err(mistakes) => return refused(BlockReason::BadSettings { mistakes }),
        }
    };
    if is_first && let Some(reason) = unusable_names(context, &default, settings.commits).await? {
        return refused(reason);
    }
    let found = baseline(context, &default.mirror, commit, &settings).await?;
    let plan = feature.plan.as_ref().filter(|_| !before_plan);
    let plan = plan.map(|version| &version.plan);
    // Checked only before money is spent. Later, such a finding means that somebody broke the default branch meanwhile.
    let futile = || nothing_passes(&found).or_else(|| nameless(&found, plan?));
    if let Some(reason) = obstacle(&found).or_else(|| is_first.then(futile).flatten()) {
        return refused(reason);
    }
    if let Some(plan) = plan.filter(|_| is_first && settings.tests == TestDemand::Required)
        && let Some(tests) = gates::commands::uncalled_tests(&default.mirror, commit).await?
        && let Some(reason) = untestable(&found, plan, tests)
    {
        return refused(reason);
    }
    let ci = ci_of_base(context, commit, &found).await;
    let asks = plan.is_some() && is_first && feature.failing_base == FailingBase::Asks;
    if let Some(failures) = too_many_failures(&found, ci).filter(|_| asks) {
        return refused(failures.reason());
    }
    let mut notes = unsupported(&default.mirror, commit).await?;
    notes.extend(messages::machine_note(ci));
    let mut ready = PreFlight::of(&found, notes);
    if let Some(plan) = plan {
        ready.doubts = doubts(context, &default.mirror, commit, &found, plan).await?;
    }
    let outcome = Box::new(PreFlightOutcome::Ready(ready));
    Ok(context.event(Event::PreFlown { emission, outcome }))
}

/// Returns the criteria of the plan whose check may never pass.
async fn doubts(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    commit: &Sha,
    found: &Baseline,
    plan: &Plan,
) -> Result<Vec<Doubt>, EffectError> {
    let missing = missing_programs(context, mirror, commit, plan).await?;
    let mut doubts = unknown_tests(found, plan, gates::is_called);
    doubts.extend(missing);
    Ok(doubts)
}

/// Returns why the branches of this run cannot be created: a rule forbids their names, or another branch is in the way.
async fn unusable_names(
    context: &EffectContext<'_>,
    default: &DefaultBranch,
    commits: CommitsBy,
) -> Result<Option<BlockReason>, EffectError> {
    if let Some(rule) = forbidding_rule(context, commits).await? {
        return Ok(Some(BlockReason::BranchRule { rule }));
    }
    let branch = in_the_way(context, default).await?;
    Ok(branch.map(|branch| {
        let fault = RepositoryFault::ForeignBranch { branch };
        BlockReason::failed(WorkStep::PreFlight, Failure::Repository { fault })
    }))
}

/// Returns the result of the repository's own CI on a commit whose tests fail here, if it can be read.
async fn ci_of_base(context: &EffectContext<'_>, commit: &Sha, found: &Baseline) -> CiOfBase {
    if found.tests.failure().is_none() {
        return CiOfBase::Unknown;
    }
    match ci::checks(context, commit).await {
        Ok(checks) if !checks.is_empty() && checks.iter().all(|check| check.says == CiSays::Passed) => CiOfBase::Green,
        Ok(_) | Err(_) => CiOfBase::Unknown,
    }
}

/// Returns the programs that commands of acceptance criteria use and that are missing.
async fn missing_programs(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    commit: &Sha,
    plan: &Plan,
) -> Result<Vec<Doubt>, EffectError> {
    let criteria =
        plan.tasks.iter().flat_map(|task| task.acceptance_criteria.iter().map(|criterion| (task.id, criterion)));
    let commands: Vec<(TaskId, &String)> = criteria
        .filter_map(|(task, criterion)| match &criterion.check {
            Check::Command(command) => Some((task, command)),
            Check::Test(_) | Check::File(_) | Check::Human => None,
        })
        .collect();
    if commands.is_empty() {
        return Ok(Vec::new());
    }
    let lines: Vec<String> = commands.iter().map(|(_, command)| (*command).clone()).collect();
    let (gates, settings) = (context.gate_context(), context.settings());
    let missing = gates::missing_programs(&gates, mirror, commit, &settings, &lines, &context.job.cancel).await?;
    let doubt = |(command, program): (String, String)| {
        let task = commands.iter().find(|(_, own)| **own == command)?.0;
        Some(Doubt::MissingProgram { task, command, program })
    };
    Ok(missing.into_iter().filter_map(doubt).collect())
}

/// Returns a description of the first rule that forbids creating or pushing one of our branches.
async fn forbidding_rule(context: &EffectContext<'_>, commits: CommitsBy) -> Result<Option<String>, EffectError> {
    let tasks = context.feature.tasks.iter().map(|task| task.branch.clone());
    let names: BTreeSet<String> = std::iter::once(context.feature.integration_branch()).chain(tasks).collect();
    let commits = match commits {
        CommitsBy::Git => Commits::Unsigned,
        CommitsBy::Github => Commits::Signed,
    };
    for name in names {
        let rules = match context.repo().rules_for(&name).await {
            Ok(rules) => rules,
            // If the account's GitHub plan has no rulesets, GitHub refuses the request.
            Err(GithubError::Forbidden { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        for rule in rules.iter().filter(|rule| rule.forbids(&name, commits)) {
            if !context.repo().may_bypass(rule).await? {
                return Ok(Some(name_rule(rule, &name)));
            }
        }
    }
    Ok(None)
}

fn name_rule(rule: &Rule, branch: &str) -> String {
    let ruleset = rule.ruleset.map(|id| format!(" of ruleset {id}")).unwrap_or_default();
    format!("{}{ruleset}, which holds for {branch}", rule.kind)
}

/// Returns notes on the things in the repository that AutoBuild does not support.
async fn unsupported(mirror: &Mirror, commit: &Sha) -> Result<Vec<String>, EffectError> {
    let files = mirror.list_files(commit, MAX_PATHS).await?;
    let mut notes = Vec::new();
    let is_there = |name: &str| files.entries.iter().any(|entry| entry.path.to_string() == name);
    if files.entries.iter().any(|entry| entry.mode == SUBMODULE) || is_there(".gitmodules") {
        notes.push(messages::submodules_note());
    }
    let filters = mirror.filters(commit).await?;
    if filters.is_empty() && mirror.lfs_pointer(commit).await?.is_some() {
        notes.push(messages::git_lfs_note());
    }
    notes.extend(filters.into_iter().map(|(name, filter)| {
        messages::filter_note(&UnusedFilter {
            name,
            rules: filter.rules.iter().map(ToString::to_string).collect(),
            files: filter.files.iter().map(ToString::to_string).collect(),
            count: filter.count,
        })
    }));
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_named_so_that_people_find_it() {
        let rule = Rule { kind: "creation".to_owned(), parameters: serde_json::Value::Null, ruleset: Some(4) };
        let named = name_rule(&rule, "autobuild/7/integration");
        assert_eq!(named, "creation of ruleset 4, which holds for autobuild/7/integration");
    }
}
