//! Designs a task before its first turn. The designer gets a fresh checkout that it must not change.

use crate::{
    agents::prompt::{DesignerInput, NO_DESIGN, Prompt, Tests, ToDesign},
    config::{PreLoop, RepositorySettings, Role},
    engine::{
        job::{Done, EffectError},
        perform::{ask::AgentRequest, coach::compare, context::EffectContext},
        repository::tip,
    },
    gates,
};
use domain::{
    blocked::Failure,
    contract::CheckoutState,
    design::{Design, DesignRequest, parse_design, schema},
    ids::{Emission, TaskId, TurnNumber},
    inquiry::Hearing,
    problem::Contract,
    task,
    task::Task,
};
use git::Checkout;
use serde_json::Value;

/// The most changed paths that an error names.
const MOST_NAMED: usize = 10;

pub(super) async fn design(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    let settings = context.settings();
    if settings.pre_loop == PreLoop::Never {
        return Ok(context.task_event(task.id, task::Event::Designed { emission, design: None }));
    }
    let mirror = context.fetch_own().await?;
    let start = match &task.head {
        Some(head) => head.clone(),
        None => tip(&mirror, &context.feature.integration_branch()).await?,
    };
    let files = gates::commands::paths(&mirror, &start).await?;
    let chosen = gates::commands::choose_at(&mirror, &start, &settings).await?;
    let test = chosen.test.map(|command| command.to_string());
    let guidance: Vec<String> = task.next.guidance.iter().map(|said| said.text.clone()).collect();
    let runners = gates::runners_here();
    let input = DesignerInput {
        issue: context.shown_issue(),
        what: ToDesign::Task(&task.plan),
        words: &guidance,
        files: &files,
        instructions: &context.instructions(&mirror).await?,
        tests: Tests::of(test.as_deref(), &runners),
    };
    let hearing = task.hearing(&context.feature.task_rules());
    let read = |answer: &Value| read(answer, hearing);
    let checkout = context.checkout(&mirror, &start, None).await?;
    let prompt = input.prompt(context.engine.agents.definition(Role::Designer));
    let prompt = prompt.with_inquiries(task.rounds(), hearing);
    let design = ask(context, &settings, &checkout, task.id, prompt, DesignRequest::Design, read).await?;
    if hearing.takes(&design.inquiries, || has_plan(&design)) {
        let inquired = task::Event::Inquired { emission, inquiries: design.inquiries, partial: None };
        return Ok(context.task_event(task.id, inquired));
    }
    let design = Some(Box::new(design));
    Ok(context.task_event(task.id, task::Event::Designed { emission, design }))
}

/// Reads a designer's answer. Questions alone do not count as an answer if nobody will answer them.
pub(super) fn read(answer: &Value, hearing: Hearing) -> Result<Design, String> {
    let design = parse_design(answer).map_err(|mistakes| mistakes.to_string())?;
    if hearing == Hearing::Over && !has_plan(&design) { Err(NO_DESIGN.to_owned()) } else { Ok(design) }
}

pub(super) fn has_plan(design: &Design) -> bool {
    !design.plan.trim().is_empty()
}

/// Asks the designer. If it changed a file, which it must not, it has failed.
pub(super) async fn ask<T>(
    context: &EffectContext<'_>,
    settings: &RepositorySettings,
    checkout: &Checkout,
    task: TaskId,
    prompt: Prompt,
    asked: DesignRequest,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<T, EffectError> {
    let question = AgentRequest {
        role: Role::Designer,
        task: Some(task),
        turn: TurnNumber::FIRST,
        checkout: checkout.path(),
        part: "",
        prompt,
        schema: schema(asked),
    };
    context.ask_once(settings, question, read, || ensure_unchanged(context, checkout)).await
}

async fn ensure_unchanged(context: &EffectContext<'_>, checkout: &Checkout) -> Result<(), EffectError> {
    match context.patiently(|| compare(checkout, &context.engine.secrets)).await? {
        CheckoutState::Unchanged => Ok(()),
        CheckoutState::Changed(paths) => {
            let named: Vec<&str> = paths.iter().take(MOST_NAMED).map(String::as_str).collect();
            let contract = Contract::CheckoutUnchanged;
            let how = format!("{contract}: the designer, who may only read, changed {}", named.join(", "));
            Err(EffectError::Agent(Failure::AgentFailed { message: how }.into()))
        }
    }
}
