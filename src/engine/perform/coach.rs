//! The Coach's part of a turn: a fresh checkout, a fresh context, and a decision that code checks.

use crate::agents::prompt::CoachInput;
use crate::config::Role;
use crate::domain::contract::CheckoutState;
use crate::domain::contract::TurnFacts;
use crate::domain::contract::judge;
use crate::domain::decision::CoachDecision;
use crate::domain::decision::DecisionKind;
use crate::domain::decision::Issue;
use crate::domain::decision_parse::parse_decision;
use crate::domain::decision_parse::schema;
use crate::domain::evidence::GateReport;
use crate::domain::ids::Sha;
use crate::domain::task;
use crate::domain::task::Task;
use crate::domain::task::Turn;
use crate::engine::job::Done;
use crate::engine::job::Undone;
use crate::engine::perform::Scene;
use crate::engine::perform::ask::Question;
use crate::engine::perform::commands;
use crate::engine::perform::sync::fork_of;
use crate::engine::perform::turn;
use crate::git::Checkout;
use crate::git::Mirror;
use crate::git::TakeOutError;
use std::collections::BTreeSet;

/// The largest diff that a Coach is shown, in bytes.
const MAX_DIFF: usize = 200_000;

pub(super) async fn coach(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    let (turn, head) = turn::open(task)?;
    let gates = turn.gates.as_ref().ok_or_else(|| Undone::Refused {
        why: "no Gate ran on this commit".to_owned(),
    })?;
    let mirror = scene.holding(head).await?;
    let checkout = mirror.checkout(head).await?;
    let schema = schema();
    let question = Question {
        role: Role::Coach,
        task: Some(task.id),
        turn: turn.number,
        checkout: checkout.path(),
        prompt: prompt(scene, &mirror, task, (turn, head, gates), &schema).await?,
        schema,
    };
    let settings = scene.settings();
    let decision = scene.ask(&settings, question, |answer| decision(answer, task)).await?;
    let state = compare(&checkout).await;
    let paths: BTreeSet<String> = commands::paths(&mirror, head).await?.into_iter().collect();
    let open_reviews: Vec<String> = task.next.reviews.iter().map(|review| review.by.login.clone()).collect();
    let facts = TurnFacts {
        kind: task.plan.kind,
        criteria: &task.plan.acceptance_criteria,
        gates,
        in_tree: &|path| paths.contains(path),
        checkout: &state,
        open_reviews: &open_reviews,
    };
    let judgement = Box::new(judge(&decision, &facts));
    let head = head.clone();
    Ok(scene.task_event(task.id, task::Event::Judged { run, head, judgement }))
}

async fn prompt(
    scene: &Scene<'_>,
    mirror: &Mirror,
    task: &Task,
    (turn, head, gates): (&Turn, &Sha, &GateReport),
    schema: &serde_json::Value,
) -> Result<String, Undone> {
    let diff = mirror
        .diff_text(&fork_of(scene, mirror, task, head).await?, head, MAX_DIFF)
        .await?;
    let before = task.turns_now().rev().filter(|before| before.number != turn.number);
    let previous = before.into_iter().find_map(|before| before.verdict.as_ref());
    let input = CoachInput {
        issue: scene.shown_issue(),
        task: &task.plan,
        turn: turn.number,
        diff: &diff.text,
        gates,
        report: turn.report.as_ref(),
        discrepancies: &turn.discrepancies,
        previous: previous.map_or(&[], |verdict| &verdict.items),
        remarks: &remarks(turn),
        instructions: &scene.instructions(mirror).await?,
    };
    Ok(input.prompt(scene.engine.agents.definition(Role::Coach), schema))
}

/// Whether the Coach, who may only read, wrote.
async fn compare(checkout: &Checkout) -> CheckoutState {
    match checkout.changed_paths().await {
        Ok(paths) if paths.is_empty() => CheckoutState::Unchanged,
        Ok(paths) => CheckoutState::Changed(paths.iter().map(ToString::to_string).collect()),
        Err(error) => CheckoutState::Changed(vec![format!("the checkout cannot be compared: {error}")]),
    }
}

/// Probes are not run in this version: the Coach is asked for a decision instead.
fn decision(answer: &serde_json::Value, task: &Task) -> Result<CoachDecision, String> {
    let (decision, _unknown) =
        parse_decision(answer, &task.plan.acceptance_criteria).map_err(|mistakes| mistakes.to_string())?;
    match decision.decision {
        DecisionKind::Approve | DecisionKind::Feedback => Ok(decision),
        DecisionKind::Probe => {
            Err("`decision: probe` is not available here: answer `approve` or `feedback`".to_owned())
        }
    }
}

/// What people said about the work: shown, never an instruction.
fn remarks(turn: &Turn) -> Vec<String> {
    let reviews = turn.told.reviews.iter().chain(&turn.told.remarks);
    reviews
        .flat_map(|review| review.items.iter().map(|item| remark(&review.by.login, item)))
        .collect()
}

fn remark(login: &str, item: &Issue) -> String {
    match (&item.file, item.line) {
        (Some(file), Some(line)) => format!("{login} on {file}:{line}: {}", item.description),
        (Some(file), None) => format!("{login} on {file}: {}", item.description),
        (None, _) => format!("{login}: {}", item.description),
    }
}

/// The commit that the task's change is counted from: `merge-base(integration, head)`.
pub(super) async fn fork_point(scene: &Scene<'_>, mirror: &Mirror, head: &Sha) -> Result<Sha, Undone> {
    let integration = scene.feature.integration.as_ref().ok_or_else(|| Undone::Refused {
        why: "there is no integration branch".to_owned(),
    })?;
    let branch = super::branches::branch_name(&integration.branch)?;
    let tip = mirror
        .rev_parse(&branch)
        .await?
        .unwrap_or_else(|| integration.head.clone());
    Ok(mirror
        .merge_base(&tip, head)
        .await?
        .unwrap_or_else(|| integration.base.clone()))
}

impl From<TakeOutError> for Undone {
    fn from(error: TakeOutError) -> Self {
        Self::Later {
            why: error.to_string(),
            not_before: None,
        }
    }
}
