//! The Coach's part of a turn: a fresh checkout, a fresh context, and a decision that AutoBuild checks.

use crate::{
    agents::prompt::{CoachInput, Prompt, SECOND_PROBE},
    config::{RepositorySettings, Role},
    engine::{
        job::{Done, EffectError, FailedRun, of_machine},
        perform::{
            ask::{AgentRequest, Answered, LastRun},
            context::EffectContext,
            sync::fork_of,
            turn,
        },
    },
    gates, messages,
    store::StoredEffect,
};
use domain::{
    blocked::{Defect, Failure},
    contract::{CheckoutState, FileLines, Missing, TurnFacts, judge, missing},
    decision::{CoachDecision, DecisionKind, Probing},
    decision_parse::{NumberedItems, Supplement, parse_decision, parse_supplement, schema, supplement_schema},
    evidence::{GateReport, GateResult},
    grounds,
    ids::{Emission, Sha},
    inquiry::Round,
    problem::ReviewItem,
    question::QuoteFacts,
    task,
    task::{Task, Turn},
};
use git::{Checkout, Mirror, TakeOutError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use text::{secret::Secrets, shell_command::ShellCommand};

/// The largest diff that a Coach gets, in bytes.
const MAX_DIFF: usize = 200_000;

/// The largest cited file whose lines are counted, in bytes.
const MAX_CITED: usize = 4 << 20;

/// The most cited files whose lines are counted.
const MOST_CITED: usize = 200;

/// The commit that a Coach reviews, with its context.
struct CommitUnderReview<'a> {
    context: &'a EffectContext<'a>,
    mirror: &'a Mirror,
    settings: &'a RepositorySettings,
    task: &'a Task,
    turn: &'a Turn,
    head: &'a Sha,
}

pub(super) async fn coach(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    let (turn, head) = turn::open(task)?;
    let mut gates = turn.gates.clone().ok_or_else(|| EffectError::defect(Defect::NoGates))?;
    let mirror = context.holding(head).await?;
    let look = CommitUnderReview { context, mirror: &mirror, settings: &context.settings(), task, turn, head };
    let mut reviewed = look.review(&mut gates).await?;
    if !reviewed.is_supplemented {
        let facts = || look.with_facts(&reviewed.decision, &gates, &reviewed.checkout, missing);
        let lacking = context.patiently(facts).await?;
        if !lacking.is_empty() {
            reviewed = look.ask_for_missing(&gates, reviewed, &lacking).await?;
        }
    }
    let ReviewSoFar { decision, checkout, probes, .. } = reviewed;
    let facts = || look.with_facts(&decision, &gates, &checkout, judge);
    let judgement = Box::new(context.patiently(facts).await?);
    let judged = task::Event::Judged { emission, head: head.clone(), judgement, probes };
    Ok(context.task_event(task.id, judged))
}

/// The part of a review that is done. It is recorded with the effect, together with the end of each run, so that no
/// answer is paid for again.
#[derive(Serialize, Deserialize)]
struct ReviewSoFar {
    decision: CoachDecision,
    checkout: CheckoutState,
    /// The results of the commands that the Coach asked for.
    probes: Vec<GateResult>,
    /// If `true`, the Coach was asked for what its approval lacked.
    #[serde(default)]
    is_supplemented: bool,
}

impl ReviewSoFar {
    fn of(effect: &StoredEffect) -> Option<Self> {
        serde_json::from_str(effect.external_id.as_deref()?).ok()
    }

    async fn record(&self, context: &EffectContext<'_>, last: &LastRun) -> Result<(), EffectError> {
        let text =
            serde_json::to_string(self).map_err(|error| EffectError::defect(Defect::Other(error.to_string())))?;
        context.store_result(&text, None, last.unrecorded()).await
    }
}

impl CommitUnderReview<'_> {
    /// Asks the Coach, and once more with the results of its commands if it asks for some. Continues from what an earlier
    /// try recorded. The results join `gates`.
    async fn review(&self, gates: &mut GateReport) -> Result<ReviewSoFar, EffectError> {
        let mut reviewed = match ReviewSoFar::of(&self.context.job.effect) {
            Some(recorded) => recorded,
            None => self.ask(gates, None).await?,
        };
        let is_probe = reviewed.decision.decision == DecisionKind::Probe;
        if is_probe && reviewed.probes.is_empty() {
            reviewed.probes = self.probe(&reviewed.decision.commands).await?;
            reviewed.record(self.context, &LastRun::Recorded).await?;
        }
        gates.more.extend(reviewed.probes.iter().cloned());
        if is_probe { self.ask(gates, Some(reviewed)).await } else { Ok(reviewed) }
    }

    /// Asks the Coach in a fresh checkout and a fresh context: for its decision, or after its probe for its last one. The
    /// Coach must not change the checkout, which is compared afterwards.
    async fn ask(&self, gates: &GateReport, probed: Option<ReviewSoFar>) -> Result<ReviewSoFar, EffectError> {
        let checkout = self.context.checkout(self.mirror, self.head, None).await?;
        let (probing, part) = match &probed {
            None => (Probing::Allowed, ""),
            Some(_) => (Probing::Over, "/probed"),
        };
        let question = AgentRequest {
            role: Role::Coach,
            task: Some(self.task.id),
            turn: self.turn.number,
            checkout: checkout.path(),
            part,
            prompt: self.prompt(gates, probing).await?,
            schema: schema(probing),
        };
        let numbered = numbered(self.task, gates);
        let read = |answer: &serde_json::Value| decision(answer, numbered, probing);
        let compared = || self.compared(&checkout);
        let asked = self.context.ask_and_check(self.settings, question, read, compared).await?;
        let (before, probes) =
            probed.map_or((CheckoutState::Unchanged, Vec::new()), |done| (done.checkout, done.probes));
        let checkout = before.and(asked.checked);
        let reviewed = ReviewSoFar { decision: asked.answer, checkout, probes, is_supplemented: false };
        reviewed.record(self.context, &asked.last).await?;
        Ok(reviewed)
    }

    /// Asks the Coach for the evidence and the answers that its approval lacks. Without a usable answer there are none.
    async fn ask_for_missing(
        &self,
        gates: &GateReport,
        reviewed: ReviewSoFar,
        missing: &Missing,
    ) -> Result<ReviewSoFar, EffectError> {
        let checkout = self.context.checkout(self.mirror, self.head, None).await?;
        let given = serde_json::to_string_pretty(&reviewed.decision).unwrap_or_default();
        let prompt = self.prompt(gates, Probing::Over).await?;
        let question = AgentRequest {
            role: Role::Coach,
            task: Some(self.task.id),
            turn: self.turn.number,
            checkout: checkout.path(),
            part: "/evidence",
            prompt: prompt.supplement_alone(&given, missing, &gates.questions),
            schema: supplement_schema(),
        };
        let numbered = numbered(self.task, gates);
        let read =
            |answer: &serde_json::Value| parse_supplement(answer, numbered).map_err(|mistakes| mistakes.to_string());
        let compared = || self.compared(&checkout);
        let asked = match self.context.ask_and_check(self.settings, question, read, compared).await {
            Err(EffectError::Permanent(FailedRun {
                failure: Failure::DecisionMissing | Failure::DecisionInvalid { .. },
                ..
            })) => {
                let (answer, checked) = (Supplement::default(), self.compared(&checkout).await?);
                Answered { answer, checked, last: LastRun::Recorded }
            }
            asked => asked?,
        };
        let criteria: Vec<usize> = missing.criteria.iter().map(|open| open.number).collect();
        let questions: Vec<usize> = missing.answers.iter().map(|one| one.open.number).collect();
        let decision = reviewed.decision.with_findings(&criteria, asked.answer.criteria);
        let mut decision = decision.with_answers(&questions, asked.answer.answers);
        decision.ignored.extend(asked.answer.ignored);
        let reviewed =
            ReviewSoFar { decision, checkout: reviewed.checkout.and(asked.checked), is_supplemented: true, ..reviewed };
        reviewed.record(self.context, &asked.last).await?;
        Ok(reviewed)
    }

    async fn compared(&self, checkout: &Checkout) -> Result<CheckoutState, EffectError> {
        let secrets = &self.context.engine.secrets;
        self.context.patiently(|| compare(checkout, secrets)).await
    }

    /// Runs the commands that the Coach asked for, in a separate copy.
    async fn probe(&self, commands: &[String]) -> Result<Vec<GateResult>, EffectError> {
        let context = self.context.gate_context();
        let cancel = &self.context.job.cancel;
        let results = gates::probe(&context, self.mirror, self.head, self.settings, commands, cancel).await?;
        Ok(results)
    }

    async fn prompt(&self, gates: &GateReport, probing: Probing) -> Result<Prompt, EffectError> {
        let (context, turn) = (self.context, self.turn);
        let fork = fork_of(context, self.mirror, self.task, self.head).await?;
        let diff = self.mirror.diff_text(&fork, self.head, MAX_DIFF).await?;
        let turns = self.task.turns_of_attempt().rev();
        let mut before = turns.filter(|before| before.number != turn.number);
        let previous = before.find_map(|before| before.verdict.as_ref());
        let asked = self.task.asked_before(turn.number).and_then(|before| before.gates.as_ref());
        let input = CoachInput {
            issue: context.shown_issue(),
            task: &self.task.plan,
            turn: turn.number,
            diff: &diff.text,
            gates,
            report: turn.report.as_ref(),
            discrepancies: &turn.discrepancies,
            previous: previous.map_or(&[], |verdict| &verdict.items),
            previous_questions: asked.map_or(&[], |gates| &gates.questions),
            people: &people(self.task),
            remarks: &remarks(turn),
            instructions: &context.instructions(self.mirror).await?,
            probing,
        };
        Ok(input.prompt(context.engine.agents.definition(Role::Coach)))
    }

    /// Checks the decision against the facts of this commit.
    async fn with_facts<T>(
        &self,
        decision: &CoachDecision,
        gates: &GateReport,
        checkout: &CheckoutState,
        check: impl Fn(&CoachDecision, &TurnFacts<'_>) -> T,
    ) -> Result<T, EffectError> {
        let paths = self.paths(self.head).await?;
        let fork = fork_of(self.context, self.mirror, self.task, self.head).await?;
        let before = self.paths(&fork).await?;
        let lines = self.lines(decision, &paths).await?;
        let lines_of = |path: &str| {
            let counted = lines.get(path).map(|lines| FileLines::Counted(*lines));
            paths.contains(path).then(|| counted.unwrap_or(FileLines::NotCounted))
        };
        let shown = if gates.questions.is_empty() { None } else { Some(self.mirror.hunks(&fork, self.head).await?) };
        let words: Vec<&str> = self.context.feature.words().into_iter().chain(self.task.words()).collect();
        let facts = TurnFacts {
            kind: self.task.plan.kind,
            criteria: &self.task.plan.acceptance_criteria,
            gates,
            lines_of: &lines_of,
            is_on_base: &|path| before.contains(path),
            quotes: QuoteFacts {
                words: &words,
                in_diff: &|path, line| shown.as_ref().is_some_and(|shown| shown.shows(path, line)),
            },
            checkout,
        };
        Ok(check(decision, &facts))
    }

    async fn paths(&self, commit: &Sha) -> Result<BTreeSet<String>, EffectError> {
        let paths = gates::commands::paths(self.mirror, commit).await?;
        Ok(paths.into_iter().collect())
    }

    /// Counts the lines of the files that the decision cites with a line number.
    async fn lines(
        &self,
        decision: &CoachDecision,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, u32>, EffectError> {
        let mut counted = BTreeMap::new();
        let cited = grounds::cited_with_lines(decision);
        for path in cited.into_iter().filter(|path| paths.contains(path)).take(MOST_CITED) {
            let Some(file) = self.mirror.read_file(self.head, &path, MAX_CITED).await? else {
                continue;
            };
            if !file.truncated {
                counted.insert(path, file.line_count());
            }
        }
        Ok(counted)
    }
}

/// Compares the checkout of an agent that may only read with its commit.
pub(super) async fn compare(checkout: &Checkout, secrets: &Secrets) -> Result<CheckoutState, EffectError> {
    let paths = checkout.changed_paths().await?;
    Ok(if paths.is_empty() {
        CheckoutState::Unchanged
    } else {
        CheckoutState::Changed(paths.iter().map(|path| secrets.mask(&path.to_string())).collect())
    })
}

fn numbered<'a>(task: &'a Task, gates: &GateReport) -> NumberedItems<'a> {
    NumberedItems { criteria: &task.plan.acceptance_criteria, questions: gates.questions.len() }
}

fn decision(
    answer: &serde_json::Value,
    numbered: NumberedItems<'_>,
    probing: Probing,
) -> Result<CoachDecision, String> {
    let decision = parse_decision(answer, numbered).map_err(|mistakes| mistakes.to_string())?;
    match (decision.decision, probing) {
        (DecisionKind::Approve | DecisionKind::Feedback, _) => Ok(decision),
        (DecisionKind::Probe, Probing::Over) => Err(SECOND_PROBE.to_owned()),
        (DecisionKind::Probe, Probing::Allowed) => match decision.commands.iter().find_map(no_command) {
            Some(problem) => Err(problem),
            None => Ok(decision),
        },
    }
}

/// Returns the reason why no shell can run the command, if there is one.
fn no_command(command: &String) -> Option<String> {
    let wrong = command.parse::<ShellCommand>().err()?;
    Some(format!("commands: `{command}` cannot be run: {wrong}"))
}

/// Returns the words of people with the right to decide about the work, over all turns.
fn people(task: &Task) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for turn in &task.turns {
        let input = &turn.input;
        let reviews = input.reviews.iter();
        let reviews = reviews.flat_map(|review| review.items.iter().map(|item| remark(&review.by.login, item)));
        let guidance = input.guidance.iter().map(|guidance| guidance.text.clone());
        let answers = input.answers.iter().filter_map(Round::words).map(str::to_owned);
        words.extend(guidance.chain(answers).chain(reviews));
    }
    words.dedup();
    words
}

/// Returns the remarks of others on the work. The Coach sees them as information, not as instructions.
fn remarks(turn: &Turn) -> Vec<String> {
    let remarks = turn.input.remarks.iter();
    remarks.flat_map(|review| review.items.iter().map(|item| remark(&review.by.login, item))).collect()
}

fn remark(login: &str, item: &ReviewItem) -> String {
    let words = messages::problem(item);
    match (&item.file, item.line) {
        (Some(file), Some(line)) => format!("{login} on {file}:{line}: {words}"),
        (Some(file), None) => format!("{login} on {file}: {words}"),
        (None, _) => format!("{login}: {words}"),
    }
}

/// Returns the commit from which the task's change is counted: `merge-base(integration, head)`.
pub(super) async fn fork_point(context: &EffectContext<'_>, mirror: &Mirror, head: &Sha) -> Result<Sha, EffectError> {
    let integration = context.feature.integration.as_ref();
    let integration = integration.ok_or_else(|| EffectError::defect(Defect::NoIntegrationBranch))?;
    let branch = super::branches::branch_name(&integration.branch)?;
    let tip = mirror.rev_parse(&branch).await?;
    let tip = tip.unwrap_or_else(|| integration.head.clone());
    let base = mirror.merge_base(&tip, head).await?;
    Ok(base.unwrap_or_else(|| integration.base.clone()))
}

impl From<TakeOutError> for EffectError {
    fn from(error: TakeOutError) -> Self {
        match error {
            TakeOutError::Io(source) => of_machine("reading the checkout", &source).into(),
            TakeOutError::Changing(_) => Failure::Machine { message: error.to_string() }.into(),
        }
    }
}
