//! Makes a plan, from the YAML block that a person gave or by asking the planner.

use crate::{
    agents::prompt::{DesignerInput, PlannerInput, Tests, ToDesign},
    config,
    config::{RepositorySettings, Role},
    engine::{
        job::{Done, EffectError, FailedRun},
        perform::{
            ask::AgentRequest,
            context::{EffectContext, protected_paths},
            design,
            design::ask,
        },
        repository::{DefaultBranch, rules},
        repository_settings::Settings,
    },
    gates, messages,
};
use domain::{
    blocked::{BlockReason, Failure},
    check_boxes::{CheckBox, check_boxes},
    chosen_commands::ChosenCommands,
    ci_definitions::deployment,
    design::{DesignRequest, PreLoop, plan_of_one_task, suffice_as_criteria},
    exposure::Exposure,
    feature::{
        PlanKind,
        event::{Event, Inquired, Planned},
    },
    ids::{Emission, TaskId, TurnNumber},
    inquiry::{Inquirer, Inquiries},
    isolation::Level,
    plan::{
        Plan,
        parse::{CheckedPlan, PlanAuthor, PlanContext},
        plan_hash,
        schema::schema,
        yaml::PlanHeader,
    },
};
use serde_json::Value;
use std::{collections::BTreeSet, future::ready, path::Path};

pub(super) async fn plan(context: &EffectContext<'_>, emission: Emission) -> Result<Done, EffectError> {
    let (feature, wanted) = (&context.feature, context.feature.snapshot.wanted);
    let branch = context.fetch_default().await?;
    let read = match context.engine.settings_at(&branch).await?.settings {
        Ok(read) => read,
        Err(mistakes) => {
            let reason = BlockReason::BadSettings { mistakes };
            return Ok(context.event(Event::Stuck { emission, reason }));
        }
    };
    let paths = gates::commands::paths(&branch.mirror, &branch.head).await?;
    let paths: BTreeSet<String> = paths.into_iter().collect();
    let chosen = gates::commands::choose_at(&branch.mirror, &branch.head, &read.settings).await?;
    let protected = protected_paths(&read.settings)?.with_links(&branch.mirror.links(&branch.head).await?);
    let plan_context = PlanContext {
        max_tasks: usize::try_from(read.settings.max_tasks).unwrap_or(usize::MAX),
        header: &PlanHeader::planned(feature.key.name(), context.engine.now().rfc3339()),
        file_exists: &|path| paths.contains(path),
        protecting: &|path| {
            let new = || deployment(path).filter(|_| !paths.contains(path));
            protected.protecting(Path::new(path)).or_else(new).map(str::to_owned)
        },
        words: &feature.words(),
    };
    let test = chosen.test.map(|command| command.to_string());
    let level = context.engine.sandbox.level();
    // Read before the planner runs, so that a failure of GitHub cannot make its run be paid for again.
    let policy = rules(&read.settings, level).ci;
    let exposure = context.engine.exposure(&context.feature.key, &branch, policy).await?;
    let made = match feature.given_plan() {
        Some(yaml) => parse_given(context, &yaml, pre_loop(wanted, &read.settings), &plan_context),
        None if wanted == PlanKind::OneTask => one_task(context, &read, &branch, &paths, test, &plan_context).await?,
        None => planner(context, &read, &branch, &paths, test, &plan_context).await?,
    };
    Ok(context.event(match made {
        PlannerOutcome::Refused { author, message } => Event::PlanRefused { emission, author, message },
        PlannerOutcome::Inquiries { by, inquiries } => {
            let inquired = Box::new(inquired(by, inquiries, &read, level));
            Event::Inquired { emission, inquired }
        }
        PlannerOutcome::Plan { mut checked, pre_loop, inquiries } => {
            checked.plan = checked.plan.or_named(&context.engine.secrets.mask(&feature.snapshot.title));
            let mut planned = planned(*checked, pre_loop, read, level, &branch, &paths, &chosen.why);
            planned.exposure = exposure;
            planned.notes.extend(messages::own_defaults(&inquiries));
            let planned = Box::new(planned);
            Event::Planned { emission, planned }
        }
    }))
}

fn inquired(by: Inquirer, inquiries: Inquiries, read: &Settings, level: Level) -> Inquired {
    Inquired {
        by,
        inquiries,
        rules: rules(&read.settings, level),
        settings: serde_json::to_value(&read.settings).unwrap_or_default(),
    }
}

/// The result of a planner, or of the designer of an only task.
pub(super) enum PlannerOutcome {
    /// A valid plan.
    Plan {
        checked: Box<CheckedPlan>,
        pre_loop: PreLoop,
        /// The questions that the agent answered itself.
        inquiries: Inquiries,
    },
    /// Questions, without which there is no plan.
    Inquiries { by: Inquirer, inquiries: Inquiries },
    /// There is no valid plan, for this reason.
    Refused { author: PlanAuthor, message: String },
}

impl PlannerOutcome {
    fn plan(checked: CheckedPlan, pre_loop: PreLoop) -> Self {
        Self::Plan { checked: Box::new(checked), pre_loop, inquiries: Inquiries::default() }
    }
}

fn parse_given(
    context: &EffectContext<'_>,
    yaml: &str,
    pre_loop: PreLoop,
    plan_context: &PlanContext<'_>,
) -> PlannerOutcome {
    // The person's text is public already, but secrets in it must not get into commits and branch names.
    match Plan::parse_yaml(&context.engine.secrets.mask(yaml), plan_context) {
        Ok(checked) => PlannerOutcome::plan(checked, pre_loop),
        Err(mistakes) => by_person(mistakes.to_string()),
    }
}

/// Returns the state of the design of the tasks of a plan that came without one.
fn pre_loop(wanted: PlanKind, settings: &RepositorySettings) -> PreLoop {
    match (settings.pre_loop, wanted) {
        (config::PreLoop::Always, _) | (config::PreLoop::Auto, PlanKind::OneTask) => PreLoop::Due,
        (config::PreLoop::Auto, PlanKind::Plan) | (config::PreLoop::Never, _) => PreLoop::Off,
    }
}

fn planned(
    checked: CheckedPlan,
    pre_loop: PreLoop,
    read: Settings,
    level: Level,
    branch: &DefaultBranch,
    paths: &BTreeSet<String>,
    commands: &ChosenCommands,
) -> Planned {
    let mut notes: Vec<String> = checked.notes.iter().map(ToString::to_string).collect();
    notes.extend(read.excess.iter().map(messages::excess));
    if paths.contains(".gitmodules") {
        notes.push(messages::submodules_note());
    }
    Planned {
        hash: plan_hash(&checked.plan),
        plan: checked.plan,
        notes,
        commands: messages::chosen_commands(commands),
        base: branch.head.clone(),
        rules: rules(&read.settings, level),
        settings: serde_json::to_value(&read.settings).unwrap_or_default(),
        exposure: Exposure::default(),
        pre_loop,
    }
}

/// Returns a plan from the planner.
async fn planner(
    context: &EffectContext<'_>,
    read: &Settings,
    branch: &DefaultBranch,
    paths: &BTreeSet<String>,
    test_command: Option<String>,
    plan_context: &PlanContext<'_>,
) -> Result<PlannerOutcome, EffectError> {
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
        protected: &read.settings.protected(),
    };
    let hearing = context.feature.hearing();
    let prompt = input.prompt(definition);
    let question = AgentRequest {
        role: Role::Planner,
        task: None,
        turn: TurnNumber::FIRST,
        checkout: checkout.path(),
        part: "",
        prompt: prompt.with_inquiries(&context.feature.inquiries, hearing),
        schema: schema(),
    };
    let pre_loop = pre_loop(context.feature.snapshot.wanted, &read.settings);
    let parse = |answer: &Value| {
        let inquiries = Inquiries::of_answer(answer);
        let tasks = answer.get("tasks").and_then(Value::as_array);
        if hearing.takes(&inquiries, || tasks.is_some_and(|tasks| !tasks.is_empty())) {
            let by = Inquirer::Planner;
            return Ok(PlannerOutcome::Inquiries { by, inquiries });
        }
        let mut plan = answer.clone();
        if let Some(keys) = plan.as_object_mut() {
            keys.remove("inquiries");
        }
        let checked = Plan::from_json(&plan, plan_context).map_err(|mistakes| mistakes.to_string())?;
        Ok(PlannerOutcome::Plan { checked: Box::new(checked), pre_loop: pre_loop.clone(), inquiries })
    };
    or_its_mistakes(context.ask_once(&read.settings, question, parse, || ready(Ok(()))).await)
}

fn by_person(message: String) -> PlannerOutcome {
    PlannerOutcome::Refused { author: PlanAuthor::Person, message }
}

/// Returns an agent's answer, or the mistakes in its last one.
fn or_its_mistakes(asked: Result<PlannerOutcome, EffectError>) -> Result<PlannerOutcome, EffectError> {
    match asked {
        Ok(done) => Ok(done),
        // Both answers were invalid. Asking more often would not help.
        Err(EffectError::Permanent(FailedRun { failure: Failure::ReportInvalid { problem }, .. })) => {
            Ok(PlannerOutcome::Refused { author: PlanAuthor::Agent, message: problem })
        }
        Err(error) => Err(error),
    }
}

/// Returns a plan of one task with its design.
pub(super) async fn one_task(
    context: &EffectContext<'_>,
    read: &Settings,
    branch: &DefaultBranch,
    paths: &BTreeSet<String>,
    test_command: Option<String>,
    plan_context: &PlanContext<'_>,
) -> Result<PlannerOutcome, EffectError> {
    let boxes = check_boxes(&context.feature.snapshot.body);
    let enough = suffice_as_criteria(&boxes);
    let has_words = context.feature.request.words.is_some();
    let as_they_are = |pre_loop| {
        let checked = of_boxes(context, &boxes, None, plan_context);
        checked.map_or_else(by_person, |checked| PlannerOutcome::plan(checked, pre_loop))
    };
    match read.settings.pre_loop {
        config::PreLoop::Never if !enough => return Ok(by_person(messages::no_usable_criteria())),
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
    let hearing = context.feature.hearing();
    let parse = |answer: &Value| {
        let design = design::read(answer, hearing)?;
        if hearing.takes(&design.inquiries, || design::has_plan(&design)) {
            let (by, inquiries) = (Inquirer::Designer, design.inquiries);
            return Ok(PlannerOutcome::Inquiries { by, inquiries });
        }
        Ok(PlannerOutcome::Plan {
            checked: Box::new(of_boxes(context, &boxes, Some(answer), plan_context)?),
            inquiries: design.inquiries.clone(),
            pre_loop: PreLoop::Done(Box::new(design)),
        })
    };
    let prompt = input.prompt(context.engine.agents.definition(Role::Designer));
    let prompt = prompt.with_inquiries(&context.feature.inquiries, hearing);
    let checkout = branch.mirror.checkout(&branch.head).await?;
    let (settings, asked) = (&read.settings, DesignRequest::Criteria);
    or_its_mistakes(ask(context, settings, &checkout, TaskId::Planned(1), prompt, asked, parse).await)
}

fn of_boxes(
    context: &EffectContext<'_>,
    boxes: &[CheckBox],
    answer: Option<&Value>,
    plan_context: &PlanContext<'_>,
) -> Result<CheckedPlan, String> {
    let description = messages::described_by_issue(context.feature.request.words.as_deref());
    let title = &context.feature.snapshot.title;
    let plan = plan_of_one_task(title, &description, boxes, answer).map_err(|mistakes| mistakes.to_string())?;
    Plan::from_json(&context.engine.secrets.mask_json(plan), plan_context).map_err(|mistakes| mistakes.to_string())
}
