//! Tests of each command: what it does, and when it is refused. The table has every command in every state.

use crate::{
    blocked::{BlockReason, report::NextCommand},
    command::Command,
    effect::{Effect, Reply, ReplyTo, Thread},
    feature::{
        Phase, PlanApproval, State,
        command::Refusal,
        event::{Commanded, Event, NewerRun, Target},
        tests::samples::*,
    },
    ids::{CommentId, Emission, IssueNumber, Millis, TaskId},
    plan::parse::PlanAuthor,
    task,
    task::PersonDid,
};

fn commanded(command: Command, on: Target) -> Commanded {
    Commanded {
        command,
        on,
        thread: Thread::Issue(IssueNumber(42)),
        to: ReplyTo::Comment(CommentId(9)),
        by: person(2),
        written_at: Millis(5_000),
        rules: None,
        exposure: None,
        settings: None,
        snapshot: None,
        newer: NewerRun::None,
    }
}

impl Story {
    fn says(&mut self, command: Command, on: Target) -> Vec<Effect> {
        self.apply(Event::Commanded(Box::new(commanded(command, on))))
    }
}

fn refusal(effects: &[Effect]) -> &Refusal {
    match effects {
        [Effect::React { .. }, Effect::Reply { reply: Reply::Refused(refusal), .. }] => refusal,
        other => panic!("not a refusal: {other:?}"),
    }
}

fn resume() -> Command {
    Command::Resume { guidance: None, max_turns: None }
}

fn resume_with(words: &str, turns: u32) -> Command {
    Command::Resume { guidance: Some(words.to_owned()), max_turns: Some(turns) }
}

/// Returns a Feature with two blocked tasks. A person resumed the first one, and pre-flight refused the default branch.
fn refused_after_a_resume() -> Story {
    let mut story = Story::building(three_tasks(), rules());
    for id in [ONE, TWO] {
        story.push(id, 20);
        story.gate(id, absent());
    }
    story.says(resume(), Target::Task(ONE));
    story.pre_flight_refused();
    assert_eq!(story.task(ONE).state, task::State::Pending);
    assert_eq!(story.feature.state.word(), "blocked");
    story
}

fn guidance(story: &Story, id: TaskId) -> Vec<&str> {
    let waits = story.task(id).next.guidance.iter();
    waits.map(|guidance| guidance.text.as_str()).collect()
}

fn waiting() -> Story {
    let ask = crate::feature::Rules { plan_approval: PlanApproval::Always, ..rules() };
    let mut story = Story::new(rules());
    story.apply(Event::Planned { emission: Emission(1), planned: planned(three_tasks(), ask) });
    story
}

fn show_living(story: &mut Story, at: i64) {
    story.apply(Event::LivingShown { comment: CommentId(5), version: Some(1), at: Millis(at) });
}

#[test]
fn an_approval_counts_only_for_what_was_shown_when_it_was_written() {
    let approve = || Command::Approve { hash: None };
    let mut story = waiting();
    let effects = story.says(approve(), Target::Feature);
    assert_eq!(*refusal(&effects), Refusal::PlanChanged { current: "01234567".to_owned() });
    show_living(&mut story, 5_001);
    let effects = story.says(approve(), Target::Feature);
    assert_eq!(*refusal(&effects), Refusal::PlanChanged { current: "01234567".to_owned() });
    let mut story = waiting();
    show_living(&mut story, 5_000);
    story.says(approve(), Target::Feature);
    assert_eq!(story.feature.state.word(), "building");
}

#[test]
fn an_approval_with_the_hash_is_always_exact() {
    let approve = |hash: &str| Command::Approve { hash: Some(hash.to_owned()) };
    let mut story = waiting();
    let effects = story.says(approve("ffffffff"), Target::Feature);
    assert!(matches!(refusal(&effects), Refusal::OtherPlan { .. }));
    story.says(approve("01234567"), Target::Feature);
    assert_eq!(story.feature.state.word(), "building");
}

#[test]
fn a_new_plan_is_shown_and_approved_anew() {
    let mut story = waiting();
    show_living(&mut story, 5_000);
    story.says(Command::Plan { words: Some("smaller".to_owned()), yaml: None }, Target::Feature);
    assert_eq!(story.feature.request.words.as_deref(), Some("smaller"));
    let State::Planning { emission } = story.feature.state else { panic!() };
    let ask = story.feature.rules.clone();
    story.apply(Event::Planned { emission, planned: planned(three_tasks(), ask) });
    show_living(&mut story, 4_000);
    let effects = story.says(Command::Approve { hash: None }, Target::Feature);
    assert!(matches!(refusal(&effects), Refusal::PlanChanged { .. }), "version 1 was shown, not version 2");
}

#[test]
fn an_override_says_who_and_what_was_waived_and_dismisses_the_review() {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), rules());
    for (n, word) in [(20, "a"), (21, "b")] {
        story.turn(ONE, n, feedback(word));
    }
    story.push(ONE, 22);
    story.gate(ONE, red());
    story.judge(ONE, feedback("no test for empty input"));
    let effects = story.says(Command::Approve { hash: None }, Target::Task(ONE));
    let expected = ["react", "dismiss_review", "publish_check", "mark_ready", "merge", "react", "living"];
    assert_eq!(kinds(&effects), expected);
    let waiver = &story.task(ONE).waived[0];
    assert_eq!(waiver.by, person(2));
    assert!(waiver.tests().any(|test| test == "works"), "{waiver:?}");
    assert!(waiver.facts.contains(&objection("test", "no test for empty input")), "{waiver:?}");
}

#[test]
fn a_blocked_task_without_a_commit_cannot_be_approved() {
    let mut story = Story::building(three_tasks(), rules());
    story.person(ONE, PersonDid::Skip);
    let effects = story.says(Command::Approve { hash: None }, Target::Task(THREE));
    assert!(matches!(refusal(&effects), Refusal::TaskNotNow { .. }));
}

#[test]
fn retry_begins_again_on_a_new_branch_with_numbers_that_go_on() {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), rules());
    story.turn(ONE, 20, feedback("a"));
    let effects = story.says(Command::Retry { task: Some(ONE) }, Target::Feature);
    assert_eq!(kinds(&effects), ["react", "close_pull", "play", "react", "living"]);
    let task = story.task(ONE);
    assert!(task.branch.ends_with("-a2"), "{}", task.branch);
    assert_eq!((task.pull, task.head.clone()), (None, None));
    assert_eq!((task.last_turn().unwrap().number.0, task.limit), (2, 4));
}

#[test]
fn retry_of_a_task_of_an_earlier_wave_starts_it_in_the_open_wave() {
    let mut story = Story::building(three_tasks(), rules());
    story.person(TWO, PersonDid::Skip);
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    story.merge_default(30);
    assert_eq!(story.feature.wave, 2);
    story.says(Command::Retry { task: Some(TWO) }, Target::Feature);
    assert_eq!(story.task(TWO).state.word(), "player_turn");
    story.complete(THREE, 31);
    assert_eq!(story.feature.state.word(), "building");
    story.complete(TWO, 32);
    assert!(matches!(story.feature.phase(), Some(Phase::Gate { .. })));
}

#[test]
fn retry_in_review_goes_back_to_building() {
    let mut story = Story::building(three_tasks(), rules());
    story.person(TWO, PersonDid::Skip);
    story.complete(ONE, 20);
    story.wave_gate(30, green());
    story.merge_default(30);
    story.complete(THREE, 31);
    story.wave_gate(33, green());
    story.merge_default(33);
    let emission = story.waits_for();
    story.apply(Event::PullOpened { emission, pull: FEATURE_PULL, opened: unmoved() });
    assert_eq!(story.feature.state, State::InReview);
    story.says(Command::Retry { task: Some(TWO) }, Target::Feature);
    assert_eq!(story.feature.state, State::Building { phase: Phase::Tasks });
}

#[test]
fn skip_leaves_the_decision_about_those_that_need_it_to_a_person() {
    let mut story = Story::building(three_tasks(), rules());
    story.says(Command::Skip { task: ONE }, Target::Feature);
    let reason = BlockReason::NeedGone { task: ONE };
    assert_eq!(story.task(THREE).state, task::State::Blocked { reason });
    story.says(resume(), Target::Task(THREE));
    assert_eq!((story.task(THREE).state.clone(), story.task(THREE).without.clone()), (task::State::Pending, vec![ONE]));
    story.complete(TWO, 20);
    story.wave_gate(30, green());
    story.merge_default(30);
    assert_eq!(story.task(THREE).state.word(), "player_turn");
}

#[test]
fn a_paused_feature_lets_the_running_agent_end_and_goes_on_where_it_was() {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), rules());
    story.says(Command::Pause, Target::Feature);
    assert!(story.feature.is_held());
    let effects = story.push(ONE, 20);
    assert!(effects.iter().any(|effect| effect.kind() == "gates" && effect.waits_when_held()));
    let effects = story.says(resume(), Target::Feature);
    assert_eq!(kinds(&effects), ["react", "react", "living"], "nothing is asked for again");
    assert_eq!(story.feature.state, State::Building { phase: Phase::Tasks });
}

#[test]
fn a_paused_feature_stays_paused_when_its_tasks_block() {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), rules());
    story.push(ONE, 20);
    story.says(Command::Pause, Target::Feature);
    story.gate(ONE, absent());
    assert_eq!(story.feature.state.word(), "paused");
    let effects = story.says(resume(), Target::Feature);
    assert_eq!(kinds(&effects), ["react", "gates", "react", "living"]);
}

#[test]
fn a_paused_task_stops_before_its_next_agent() {
    let mut story = Story::building(three_tasks(), rules());
    story.push(ONE, 20);
    story.gate(ONE, green());
    story.says(Command::Pause, Target::Task(ONE));
    let effects = story.judge(ONE, approval());
    assert!(!kinds(&effects).contains(&"merge"));
    let reason = BlockReason::Paused { by: person(2) };
    assert_eq!(story.task(ONE).state, task::State::Blocked { reason });
    let effects = story.says(resume(), Target::Task(ONE));
    assert!(kinds(&effects).contains(&"merge"), "the approval stands: {effects:?}");
}

#[test]
fn cancelling_a_task_stops_its_agent_and_its_late_result() {
    let mut story = Story::building(three_tasks(), rules());
    let emission = story.emission(ONE);
    story.says(Command::Cancel, Target::Task(ONE));
    assert_eq!(story.task(ONE).state, task::State::Cancelled);
    let late = task::Event::Played { emission, outcome: Box::new(pushed(sha(20))) };
    assert!(story.task_event(ONE, late).is_empty());
}

#[test]
fn an_ended_run_takes_no_command_but_plan_after_failing() {
    let mut story = Story::in_review();
    story.apply(Event::PullMerged { pull: FEATURE_PULL });
    let effects = story.says(resume(), Target::Feature);
    assert_eq!(*refusal(&effects), Refusal::RunEnded { state: "completed".to_owned() });
    let mut story = Story::new(rules());
    story.apply(Event::PlanRefused { emission: Emission(1), author: PlanAuthor::Agent, message: "no".to_owned() });
    let mut newer = commanded(Command::Plan { words: None, yaml: None }, Target::Feature);
    newer.newer = NewerRun::Exists(key());
    let effects = story.apply(Event::Commanded(Box::new(newer)));
    assert_eq!(*refusal(&effects), Refusal::NewerRun { run: key() });
    story.says(Command::Plan { words: None, yaml: None }, Target::Feature);
    assert_eq!(story.feature.state.word(), "planning");
}

#[test]
fn a_resumed_task_that_waits_takes_more_guidance_and_turns() {
    for on in [Target::Feature, Target::Task(ONE)] {
        let mut story = refused_after_a_resume();
        let effects = story.says(resume_with("use pytest", 7), on);
        assert_eq!(kinds(&effects), ["react", "merge_default", "react", "living"]);
        assert_eq!((guidance(&story, ONE), story.task(ONE).limit), (vec!["use pytest"], 7));
        story.says(resume_with("and tox", 7), on);
        story.merge_default(2);
        let turn = story.task(ONE).last_turn().unwrap();
        let told: Vec<&str> = turn.input.guidance.iter().map(|words| words.text.as_str()).collect();
        assert_eq!((told.as_slice(), story.task(ONE).limit), (["use pytest", "and tox"].as_slice(), 7));
    }
}

#[test]
fn guidance_that_is_given_before_tasks_start_reaches_their_first_turn() {
    let mut story = Story::new(rules());
    story.apply(Event::Planned { emission: Emission(1), planned: planned(three_tasks(), rules()) });
    let (emission, rule) = (story.waits_for(), "creation".to_owned());
    let reason = BlockReason::BranchRule { rule };
    story.apply(Event::Stuck { emission, reason });
    story.says(resume_with("use npm", 7), Target::Feature);
    assert_eq!((guidance(&story, ONE), story.task(ONE).limit), (vec!["use npm"], 7));
    assert_eq!(guidance(&story, THREE), Vec::<&str>::new(), "it waits for a later wave");
}

#[test]
fn a_command_on_a_task_also_repeats_the_step_that_the_task_waits_for() {
    let retry = Command::Retry { task: None };
    for command in [resume(), retry] {
        let mut story = refused_after_a_resume();
        let effects = story.says(command, Target::Task(TWO));
        assert!(kinds(&effects).contains(&"merge_default"), "{effects:?}");
        story.merge_default(2);
        assert!([ONE, TWO].into_iter().all(|id| story.task(id).is_in_motion()));
    }
}

#[test]
fn a_task_that_stopped_and_waits_is_not_called_pending() {
    let story = refused_after_a_resume();
    let words = [ONE, TWO, THREE].map(|id| story.task(id).word());
    assert_eq!(words, ["resumed", "blocked", "pending"]);
}

#[test]
fn settings_are_read_again_at_a_resume() {
    let mut story = Story::building(plan(vec![planned_task(ONE, &[])]), rules());
    for (n, word) in [(20, "a"), (21, "b"), (22, "c")] {
        story.turn(ONE, n, feedback(word));
    }
    let mut command = commanded(resume(), Target::Feature);
    command.rules = Some(crate::feature::Rules { max_turns: 7, ..rules() });
    story.apply(Event::Commanded(Box::new(command)));
    assert_eq!((story.feature.rules.max_turns, story.task(ONE).limit), (7, 10));
}

/// Returns the command for a way to continue, on the task that the report would name.
fn command_of(story: &Story, way: NextCommand) -> Command {
    match way {
        NextCommand::Resume => resume(),
        NextCommand::Approve => Command::Approve { hash: None },
        NextCommand::Retry => Command::Retry { task: story.feature.to_retry() },
        NextCommand::Skip => Command::Skip { task: story.feature.to_skip().expect("a task to skip") },
        NextCommand::Plan => Command::Plan { words: None, yaml: None },
        NextCommand::Cancel => Command::Cancel,
    }
}

#[test]
fn every_way_on_that_a_blocked_feature_lists_leads_on() {
    let mut before_any_task = Story::new(rules());
    before_any_task.apply(Event::Planned { emission: Emission(1), planned: planned(three_tasks(), rules()) });
    let emission = before_any_task.waits_for();
    let reason = BlockReason::BranchRule { rule: "creation".to_owned() };
    before_any_task.apply(Event::Stuck { emission, reason });
    assert_eq!(
        NextCommand::of_feature(&before_any_task.feature),
        [NextCommand::Resume, NextCommand::Plan, NextCommand::Cancel]
    );
    let mut in_a_wave = Story::building(three_tasks(), rules());
    for task in [ONE, TWO] {
        let (emission, reason) = (in_a_wave.emission(task), BlockReason::NoChangeTwice);
        in_a_wave.task_event(task, task::Event::Stuck { emission, reason });
    }
    let mut at_a_gate = Story::building(plan(vec![planned_task(ONE, &[])]), rules());
    at_a_gate.complete(ONE, 20);
    let emission = at_a_gate.waits_for();
    let reason = BlockReason::WaveGateRed { failures: Vec::new() };
    at_a_gate.apply(Event::Stuck { emission, reason });
    assert_eq!(NextCommand::of_feature(&at_a_gate.feature), [NextCommand::Resume, NextCommand::Cancel]);
    for story in [before_any_task, in_a_wave, at_a_gate] {
        assert!(matches!(story.feature.state, State::Blocked { .. }), "{:?}", story.feature.state);
        for way in NextCommand::of_feature(&story.feature) {
            let mut story = story.clone();
            let (before, command) = (story.feature.clone(), command_of(&story, way));
            let effects = story.says(command, Target::Feature);
            assert_ne!(before, story.feature, "{way:?}: {effects:?}");
        }
    }
}
