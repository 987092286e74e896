//! A random walk: agents, the forge and people do whatever they may, in any order. What the state machines promise has
//! to hold at every step.

#![expect(clippy::too_many_lines, reason = "one arm per effect or promise")]

use crate::{
    blocked::{BlockReason, Failure, WorkStep},
    ci,
    ci::{CiPolicy, CiSays},
    command::Command,
    contract::Judgement,
    effect::{Effect, ReplyTo, TaskWork, Thread},
    evidence::{Profile, profile},
    feature::{
        CancelledWhy, Feature, PreFlightOutcome, State, Step, StopScope,
        event::{Commanded, DefaultMerge, Event, Inquired, NewerRun, Target},
        flow::strictest,
        step::step,
        tests::{inquiries::inquiries, samples::*},
    },
    ids::{CommentId, Emission, InstallationId, IssueNumber, PullNumber, ReviewId, Sha, TaskId},
    plan::parse::PlanAuthor,
    task,
    task::{HumanReview, MergePolicy, Origin, PersonDid, PlayerOutcome, Task},
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The world around the state machines: effects that wait or run, late results, and results that were delivered before.
struct World {
    feature: Feature,
    due: Vec<Effect>,
    /// Effects that were stopped while they ran. Their results may still come.
    stopped: Vec<Effect>,
    /// Results that were delivered before, as events of the Feature.
    told: Vec<Event>,
    ids: BTreeSet<String>,
    count: u64,
}

/// Random numbers that decide what happens; zeros after the last one.
struct Dice<'a>(std::slice::Iter<'a, u16>);

impl Dice<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % sides.max(1)
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

fn failure() -> Failure {
    Failure::TimedOut { seconds: 1 }
}

fn refused() -> BlockReason {
    BlockReason::failed(WorkStep::Other("it".to_owned()), Failure::GitHubRefused { message: "no".to_owned() })
}

impl World {
    fn new(merge: MergePolicy) -> Self {
        let step = new(crate::feature::Rules { merge, ci: CiPolicy::Wait, ..rules() });
        let mut world = Self {
            feature: step.feature.clone(),
            due: Vec::new(),
            stopped: Vec::new(),
            told: Vec::new(),
            ids: BTreeSet::new(),
            count: 100,
        };
        world.take(step);
        world
    }

    fn fresh(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn sha(&mut self) -> Sha {
        sha(self.fresh())
    }

    fn take(&mut self, step: Step) {
        for scope in &step.stop {
            let (stopped, kept) = self.due.drain(..).partition(|effect: &Effect| match (scope, effect) {
                (StopScope::Feature, effect) => effect.waits_when_held(),
                (StopScope::Task(id), Effect::Task { task, .. }) => task == id && effect.waits_when_held(),
                (StopScope::Task(_), _) => false,
            });
            self.due = kept;
            self.stopped.extend::<Vec<Effect>>(stopped);
        }
        for effect in &step.effects {
            assert!(self.ids.insert(effect.id(&key())), "{effect:?} is an effect of before");
        }
        self.due.extend(step.effects);
        self.feature = step.feature;
    }

    fn apply(&mut self, event: Event) {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        let before = self.feature.clone();
        let done = step(before.clone(), event.clone(), AT);
        check_move(&before, &event, &done);
        self.take(done);
        self.check();
    }

    /// Delivers a result, and checks that it changes nothing the second time.
    fn result(&mut self, event: Event) {
        self.apply(event.clone());
        self.is_ignored(&event);
        self.told.push(event);
    }

    fn is_ignored(&self, event: &Event) {
        let again = step(self.feature.clone(), event.clone(), AT);
        assert_eq!(again.feature, self.feature, "{event:?} was told before");
        assert_eq!((again.effects, again.stop), (Vec::new(), Vec::new()), "{event:?} was told before");
    }

    fn check(&self) {
        let feature = &self.feature;
        let waits = |emission: Emission, id: Option<TaskId>| {
            self.due.iter().any(|effect| match effect {
                Effect::Task { task, emission: due, .. } => Some(*task) == id && *due == emission,
                Effect::Plan { emission: due }
                | Effect::PreFlight { emission: due, .. }
                | Effect::OpenIntegration { emission: due }
                | Effect::MergeDefault { emission: due }
                | Effect::WaveGate { emission: due }
                | Effect::OpenFeaturePull { emission: due } => id.is_none() && *due == emission,
                _ => false,
            })
        };
        match &feature.state {
            State::Planning { emission } => assert!(waits(*emission, None), "nothing plans"),
            State::Building { phase } | State::Paused { phase, .. } => match phase.waits_for() {
                Some(emission) => assert!(waits(emission, None), "nothing does {phase:?}"),
                None => assert!(
                    matches!(feature.state, State::Paused { .. }) || feature.opened_tasks().any(Task::is_in_motion),
                    "nothing moves: {feature:#?}"
                ),
            },
            State::InReview => assert!(feature.tasks.iter().all(Task::is_over), "in review with open tasks"),
            State::AwaitingApproval | State::Blocked { .. } => {}
            State::Completed | State::Cancelled { .. } | State::Failed { .. } => {
                let work = self.due.iter().any(Effect::waits_when_held);
                assert!(!work, "an ended Feature has work due: {:?}", self.due);
            }
        }
        if let Some(emission) = feature.checking {
            assert_eq!(feature.state, State::InReview);
            assert!(waits(emission, None), "no gate runs in review");
        }
        for task in &feature.tasks {
            if let Some(emission) = task.state.waits_for() {
                assert!(waits(emission, Some(task.id)), "nothing works for {task:#?}");
            }
            if let Some(emission) = task.opening.filter(|_| feature.is_unfinished()) {
                assert!(waits(emission, Some(task.id)), "nothing opens the pull request of {}", task.id);
            }
            assert!(feature.is_unfinished() || !task.is_in_motion(), "{} moves after the end", task.id);
            check_turns(task);
        }
    }
}

fn check_turns(task: &Task) {
    for (index, turn) in task.turns.iter().enumerate() {
        assert_eq!(usize::try_from(turn.number.0).unwrap(), index + 1, "a turn is missing");
        let is_last = index + 1 == task.turns.len();
        assert!(
            is_last || turn.verdict.is_some() || turn.ended_at.is_some(),
            "turn {} was used up without a verdict",
            turn.number
        );
        assert!(!is_last || turn.number.0 <= task.limit, "turn {} is beyond {}", turn.number, task.limit);
    }
}

/// Checks that storing and reading a Feature loses nothing.
fn round_trip(feature: &Feature) {
    let text = serde_json::to_string(feature).unwrap();
    let mut read: Feature = serde_json::from_str(&text).unwrap();
    for task in &feature.tasks {
        let text = serde_json::to_string(task).unwrap();
        let mut task_read: Task = serde_json::from_str(&text).unwrap();
        for turn in &task.turns {
            let text = serde_json::to_string(turn).unwrap();
            task_read.turns.push(serde_json::from_str(&text).unwrap());
        }
        read.tasks.push(task_read);
    }
    assert_eq!(&read, feature);
}

/// Checks the transitions that one event may cause.
fn check_move(before: &Feature, event: &Event, done: &Step) {
    let after = &done.feature;
    if !before.is_unfinished() && before.state != after.state {
        let allowed = match (&before.state, event) {
            (State::Cancelled { .. }, Event::PullReopened { .. } | Event::PullMerged { .. }) => true,
            (State::Failed { .. }, Event::Commanded(said)) => matches!(said.command, Command::Plan { .. }),
            _ => false,
        };
        assert!(allowed, "{:?} was left by {event:?}", before.state);
    }
    if let (State::InReview, Event::PullOpened { .. }) = (&after.state, event) {
        let gate = after.gates.last().unwrap();
        assert_eq!(profile(strictest(after), &gate.report), Profile::Passed);
        assert!(!after.completed().is_empty());
        assert!(after.checking.is_some() || gate.head == after.integration.as_ref().unwrap().head);
    }
    for task in &after.tasks {
        let Some(old) = before
            .task(task.id)
            .filter(|_| before.plan.as_ref().map(|plan| plan.number) == after.plan.as_ref().map(|plan| plan.number))
        else {
            continue;
        };
        if old.is_over() && old.state != task.state {
            let allowed = match (&old.state, event) {
                (task::State::Skipped { .. } | task::State::Cancelled, Event::Commanded(said)) => {
                    matches!(said.command, Command::Retry { .. })
                }
                (task::State::Cancelled, Event::Task { event: task::Event::Person { did, .. }, .. }) => {
                    matches!(did, PersonDid::ReopenPull { .. } | PersonDid::MergePull { .. })
                }
                (task::State::Skipped { .. }, Event::Task { event: task::Event::Person { did, .. }, .. }) => {
                    matches!(did, PersonDid::MergePull { .. })
                }
                (
                    task::State::Skipped { .. } | task::State::Cancelled,
                    Event::Task { event: task::Event::Merged { .. }, .. },
                ) => true,
                _ => false,
            };
            assert!(allowed, "{:?} was left by {event:?}", old.state);
        }
        let is_new = old.turns_of_attempt().next().is_none() && old.head.is_none();
        if !old.is_in_motion() && task.is_in_motion() && is_new {
            for need in &task.plan.dependencies {
                let needed = after.task(*need).unwrap();
                let has = needed.is_completed() || needed.is_gone() && task.without.contains(need);
                assert!(has, "{} runs before {need}: {event:?}", task.id);
            }
        }
        if is_infrastructure(event, task.id) {
            let used = |task: &Task| task.turns.iter().filter(|turn| turn.verdict.is_some()).count();
            assert_eq!(used(old), used(task), "{event:?} used up a turn");
            assert_eq!(old.limit, task.limit);
        }
    }
}

fn is_infrastructure(event: &Event, id: TaskId) -> bool {
    let Event::Task { task, event } = event else {
        return false;
    };
    *task == id
        && match event {
            task::Event::Stuck { .. } | task::Event::CoachFailed { .. } => true,
            task::Event::Played { outcome, .. } => {
                matches!(**outcome, PlayerOutcome::Failed { .. } | PlayerOutcome::Overtaken { .. })
            }
            task::Event::Gated { .. } => true,
            task::Event::Judged { judgement, .. } => matches!(**judgement, Judgement::EvidenceAbsent { .. }),
            _ => false,
        }
}

impl World {
    /// Returns the event that ends an effect; `None` for effects that nothing waits for.
    fn outcome(&mut self, effect: &Effect, dice: &mut Dice<'_>) -> Option<Event> {
        let event = match effect {
            Effect::Plan { emission } => match dice.roll(9) {
                8 => Event::Inquired {
                    emission: *emission,
                    inquired: Box::new(Inquired {
                        by: crate::inquiry::Inquirer::Planner,
                        inquiries: inquiries("Which?"),
                        rules: self.feature.rules.clone(),
                        settings: serde_json::Value::Null,
                    }),
                },
                0 => Event::PlanRefused { emission: *emission, author: PlanAuthor::Agent, message: "no".to_owned() },
                1 => Event::Stuck { emission: *emission, reason: refused() },
                2 => {
                    let rules = crate::feature::Rules {
                        plan_approval: crate::feature::PlanApproval::Always,
                        ..self.feature.rules.clone()
                    };
                    Event::Planned { emission: *emission, planned: planned(three_tasks(), rules) }
                }
                _ => {
                    Event::Planned { emission: *emission, planned: planned(three_tasks(), self.feature.rules.clone()) }
                }
            },
            Effect::PreFlight { emission, commit } => {
                let emission = *emission;
                let (reason, looked_at) = (refused(), commit.clone().unwrap_or_else(|| sha(1)));
                match dice.roll(6) {
                    0 => Event::Stuck { emission, reason },
                    1 => Event::PreFlown { emission, outcome: Box::new(PreFlightOutcome::Refused(reason)) },
                    _ => {
                        let mut outcome = ready(1);
                        if let PreFlightOutcome::Ready(found) = &mut *outcome {
                            found.commit = looked_at;
                        }
                        Event::PreFlown { emission, outcome }
                    }
                }
            }
            Effect::CompareDefault { .. } => Event::DefaultConflicts { files: vec!["a".to_owned()], other: self.sha() },
            Effect::OpenIntegration { emission } => match dice.roll(6) {
                0 => Event::Stuck { emission: *emission, reason: refused() },
                _ => Event::IntegrationOpened { emission: *emission, base: sha(1), head: self.sha() },
            },
            Effect::MergeDefault { emission } => {
                let head = match (dice.roll(2), self.feature.gates.last()) {
                    (0, Some(gate)) => gate.head.clone(),
                    _ => self.sha(),
                };
                match dice.roll(6) {
                    0 => Event::Stuck { emission: *emission, reason: refused() },
                    1 => Event::DefaultMerged {
                        emission: *emission,
                        outcome: DefaultMerge::Conflict { files: Vec::new(), other: self.sha() },
                    },
                    2 => Event::DefaultMerged {
                        emission: *emission,
                        outcome: DefaultMerge::Merged { head, other: self.sha() },
                    },
                    _ => Event::DefaultMerged {
                        emission: *emission,
                        outcome: DefaultMerge::UpToDate { head, other: sha(1) },
                    },
                }
            }
            Effect::WaveGate { emission } => match dice.roll(6) {
                0 => Event::Stuck { emission: *emission, reason: refused() },
                roll => {
                    let report = [red(), absent(), green()][(roll - 1).min(2)].clone();
                    Event::WaveGated { emission: *emission, head: self.sha(), report: Box::new(report), broke: None }
                }
            },
            Effect::ReadCi { emission, .. } => {
                let says = match dice.roll(3) {
                    0 => CiSays::Failed("no".to_owned()),
                    _ => CiSays::Passed,
                };
                Event::CiRead {
                    emission: *emission,
                    head: self.feature.reviewed_head().cloned().unwrap_or_else(|| self.sha()),
                    result: Box::new(ci_says(says)),
                }
            }
            Effect::OpenFeaturePull { emission } => match dice.roll(6) {
                0 => Event::Stuck { emission: *emission, reason: refused() },
                _ => Event::PullOpened { emission: *emission, pull: FEATURE_PULL, opened: unmoved() },
            },
            Effect::Task { task, emission, work } => {
                let event = self.task_outcome(*task, *emission, work, dice)?;
                Event::Task { task: *task, event }
            }
            _ => return None,
        };
        Some(event)
    }

    fn task_outcome(
        &mut self,
        id: TaskId,
        emission: Emission,
        work: &TaskWork,
        dice: &mut Dice<'_>,
    ) -> Option<task::Event> {
        let task = self.feature.task(id)?.clone();
        let head = task.last_turn().and_then(|turn| turn.head.clone()).unwrap_or_else(|| sha(0));
        let stuck = task::Event::Stuck { emission, reason: refused() };
        let event = match work {
            TaskWork::Design => task::Event::Designed { emission, design: None },
            TaskWork::Play => {
                let (base, report) = (sha(1), report());
                let outcome = match dice.roll(14) {
                    0 => return Some(stuck),
                    13 => {
                        return Some(task::Event::Inquired {
                            emission,
                            inquiries: inquiries("Which?"),
                            partial: self.fresh().is_multiple_of(2).then(|| self.sha()),
                        });
                    }
                    1 => PlayerOutcome::NoChange { base, head: task.head.clone(), report, left_out: Vec::new() },
                    2 => PlayerOutcome::Held { left_out: Vec::new(), base, report, items: Vec::new() },
                    3 => PlayerOutcome::Overtaken { head: self.sha() },
                    4 => PlayerOutcome::Failed { printed: String::new(), failure: failure(), partial: None },
                    5 => {
                        PlayerOutcome::Failed { printed: String::new(), failure: failure(), partial: Some(self.sha()) }
                    }
                    _ => pushed(self.sha()),
                };
                task::Event::Played { emission, outcome: Box::new(outcome) }
            }
            TaskWork::OpenPull => match dice.roll(5) {
                0 => stuck,
                _ => task::Event::PullOpened { pull: PullNumber(self.fresh()), branch: task.branch.clone() },
            },
            TaskWork::Gates => match dice.roll(8) {
                0 => stuck,
                1 => task::Event::Gated { emission, head, report: Box::new(absent()), discrepancies: Vec::new() },
                2 => task::Event::Gated { emission, head, report: Box::new(red()), discrepancies: Vec::new() },
                3 => task::Event::CaughtUp { emission, head: self.sha() },
                4 => task::Event::MergeConflict { emission, files: Vec::new() },
                _ => task::Event::Gated { emission, head, report: Box::new(green()), discrepancies: Vec::new() },
            },
            TaskWork::Ci => match dice.roll(8) {
                0 => stuck,
                said => task::Event::CiRead {
                    emission,
                    head,
                    result: Box::new(match said {
                        1 => ci_says(CiSays::NoAnswer("cancelled".to_owned())),
                        2 => ci_says(CiSays::Failed("line 3".to_owned())),
                        3 => ci::none_ran(),
                        _ => ci_says(CiSays::Passed),
                    }),
                },
            },
            TaskWork::Coach => match dice.roll(10) {
                0 => task::Event::CoachFailed { printed: String::new(), emission, failure: failure() },
                1 => judged(emission, head, Judgement::EvidenceAbsent { reasons: Vec::new() }),
                2 => judged(emission, head, feedback("the same")),
                3..5 => {
                    let word = char::from_u32(97 + u32::try_from(self.fresh() % 26).unwrap()).unwrap();
                    judged(emission, head, feedback(&word.to_string().repeat(4)))
                }
                _ => judged(emission, head, approval()),
            },
            TaskWork::Merge => match dice.roll(8) {
                0 => stuck,
                1 => task::Event::MergeRefused { emission, rule: "two reviews".to_owned() },
                2 => task::Event::MergeConflict { emission, files: Vec::new() },
                3 if matches!(task.origin, Origin::Sync { .. }) => task::Event::CaughtUp { emission, head: self.sha() },
                _ => task::Event::Merged { emission, commit: self.sha() },
            },
            TaskWork::PostReview { .. }
            | TaskWork::PostBlockedReview { .. }
            | TaskWork::PublishCheck { .. }
            | TaskWork::PublishBlocked { .. }
            | TaskWork::PostBlocked
            | TaskWork::MarkReady
            | TaskWork::DismissReview { .. }
            | TaskWork::ClosePull { .. } => return None,
        };
        Some(event)
    }

    /// Ends one of the due effects. Work of a held Feature may end too, because it may have been running before.
    fn agents(&mut self, dice: &mut Dice<'_>) {
        if self.due.is_empty() {
            return;
        }
        let effect = self.due.remove(dice.roll(self.due.len()));
        if let Some(event) = self.outcome(&effect, dice) {
            self.result(event);
        }
    }

    /// Delivers a late or repeated result, and checks that nothing follows. Only a late feature pull request and a late
    /// merge still count: GitHub has them.
    fn late(&mut self, dice: &mut Dice<'_>) {
        if !self.told.is_empty() {
            let event = dice.pick(&self.told);
            self.is_ignored(&event);
        }
        if self.stopped.is_empty() {
            return;
        }
        let effect = self.stopped.remove(dice.roll(self.stopped.len()));
        let late_pull = matches!(effect, Effect::OpenFeaturePull { .. });
        if let Some(event) = self.outcome(&effect, dice) {
            if late_pull {
                self.result(event);
            } else if matches!(event, Event::Task { event: task::Event::Merged { .. }, .. }) {
                self.apply(event);
            } else {
                self.is_ignored(&event);
            }
        }
    }

    fn command(&mut self, dice: &mut Dice<'_>) {
        let id = self.any_task(dice);
        let commands = [
            Command::Resume { guidance: None, max_turns: None },
            Command::Resume { guidance: None, max_turns: None },
            Command::Resume { guidance: Some("do it".to_owned()), max_turns: Some(1) },
            Command::Approve { hash: Some("01234567".to_owned()) },
            Command::Approve { hash: None },
            Command::Retry { task: Some(id) },
            Command::Skip { task: id },
            Command::Pause,
            Command::Status,
            Command::Help,
            Command::Plan { words: None, yaml: None },
            Command::Cancel,
        ];
        let on = match dice.roll(2) {
            0 => Target::Feature,
            _ => Target::Task(id),
        };
        let mut command = dice.pick(&commands);
        // If this happened too often, every walk would end early.
        if command == Command::Cancel && on == Target::Feature && dice.roll(6) > 0 {
            command = Command::Status;
        }
        let comment = CommentId(self.fresh());
        self.apply(Event::Commanded(Box::new(Commanded {
            command,
            on,
            thread: Thread::Issue(IssueNumber(42)),
            to: ReplyTo::Comment(comment),
            by: person(2),
            written_at: AT,
            rules: None,
            exposure: None,
            settings: None,
            snapshot: None,
            newer: NewerRun::None,
        })));
    }

    fn any_task(&self, dice: &mut Dice<'_>) -> TaskId {
        let known: Vec<TaskId> = self.feature.tasks.iter().map(|task| task.id).collect();
        if known.is_empty() { ONE } else { dice.pick(&known) }
    }

    fn hands(&mut self, dice: &mut Dice<'_>) {
        let id = self.any_task(dice);
        let Some(task) = self.feature.task(id).cloned() else {
            return;
        };
        let review = HumanReview { id: ReviewId(self.fresh()), by: person(3), items: Vec::new() };
        let withdrawn = PersonDid::WithdrawChanges { until: review.id };
        let mut did = vec![withdrawn, PersonDid::Remark(review.clone())];
        if let Some(pull) = task.pull {
            did.extend([
                PersonDid::ClosePull { pull },
                PersonDid::ReopenPull { pull, turns: 3 },
                PersonDid::MergePull { commit: Some(self.sha()), head: None },
                PersonDid::Push { head: self.sha() },
                PersonDid::Push { head: self.sha() },
                PersonDid::Rerun { head: task.head.clone().unwrap_or_else(|| self.sha()) },
                PersonDid::ForcePush { head: self.sha() },
                PersonDid::Approve { review: review.id, commit: task.head.clone() },
                PersonDid::RequestChanges(review),
                PersonDid::Override,
            ]);
        }
        let by = match dice.pick(&did) {
            PersonDid::WithdrawChanges { .. } | PersonDid::Approve { .. } => person(3),
            _ => person(2),
        };
        let did = dice.pick(&did);
        self.apply(Event::Task { task: id, event: task::Event::Person { by, did } });
    }

    fn outside(&mut self, dice: &mut Dice<'_>) {
        let comment = CommentId(5);
        let shown = self.feature.plan.as_ref().map(|plan| plan.number);
        let mut events = vec![
            Event::LivingShown { comment, version: shown, at: AT },
            Event::IntegrationPushed { head: self.sha() },
            Event::DefaultPushed { head: self.sha() },
            Event::ReviewRequested(review_of_feature(self.fresh())),
            Event::Suspended,
            Event::Unsuspended,
            Event::InstallationChanged { installation: InstallationId(8) },
        ];
        if let Some(integration) = &self.feature.integration {
            events.push(Event::Rerun { head: integration.head.clone(), by: person(2) });
        }
        if let Some(pull) = self.feature.pull {
            events.push(Event::PullReopened { pull, newer: NewerRun::None });
            if dice.roll(4) == 0 {
                events.push(Event::PullMerged { pull });
                events.push(Event::Cancelled(CancelledWhy::PullClosed(person(2))));
            }
        }
        if dice.roll(12) == 0 {
            events.push(Event::Cancelled(CancelledWhy::LabelRemoved(person(2))));
            events.push(Event::Cancelled(CancelledWhy::InstallationRemoved));
        }
        let event = dice.pick(&events);
        self.apply(event);
    }

    /// Checks that events of two tasks of one wave may come in either order.
    fn commute(&mut self, dice: &mut Dice<'_>) {
        let due: Vec<Effect> = self.due.clone();
        let of = |id: TaskId| {
            let work = |effect: &&Effect| matches!(effect, Effect::Task { task, .. } if *task == id && effect.waits_when_held());
            due.iter().find(work).cloned()
        };
        let (Some(first), Some(second)) = (of(ONE), of(TWO)) else {
            return;
        };
        let (Some(first), Some(second)) = (self.outcome(&first, dice), self.outcome(&second, dice)) else {
            return;
        };
        let both = |events: [&Event; 2]| {
            let mut feature = self.feature.clone();
            let mut effects: Vec<String> = Vec::new();
            for event in events {
                let done = step(feature, event.clone(), AT);
                feature = done.feature;
                effects.extend(done.effects.iter().map(|effect| effect.id(&key())));
            }
            effects.sort();
            (feature, effects)
        };
        assert_eq!(both([&first, &second]), both([&second, &first]), "{first:?} and {second:?} do not commute");
    }

    fn walk(&mut self, dice: &mut Dice<'_>, steps: usize) {
        for count in 0..steps {
            if count % 16 == 0 {
                round_trip(&self.feature);
            }
            match dice.roll(20) {
                0..12 => self.agents(dice),
                12 => self.late(dice),
                13 => self.commute(dice),
                14..17 => self.command(dice),
                17..19 => self.hands(dice),
                _ => self.outside(dice),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_promise_holds(
        numbers in prop::collection::vec(any::<u16>(), 60..600),
        by_hand in any::<bool>(),
    ) {
        let mut world = World::new(if by_hand { MergePolicy::Human } else { MergePolicy::Auto });
        let steps = numbers.len() / 3;
        world.walk(&mut Dice(numbers.iter()), steps);
    }

    #[test]
    fn without_people_a_feature_ends_or_waits_for_one(numbers in prop::collection::vec(any::<u16>(), 60..600)) {
        let mut world = World::new(MergePolicy::Auto);
        let mut dice = Dice(numbers.iter());
        // Every effect ends, and turns are limited, but random conflicts and pushes may prolong the walk.
        for _ in 0..2_000 {
            if !world.due.iter().any(Effect::waits_when_held) {
                break;
            }
            world.agents(&mut dice);
            world.commute(&mut dice);
        }
        let rests = match &world.feature.state {
            State::AwaitingApproval | State::Blocked { .. } | State::InReview | State::Failed { .. } => true,
            State::Building { .. } => world.feature.opened_tasks().any(|task| {
                matches!(&task.state, task::State::Approved { merge: task::MergeState::Refused { .. }, .. })
            }),
            State::Planning { .. } | State::Paused { .. } | State::Completed | State::Cancelled { .. } => false,
        };
        let overrun = world.due.iter().any(Effect::waits_when_held);
        prop_assert!(rests || overrun, "{:?}", world.feature.state);
    }
}

fn judged(emission: Emission, head: Sha, judgement: Judgement) -> task::Event {
    task::Event::Judged { emission, head, judgement: Box::new(judgement), probes: Vec::new() }
}
