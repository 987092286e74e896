//! The plan of a Feature of one task: from the issue's check boxes, and from the designer where they do not say enough.

use crate::{
    agents::prompt::{DesignerInput, ToDesign},
    config,
    engine::{
        job::{EffectError, FailedRun},
        perform::{EffectContext, design::ask},
        repository::DefaultBranch,
        repository_settings::Settings,
    },
};
use domain::{
    blocked::AgentFailure,
    check_boxes::{CheckBox, check_boxes},
    design,
    design::{Asked, PreLoop, parse_design},
    ids::TaskId,
    plan::{
        Plan,
        parse::{Checked, PlanContext},
    },
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Why nobody can say what must hold.
const NO_CRITERIA: &str = "the issue has no check boxes that are all bound to a check, one of them other than human, and \
                           `pre_loop: never` forbids to have a designer write or bind them";

/// A valid plan with its design, or what is wrong.
pub(super) async fn one_task(
    context: &EffectContext<'_>,
    read: &Settings,
    branch: &DefaultBranch,
    paths: &BTreeSet<String>,
    test_command: Option<String>,
    plan_context: &PlanContext<'_>,
) -> Result<Result<(Checked, PreLoop), String>, EffectError> {
    let boxes = check_boxes(&context.feature.snapshot.body);
    let enough = design::are_enough(&boxes);
    let has_words = context.feature.request.words.is_some();
    match read.settings.pre_loop {
        config::PreLoop::Never if !enough => return Ok(Err(NO_CRITERIA.to_owned())),
        config::PreLoop::Never => {
            return Ok(planned(context, &boxes, None, plan_context).map(|checked| (checked, PreLoop::Off)));
        }
        config::PreLoop::Auto | config::PreLoop::Always if enough && !has_words => {
            return Ok(planned(context, &boxes, None, plan_context).map(|checked| (checked, PreLoop::Due)));
        }
        config::PreLoop::Auto | config::PreLoop::Always => {}
    }
    let files: Vec<String> = paths.iter().cloned().collect();
    let words: Vec<String> = context.feature.request.words.iter().cloned().collect();
    let input = DesignerInput {
        issue: context.shown_issue(),
        what: ToDesign::Issue(&boxes),
        words: &words,
        files: &files,
        instructions: &context.instructions_at(&branch.mirror, &branch.head).await?,
        test_command: test_command.as_deref(),
    };
    let parse = |answer: &Value| {
        let design = parse_design(answer).map_err(|mistakes| mistakes.to_string())?;
        let checked = planned(context, &boxes, Some(answer), plan_context)?;
        Ok((checked, PreLoop::Done(Box::new(design))))
    };
    let checkout = branch.mirror.checkout(&branch.head).await?;
    let (settings, asked) = (&read.settings, Asked::Criteria(&boxes));
    match ask(context, settings, &checkout, TaskId::Planned(1), (input, asked), parse).await {
        Ok(done) => Ok(Ok(done)),
        // It answered twice, and neither answer made a valid task: asking more often would not help.
        Err(EffectError::Agent(FailedRun {
            failure: AgentFailure::ReportInvalid { problem },
            ..
        })) => Ok(Err(problem)),
        // What holds no JSON is no plan that words could mend, but an agent that does not work.
        Err(EffectError::Agent(failed)) if failed.failure == AgentFailure::ReportMissing => {
            Err(EffectError::Hopeless(failed))
        }
        Err(error) => Err(error),
    }
}

fn planned(
    context: &EffectContext<'_>,
    boxes: &[CheckBox],
    answer: Option<&Value>,
    plan_context: &PlanContext<'_>,
) -> Result<Checked, String> {
    let description = match &context.feature.request.words {
        Some(words) => format!("As the issue describes it. A maintainer adds:\n\n{words}"),
        None => "As the issue describes it.".to_owned(),
    };
    let title = &context.feature.snapshot.title;
    let plan = design::one_task(title, &description, boxes, answer).map_err(|mistakes| mistakes.to_string())?;
    Plan::from_json(&context.engine.secrets.mask_json(plan), plan_context).map_err(|mistakes| mistakes.to_string())
}
