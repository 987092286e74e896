//! The design of a task before its first turn: a fresh checkout that the designer may only read, and a comparison of it
//! afterwards.

use crate::{
    agents::prompt::{DesignerInput, ToDesign},
    config::{PreLoop, RepositorySettings, Role},
    engine::{
        job::{Done, Undone},
        perform::{Scene, ask::Question, coach::compare, commands},
        repository::tip,
    },
};
use domain::{
    blocked::AgentFailure,
    contract::{CheckoutState, Contract},
    design::{Asked, parse_design, schema},
    ids::{TaskId, TurnNumber},
    task,
    task::Task,
};
use git::Checkout;
use serde_json::Value;

/// Changed paths that are named.
const MOST_NAMED: usize = 10;

pub(super) async fn design(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    let settings = scene.settings();
    if settings.pre_loop == PreLoop::Never {
        return Ok(scene.task_event(task.id, task::Event::Designed { run, design: None }));
    }
    let folder = format!("{}/*", scene.key().branch_prefix());
    let feature = &scene.feature;
    let mirror = scene
        .engine
        .fetch(feature.installation, feature.key.repo, &[&folder])
        .await?;
    let start = match &task.head {
        Some(head) => head.clone(),
        None => tip(&mirror, &feature.key.integration_branch()).await?,
    };
    let files = commands::paths(&mirror, &start).await?;
    let chosen = commands::chosen(&settings, &mirror, &start).await?;
    let test = chosen.test.map(|command| command.to_string());
    let guidance: Vec<String> = task.next.guidance.iter().map(|said| said.text.clone()).collect();
    let input = DesignerInput {
        issue: scene.shown_issue(),
        what: ToDesign::Task(&task.plan),
        words: &guidance,
        files: &files,
        instructions: &scene.instructions(&mirror).await?,
        test_command: test.as_deref(),
    };
    let read = |answer: &Value| parse_design(answer).map_err(|mistakes| mistakes.to_string());
    let checkout = scene.checkout(&mirror, &start, None).await?;
    let design = ask(scene, &settings, &checkout, task.id, (input, Asked::Design), read).await?;
    let design = Some(Box::new(design));
    Ok(scene.task_event(task.id, task::Event::Designed { run, design }))
}

/// Asks the designer, who may change nothing: one that did has failed.
pub(super) async fn ask<T>(
    scene: &Scene<'_>,
    settings: &RepositorySettings,
    checkout: &Checkout,
    task: TaskId,
    (input, asked): (DesignerInput<'_>, Asked<'_>),
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<T, Undone> {
    let schema = schema(asked);
    let question = Question {
        role: Role::Designer,
        task: Some(task),
        turn: TurnNumber::FIRST,
        checkout: checkout.path(),
        part: "",
        prompt: input.prompt(scene.engine.agents.definition(Role::Designer)),
        schema,
    };
    let designed = scene.ask(settings, question, read).await?;
    match compare(checkout, &scene.engine.secrets).await {
        Ok(CheckoutState::Unchanged) => Ok(designed),
        Ok(CheckoutState::Changed(paths)) => {
            let named: Vec<&str> = paths.iter().take(MOST_NAMED).map(String::as_str).collect();
            let contract = Contract::CheckoutUnchanged;
            let how = format!(
                "{contract}: the designer, who may only read, changed {}",
                named.join(", ")
            );
            Err(Undone::Agent(AgentFailure::Failed { how }.into()))
        }
        Err(undone) => Err(undone),
    }
}
