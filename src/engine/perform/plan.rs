//! Makes a plan, from the YAML block that a person gave or by asking the planner.

use crate::{
    agents::prompt::{DesignerInput, PlannerInput, Tests, ToDesign},
    config,
    config::{RepositorySettings, Role},
    engine::{
        job::{Done, EffectError, FailedRun},
        perform::{ask::Question, context::EffectContext, design::ask},
        repository::{DefaultBranch, rules},
        repository_settings::Settings,
    },
    gates,
};
use domain::{
    blocked::{AgentFailure, BlockReason},
    check_boxes::{CheckBox, check_boxes},
    design,
    design::{Asked, PreLoop, parse_design},
    feature::{
        Wanted,
        event::{Event, Planned},
    },
    ids::{Emission, TaskId, TurnNumber},
    isolation::Level,
    plan::{
        Plan,
        parse::{Checked, PlanContext},
        plan_hash,
        schema::schema,
        yaml::PlanHeader,
    },
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) async fn plan(context: &EffectContext<'_>, emission: Emission) -> Result<Done, EffectError> {
    let feature = &context.feature;
    let branch = context.fetch_default().await?;
    let read = match context.engine.settings_at(&branch).await?.settings {
        Ok(read) => read,
        Err(mistakes) => {
            return Ok(context.event(Event::Stuck {
                emission,
                reason: BlockReason::BadSettings { mistakes },
            }));
        }
    };
    let files = gates::commands::paths(&branch.mirror, &branch.head).await?;
    let chosen = gates::commands::at(&branch.mirror, &branch.head, &read.settings).await?;
    let paths: BTreeSet<String> = files.into_iter().collect();
    let header = PlanHeader::planned(feature.key.shown(), rfc3339(context));
    let plan_context = PlanContext {
        max_tasks: usize::try_from(read.settings.max_tasks).unwrap_or(usize::MAX),
        header: &header,
        file_exists: &|path| paths.contains(path),
    };
    let test = chosen.test.map(|command| command.to_string());
    let wanted = feature.snapshot.wanted;
    let checked = match feature.given_plan() {
        // The person's text is public already, but secrets in it must not get into commits and branch names.
        Some(yaml) => Plan::parse_yaml(&context.engine.secrets.mask(&yaml), &plan_context)
            .map(|checked| (checked, pre_loop(wanted, &read.settings)))
            .map_err(|mistakes| mistakes.to_string()),
        None if wanted == Wanted::OneTask => one_task(context, &read, &branch, &paths, test, &plan_context).await?,
        None => planner(context, &read, &branch, &paths, test, &plan_context)
            .await?
            .map(|checked| (checked, pre_loop(wanted, &read.settings))),
    };
    Ok(context.event(match checked {
        Err(message) => Event::PlanRefused { emission, message },
        Ok((checked, pre_loop)) => Event::Planned {
            emission,
            planned: Box::new(planned(
                (checked, pre_loop),
                (read, context.engine.sandbox.level()),
                &branch,
                &paths,
                chosen.why,
            )),
        },
    }))
}

/// Returns whether the tasks of a plan without a design are designed before their first turn.
fn pre_loop(wanted: Wanted, settings: &RepositorySettings) -> PreLoop {
    match (settings.pre_loop, wanted) {
        (config::PreLoop::Always, _) | (config::PreLoop::Auto, Wanted::OneTask) => PreLoop::Due,
        (config::PreLoop::Auto, Wanted::Plan) | (config::PreLoop::Never, _) => PreLoop::Off,
    }
}

fn planned(
    (checked, pre_loop): (Checked, PreLoop),
    (read, level): (Settings, Level),
    branch: &DefaultBranch,
    paths: &BTreeSet<String>,
    commands: String,
) -> Planned {
    let mut notes: Vec<String> = checked.notes.iter().map(ToString::to_string).collect();
    notes.extend(read.refused_hosts.clone());
    if paths.contains(".gitmodules") {
        notes.push("The repository has submodules: they are not checked out.".to_owned());
    }
    Planned {
        hash: plan_hash(&checked.plan),
        plan: checked.plan,
        notes,
        commands,
        base: branch.head.clone(),
        rules: rules(&read.settings, level),
        settings: serde_json::to_value(&read.settings).unwrap_or_default(),
        pre_loop,
    }
}

fn rfc3339(context: &EffectContext<'_>) -> String {
    chrono::DateTime::from_timestamp_millis(context.engine.now().0)
        .unwrap_or_default()
        .to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

/// Returns a valid plan from the planner, or the mistakes in its last one.
async fn planner(
    context: &EffectContext<'_>,
    read: &Settings,
    branch: &DefaultBranch,
    paths: &BTreeSet<String>,
    test_command: Option<String>,
    plan_context: &PlanContext<'_>,
) -> Result<Result<Checked, String>, EffectError> {
    let checkout = branch.mirror.checkout(&branch.head).await?;
    let files: Vec<String> = paths.iter().cloned().collect();
    let words: Vec<String> = context.feature.request.words.iter().cloned().collect();
    let definition = context.engine.agents.definition(Role::Planner);
    let runners = gates::runners_here();
    let input = PlannerInput {
        issue: context.shown_issue(),
        words: &words,
        files: &files,
        instructions: &context.instructions_at(&branch.mirror, &branch.head).await?,
        tests: Tests::of(test_command.as_deref(), &runners),
        max_tasks: read.settings.max_tasks,
    };
    let question = Question {
        role: Role::Planner,
        task: None,
        turn: TurnNumber::FIRST,
        checkout: checkout.path(),
        part: "",
        prompt: input.prompt(definition),
        schema: schema(),
    };
    let parse = |answer: &Value| Plan::from_json(answer, plan_context).map_err(|mistakes| mistakes.to_string());
    or_its_mistakes(context.ask(&read.settings, question, parse).await)
}

/// Returns an agent's answer, or the mistakes in its last one.
fn or_its_mistakes<T>(asked: Result<T, EffectError>) -> Result<Result<T, String>, EffectError> {
    match asked {
        Ok(done) => Ok(Ok(done)),
        // Both answers were invalid. Asking more often would not help.
        Err(EffectError::Agent(FailedRun {
            failure: AgentFailure::ReportInvalid { problem },
            ..
        })) => Ok(Err(problem)),
        // An answer without JSON means that the agent does not work. Feedback on the plan would not help.
        Err(EffectError::Agent(failed)) if failed.failure == AgentFailure::ReportMissing => {
            Err(EffectError::Hopeless(failed))
        }
        Err(error) => Err(error),
    }
}

/// The reason why a one-task issue has no usable acceptance criteria.
const NO_CRITERIA: &str = "the issue has no check boxes that are all bound to a check, one of them other than human, and \
                           `pre_loop: never` forbids to have a designer write or bind them";

/// Returns a valid plan of one task with its design, or what is wrong with it.
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
    let as_they_are = |pre_loop| of_boxes(context, &boxes, None, plan_context).map(|checked| (checked, pre_loop));
    match read.settings.pre_loop {
        config::PreLoop::Never if !enough => return Ok(Err(NO_CRITERIA.to_owned())),
        config::PreLoop::Never => return Ok(as_they_are(PreLoop::Off)),
        config::PreLoop::Auto | config::PreLoop::Always if enough && !has_words => {
            return Ok(as_they_are(PreLoop::Due));
        }
        config::PreLoop::Auto | config::PreLoop::Always => {}
    }
    let files: Vec<String> = paths.iter().cloned().collect();
    let words: Vec<String> = context.feature.request.words.iter().cloned().collect();
    let runners = gates::runners_here();
    let input = DesignerInput {
        issue: context.shown_issue(),
        what: ToDesign::Issue(&boxes),
        words: &words,
        files: &files,
        instructions: &context.instructions_at(&branch.mirror, &branch.head).await?,
        tests: Tests::of(test_command.as_deref(), &runners),
    };
    let parse = |answer: &Value| {
        let design = parse_design(answer).map_err(|mistakes| mistakes.to_string())?;
        let checked = of_boxes(context, &boxes, Some(answer), plan_context)?;
        Ok((checked, PreLoop::Done(Box::new(design))))
    };
    let checkout = branch.mirror.checkout(&branch.head).await?;
    let (settings, asked) = (&read.settings, Asked::Criteria(&boxes));
    or_its_mistakes(ask(context, settings, &checkout, TaskId::Planned(1), (input, asked), parse).await)
}

fn of_boxes(
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
