//! Features and tasks in every state, reached by real events if possible.

use crate::{
    blocked::BlockReason,
    ci,
    ci::{CiCheck, CiPolicy, CiReading, CiSays, CiTimes},
    contract::Judgement,
    decision::{Outcome, Verdict},
    design::PreLoop,
    effect::Effect,
    evidence::{Absence, Additions, Baseline, Counts, Evidence, Finding, GateReport, GateResult},
    exposure::Exposure,
    feature::{
        Discussion, Feature, Mode, PlanApproval, PlanKind, PreFlight, PreFlightOutcome, Rules, Snapshot, Step, Trust,
        event::{DefaultMerge, Event, OpenedOn, Planned},
        step::{labelled, step},
    },
    ids::{
        Emission, FeatureKey, InstallationId, IssueNumber, Millis, PullNumber, RepoId, ReviewId, Sha, TaskId, User,
        UserId,
    },
    plan::{Check, Criterion, Factors, Plan, PlannedTask, TaskType, TestEffort},
    problem::ReviewItem,
    report::PlayerReport,
    task,
    task::{HumanReview, MergePolicy, PersonDid, PlayerOutcome, WaivedFact},
};

pub const AT: Millis = Millis(1_000);
pub const ONE: TaskId = TaskId::Planned(1);
pub const TWO: TaskId = TaskId::Planned(2);
pub const THREE: TaskId = TaskId::Planned(3);
pub const FEATURE_PULL: PullNumber = PullNumber(99);

pub fn key() -> FeatureKey {
    FeatureKey { repo: RepoId(7), issue: IssueNumber(42), run: 1 }
}

pub fn person(id: u64) -> User {
    User { id: UserId(id), login: format!("person{id}") }
}

pub fn sha(n: u64) -> Sha {
    format!("{n:040x}").parse().unwrap()
}

/// A feature pull request whose branch nobody looked at.
pub fn unmoved() -> OpenedOn {
    OpenedOn { known: None, head: sha(0), gated: None, branch: None }
}

pub fn pull(task: TaskId) -> PullNumber {
    match task {
        TaskId::Planned(k) => PullNumber(10 + u64::from(k)),
        TaskId::Sync(k) => PullNumber(30 + u64::from(k)),
        TaskId::Fix(k) => PullNumber(40 + u64::from(k)),
        TaskId::Review(k) => PullNumber(50 + u64::from(k)),
    }
}

pub fn planned_task(id: TaskId, needs: &[TaskId]) -> PlannedTask {
    PlannedTask {
        id,
        name: format!("Write part {id}"),
        kind: TaskType::Feature,
        description: String::new(),
        acceptance_criteria: vec![Criterion { text: "it works".to_owned(), check: Check::Test("works".to_owned()) }],
        files: Vec::new(),
        factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: Vec::new() },
        changes: Vec::new(),
        removes: Vec::new(),
        dependencies: needs.to_vec(),
    }
}

pub fn plan(tasks: Vec<PlannedTask>) -> Plan {
    Plan { name: "Sample".to_owned(), description: String::new(), tasks, smoke: None }
}

/// Returns a plan with two independent tasks, and a third that needs the first.
pub fn three_tasks() -> Plan {
    plan(vec![planned_task(ONE, &[]), planned_task(TWO, &[]), planned_task(THREE, &[ONE])])
}

pub fn rules() -> Rules {
    Rules {
        commands: crate::feature::Commands::Bare,
        max_turns: 3,
        max_parallel_tasks: 2,
        merge: MergePolicy::Auto,
        plan_approval: PlanApproval::Never,
        mode: Mode::Tdd,
        ci: CiPolicy::Ignore,
        inquiries: crate::inquiry::InquiryPolicy::ByAuthor,
        records: crate::feature::Records::WhileBuilding,
        titles: crate::titles::TitleForm::default(),
        waived: crate::feature::WaivedConclusion::Neutral,
    }
}

pub fn planned(plan: Plan, rules: Rules) -> Box<Planned> {
    Box::new(Planned {
        plan,
        hash: "0123456789abcdef".to_owned(),
        notes: Vec::new(),
        commands: "cargo test".to_owned(),
        base: sha(1),
        rules,
        settings: serde_json::Value::Null,
        exposure: Exposure::default(),
        pre_loop: PreLoop::Off,
    })
}

pub fn new(rules: Rules) -> Step {
    let snapshot = Snapshot {
        title: "Title".to_owned(),
        body: "Body".to_owned(),
        author: person(1),
        labelled_by: person(1),
        at: AT,
        requested_at: AT,
        trust: Trust::Writers,
        wanted: PlanKind::Plan,
        parts: text::visible::HiddenParts::default(),
        discussion: Discussion::default(),
    };
    labelled(key(), InstallationId(3), snapshot, rules)
}

fn finding(failing: &[&str]) -> Finding {
    Finding {
        command: "cargo test".to_owned(),
        exit_code: Some(i32::from(!failing.is_empty())),
        counts: Counts::Known { passed: 3, failed: u32::try_from(failing.len()).unwrap(), skipped: 0 },
        failing: failing.iter().map(|name| (*name).to_owned()).collect(),
        output: String::new(),
        ..Finding::default()
    }
}

pub fn green() -> GateReport {
    GateReport {
        isolation: None,
        setup: None,
        tests: Evidence::Passed(finding(&[])),
        excused: Vec::new(),
        questions: Vec::new(),
        intended: Vec::new(),
        more: Vec::new(),
    }
}

pub fn red() -> GateReport {
    GateReport {
        isolation: None,
        setup: None,
        tests: Evidence::Failed(finding(&["works"])),
        excused: Vec::new(),
        questions: Vec::new(),
        intended: Vec::new(),
        more: Vec::new(),
    }
}

pub fn absent() -> GateReport {
    GateReport {
        isolation: None,
        setup: None,
        tests: Evidence::Absent(Absence::NoCommand),
        excused: Vec::new(),
        questions: Vec::new(),
        intended: Vec::new(),
        more: Vec::new(),
    }
}

pub fn approval() -> Judgement {
    Judgement::Verdict(Box::new(Verdict {
        outcome: Outcome::Approve,
        decision: None,
        breaches: Vec::new(),
        open_questions: Vec::new(),
        items: Vec::new(),
    }))
}

pub fn objection(category: &str, words: &str) -> WaivedFact {
    WaivedFact::Objection(ReviewItem::must_fix_remark(category, words).problem)
}

pub fn feedback(words: &str) -> Judgement {
    Judgement::Verdict(Box::new(Verdict {
        outcome: Outcome::Feedback,
        decision: None,
        breaches: Vec::new(),
        open_questions: Vec::new(),
        items: vec![ReviewItem::must_fix_remark("test", words)],
    }))
}

/// Returns a pre-flight result for commit `n`, with tests that pass.
pub fn ready(n: u64) -> Box<PreFlightOutcome> {
    let baseline = Baseline {
        commit: sha(n),
        setup: None,
        tests: Evidence::Passed(finding(&[])),
        rewritten: Vec::new(),
        additions: Additions::None,
        made: std::collections::BTreeSet::new(),
    };
    Box::new(PreFlightOutcome::Ready(PreFlight::of(&baseline, Vec::new())))
}

pub fn review_of_feature(id: u64) -> Box<HumanReview> {
    Box::new(HumanReview {
        id: ReviewId(id),
        by: person(3),
        items: vec![ReviewItem {
            file: Some("src/a.rs".to_owned()),
            line: Some(3),
            ..ReviewItem::must_fix_remark("review", "name it better")
        }],
    })
}

pub fn report() -> PlayerReport {
    PlayerReport::default()
}

pub fn pushed(head: Sha) -> PlayerOutcome {
    PlayerOutcome::Pushed { left_out: Vec::new(), base: sha(1), head, report: report() }
}

/// A sequence of events, with every effect that they asked for.
#[derive(Clone)]
pub struct Story {
    pub feature: Feature,
    pub effects: Vec<Effect>,
}

impl Story {
    pub fn new(rules: Rules) -> Self {
        let step = new(rules);
        Self { feature: step.feature, effects: step.effects }
    }

    /// Returns a Feature that builds the tasks of `plan`, with the first wave running.
    pub fn building(plan: Plan, rules: Rules) -> Self {
        let mut story = Self::new(rules.clone());
        story.apply(Event::Planned { emission: Emission(1), planned: planned(plan, rules) });
        story.pre_flight(1);
        let emission = story.waits_for();
        story.apply(Event::IntegrationOpened { emission, base: sha(1), head: sha(2) });
        story
    }

    /// Lets pre-flight on commit `n` find no obstacle.
    pub fn pre_flight(&mut self, n: u64) -> Vec<Effect> {
        let emission = self.waits_for();
        self.apply(Event::PreFlown { emission, outcome: ready(n) })
    }

    /// Returns the emission that the Feature waits for.
    pub fn waits_for(&self) -> Emission {
        self.feature.phase().and_then(crate::feature::Phase::waits_for).unwrap_or(Emission(0))
    }

    /// Applies an event and returns the effects that it asks for.
    pub fn apply(&mut self, event: Event) -> Vec<Effect> {
        let done = step(self.feature.clone(), event, AT);
        self.feature = done.feature;
        self.effects.extend(done.effects.clone());
        done.effects
    }

    pub fn task(&self, id: TaskId) -> &task::Task {
        self.feature.task(id).unwrap()
    }

    pub fn emission(&self, id: TaskId) -> Emission {
        self.task(id).state.waits_for().unwrap_or(Emission(0))
    }

    pub fn task_event(&mut self, id: TaskId, event: task::Event) -> Vec<Effect> {
        self.apply(Event::Task { task: id, event })
    }

    pub fn person(&mut self, id: TaskId, did: PersonDid) -> Vec<Effect> {
        self.task_event(id, task::Event::Person { by: person(2), did })
    }

    pub fn push(&mut self, id: TaskId, n: u64) -> Vec<Effect> {
        let emission = self.emission(id);
        let effects = self.task_event(id, task::Event::Played { emission, outcome: Box::new(pushed(sha(n))) });
        if self.task(id).pull.is_none() {
            let branch = self.task(id).branch.clone();
            self.task_event(id, task::Event::PullOpened { pull: pull(id), branch });
        }
        effects
    }

    pub fn head(&self, id: TaskId) -> Sha {
        self.task(id).last_turn().and_then(|turn| turn.head.clone()).unwrap_or_else(|| sha(0))
    }

    pub fn gate(&mut self, id: TaskId, report: GateReport) -> Vec<Effect> {
        let (emission, head) = (self.emission(id), self.head(id));
        self.task_event(id, task::Event::Gated { emission, head, report: Box::new(report), discrepancies: Vec::new() })
    }

    pub fn judge(&mut self, id: TaskId, judgement: Judgement) -> Vec<Effect> {
        let (emission, head) = (self.emission(id), self.head(id));
        self.task_event(id, task::Event::Judged { emission, head, judgement: Box::new(judgement), probes: Vec::new() })
    }

    /// Plays a whole turn that ends with `judgement`.
    pub fn turn(&mut self, id: TaskId, n: u64, judgement: Judgement) -> Vec<Effect> {
        self.push(id, n);
        self.gate(id, green());
        self.judge(id, judgement)
    }

    pub fn merge(&mut self, id: TaskId, n: u64) -> Vec<Effect> {
        let emission = self.emission(id);
        self.task_event(id, task::Event::Merged { emission, commit: sha(n) })
    }

    pub fn complete(&mut self, id: TaskId, n: u64) {
        self.turn(id, n, approval());
        self.merge(id, n);
    }

    pub fn wave_gate(&mut self, n: u64, report: GateReport) -> Vec<Effect> {
        self.wave_gate_after(n, report, None)
    }

    pub fn wave_gate_after(&mut self, n: u64, report: GateReport, broke: Option<Sha>) -> Vec<Effect> {
        let emission = self.feature.checking.unwrap_or(self.waits_for());
        self.apply(Event::WaveGated { emission, head: sha(n), report: Box::new(report), broke })
    }

    pub fn merge_default(&mut self, n: u64) -> Vec<Effect> {
        let emission = self.waits_for();
        self.apply(Event::DefaultMerged { emission, outcome: DefaultMerge::UpToDate { head: sha(n), other: sha(1) } })
    }

    /// A person resumes a task that the Feature waits for. The default branch brings nothing new.
    pub fn resume(&mut self, id: TaskId, guidance: Option<&str>, turns: u32) -> Vec<Effect> {
        let guidance = guidance.map(str::to_owned);
        self.person(id, PersonDid::Resume { guidance, turns });
        self.merge_default(2)
    }

    /// The default branch has a new commit, and pre-flight refuses it.
    pub fn pre_flight_refused(&mut self) {
        let emission = self.waits_for();
        let (head, other) = (sha(62), sha(70));
        let outcome = DefaultMerge::Merged { head, other };
        self.apply(Event::DefaultMerged { emission, outcome });
        let emission = self.waits_for();
        let rule = "creation".to_owned();
        let outcome = Box::new(PreFlightOutcome::Refused(BlockReason::BranchRule { rule }));
        self.apply(Event::PreFlown { emission, outcome });
    }

    pub fn default_conflict(&mut self, files: &[&str], other: u64) -> Vec<Effect> {
        let emission = self.waits_for();
        self.apply(Event::DefaultMerged {
            emission,
            outcome: DefaultMerge::Conflict {
                files: files.iter().map(|file| (*file).to_owned()).collect(),
                other: sha(other),
            },
        })
    }

    /// Returns a Feature in review, with one merged task.
    pub fn in_review() -> Self {
        let mut story = Self::building(plan(vec![planned_task(ONE, &[])]), rules());
        story.complete(ONE, 20);
        story.wave_gate(30, green());
        story.merge_default(30);
        let emission = story.waits_for();
        story.apply(Event::PullOpened { emission, pull: FEATURE_PULL, opened: unmoved() });
        story
    }
}

/// Returns the kinds of the effects, in order.
pub fn kinds(effects: &[Effect]) -> Vec<&'static str> {
    effects.iter().map(Effect::kind).collect()
}

/// Returns the result of CI after one check ended like this.
pub fn ci_says(says: CiSays) -> GateResult {
    let check = CiCheck { name: "build".to_owned(), says, at: None };
    match ci::reading(&[check], AT, AT, &CiTimes::AT_ONCE) {
        CiReading::Ended(result) => *result,
        CiReading::Again(until) => panic!("to be read again at {until:?}"),
    }
}
