//! Tests of agents that ask a person.

use crate::{
    blocked::BlockReason,
    command::Command,
    effect::Effect,
    feature::{
        Feature, Phase, State, Trust,
        command::{Possible, Refusal},
        event::{Event, Inquired, Planned, Target},
        tests::{samples::*, table::command},
    },
    ids::{Emission, TurnNumber},
    inquiry::{Answer, Hearing, Inquirer, Inquiries, Inquiry, InquiryPolicy, Round},
    task,
    task::{PersonDid, PlayerOutcome},
};

pub fn inquiries(question: &str) -> Inquiries {
    let (question, default) = (question.to_owned(), "the default".to_owned());
    Inquiries { questions: vec![Inquiry { question, default }], left_out: 0 }
}

fn ask(story: &mut Story, question: &str, partial: Option<u64>) -> Vec<Effect> {
    let emission = story.emission(ONE);
    let event = task::Event::Inquired { emission, inquiries: inquiries(question), partial: partial.map(sha) };
    story.task_event(ONE, event)
}

fn one_task() -> Story {
    Story::building(plan(vec![planned_task(ONE, &[])]), rules())
}

fn answer(words: Option<&str>) -> PersonDid {
    PersonDid::Resume { guidance: words.map(str::to_owned), turns: 3 }
}

/// Gives the answer, after which the default branch is merged and looked at.
fn resume(story: &mut Story, words: Option<&str>) {
    let guidance = words.map(str::to_owned);
    let max_turns = None;
    story.apply(command(Command::Resume { guidance, max_turns }, Target::Task(ONE)));
    let emission = story.waits_for();
    story.apply(Event::DefaultMerged {
        emission,
        outcome: crate::feature::event::DefaultMerge::UpToDate { head: sha(2), other: sha(1) },
    });
}

fn words(text: &str) -> Answer {
    let text = text.to_owned();
    Answer::Words { by: person(2), text }
}

#[test]
fn a_player_that_asks_uses_no_turn_keeps_its_work_and_gets_the_answer() {
    let mut story = one_task();
    let effects = ask(&mut story, "Tabs?", Some(50));
    assert_eq!(kinds(&effects), ["open_pull", "publish_blocked", "living"]);
    let task = story.task(ONE).clone();
    assert_eq!((task.turns.len(), task.head.clone()), (0, Some(sha(50))));
    assert_eq!(task.inquiries(), Some(&inquiries("Tabs?")));
    assert!(story.feature.asks());

    resume(&mut story, Some("  Tabs, \"please\"\n"));
    let turn = story.task(ONE).last_turn().unwrap();
    assert_eq!((turn.number, turn.base.clone()), (TurnNumber::FIRST, Some(sha(50))));
    let expected = Round { by: Inquirer::Player, inquiries: inquiries("Tabs?"), answer: words("  Tabs, \"please\"\n") };
    assert_eq!(turn.input.answers, [expected]);
    assert!(turn.input.guidance.is_empty());
}

#[test]
fn later_runs_know_every_answer_of_the_task_in_every_attempt() {
    let mut story = one_task();
    ask(&mut story, "First?", None);
    resume(&mut story, Some("one"));
    ask(&mut story, "Second?", None);
    resume(&mut story, None);
    story.push(ONE, 20);
    story.gate(ONE, red());
    story.person(ONE, PersonDid::Retry { turns: 3 });
    let answers: Vec<Answer> = story.task(ONE).rounds().map(|round| round.answer.clone()).collect();
    assert_eq!(answers, [words("one"), Answer::Defaults { by: person(2) }]);
}

#[test]
fn a_second_resume_answers_nothing() {
    let mut story = one_task();
    ask(&mut story, "Tabs?", None);
    resume(&mut story, Some("yes"));
    let before = story.feature.clone();
    let (guidance, max_turns) = (Some("no".to_owned()), None);
    story.apply(command(Command::Resume { guidance, max_turns }, Target::Task(ONE)));
    assert_eq!(story.feature.tasks, before.tasks);
    let refused = story.effects.iter().rev().any(|effect| {
        matches!(
            effect,
            Effect::Reply {
                reply: crate::effect::Reply::Refused(Refusal::TaskNotNow { instead: Possible::StoppedTask, .. }),
                ..
            }
        )
    });
    assert!(refused);
}

#[test]
fn nothing_is_judged_before_the_answer() {
    let mut story = one_task();
    ask(&mut story, "Tabs?", Some(50));
    let before = story.task(ONE).state.clone();
    story.apply(Event::Rerun { head: sha(50), by: person(2) });
    story.person(ONE, PersonDid::Push { head: sha(51) });
    let review = *review_of_feature(9);
    story.person(ONE, PersonDid::RequestChanges(review));
    assert_eq!(story.task(ONE).state, before);
    assert_eq!(story.task(ONE).head, Some(sha(51)));
}

#[test]
fn an_inquiry_is_over_after_cancel_skip_and_a_late_event() {
    for did in [PersonDid::Skip, PersonDid::Cancel] {
        let mut story = one_task();
        ask(&mut story, "Tabs?", None);
        story.person(ONE, did);
        assert!(story.task(ONE).is_over());
        let before = story.feature.clone();
        ask(&mut story, "Again?", None);
        story.person(ONE, answer(Some("yes")));
        assert_eq!(story.feature.tasks, before.tasks);
    }
}

#[test]
fn a_pause_that_is_due_ends_in_the_inquiry() {
    let mut story = one_task();
    story.person(ONE, PersonDid::Pause);
    ask(&mut story, "Tabs?", None);
    assert!(story.task(ONE).inquiries().is_some());
    assert_eq!(story.task(ONE).pause, None);
}

#[test]
fn people_are_asked_three_times() {
    let mut story = one_task();
    for _ in 0..3 {
        assert_eq!(story.task(ONE).hearing(&story.feature.task_rules()), Hearing::Person);
        ask(&mut story, "Tabs?", None);
        resume(&mut story, None);
    }
    assert_eq!(story.task(ONE).hearing(&story.feature.task_rules()), Hearing::Over);
}

#[test]
fn where_nobody_is_asked_the_agent_runs_once_more_with_its_defaults() {
    let mut story = one_task();
    story.feature.rules.inquiries = InquiryPolicy::Default;
    let effects = ask(&mut story, "Tabs?", Some(50));
    assert_eq!(kinds(&effects), ["open_pull", "play", "living"]);
    let task = story.task(ONE);
    assert_eq!((task.turns.len(), task.limit), (1, 3));
    assert_eq!(task.rounds().map(|round| &round.answer).collect::<Vec<_>>(), [&Answer::Unattended]);
    assert_eq!(task.hearing(&story.feature.task_rules()), Hearing::Over);
}

#[test]
fn the_designer_asks_before_the_first_turn() {
    let mut story = Story::new(rules());
    let planned =
        Planned { pre_loop: crate::design::PreLoop::Due, ..*planned(plan(vec![planned_task(ONE, &[])]), rules()) };
    story.apply(Event::Planned { emission: Emission(1), planned: Box::new(planned) });
    story.pre_flight(1);
    let emission = story.waits_for();
    story.apply(Event::IntegrationOpened { emission, base: sha(1), head: sha(2) });
    assert_eq!(kinds(&ask(&mut story, "Which one?", None)), ["post_blocked", "living"]);
    assert!(matches!(
        &story.task(ONE).state,
        task::State::Blocked { reason: BlockReason::Inquiry { by: Inquirer::Designer, .. } }
    ));
    resume(&mut story, Some("this one"));
    assert!(matches!(story.task(ONE).state, task::State::PreLoop { .. }));
    assert_eq!(story.task(ONE).rounds().count(), 1);
    story.feature.rules.inquiries = InquiryPolicy::Default;
    assert_eq!(kinds(&ask(&mut story, "And?", None)), ["design", "living"]);
    let emission = story.emission(ONE);
    story.task_event(ONE, task::Event::Designed { emission, design: None });
    assert_eq!(story.task(ONE).last_turn().unwrap().input.answers.len(), 2);
}

/// Lets the planner ask.
pub fn planner_asks(story: &mut Story, question: &str) -> Vec<Effect> {
    let emission = match story.feature.state {
        State::Planning { emission } => emission,
        _ => story.waits_for(),
    };
    let rules = story.feature.rules.clone();
    story.apply(Event::Inquired {
        emission,
        inquired: Box::new(Inquired {
            by: Inquirer::Planner,
            inquiries: inquiries(question),
            rules,
            settings: serde_json::Value::Null,
        }),
    })
}

fn planning() -> Story {
    let mut story = Story::new(rules());
    story.apply(Event::PreFlown { emission: Emission(1), outcome: ready(1) });
    story
}

fn on_issue(story: &mut Story, said: Command) -> Vec<Effect> {
    story.apply(command(said, Target::Feature))
}

fn asks(feature: &Feature) -> bool {
    let is_planning = matches!(&feature.state, State::Blocked { phase: Phase::Planning { .. }, .. });
    is_planning && feature.asks() && feature.open_inquiries().is_some()
}

#[test]
fn a_planner_that_asks_is_run_again_with_the_answer_and_without_another_pre_flight() {
    let mut story = planning();
    assert_eq!(kinds(&planner_asks(&mut story, "Which?")), ["post_feature_blocked", "living"]);
    assert!(asks(&story.feature));
    let guidance = Some("That one".to_owned());
    let resume = Command::Resume { guidance, max_turns: None };
    let effects = on_issue(&mut story, resume.clone());
    assert_eq!(kinds(&effects), ["react", "plan", "react", "living"]);
    assert_eq!(story.feature.request.words, None);
    assert_eq!(story.feature.inquiries[0].answer, words("That one"));
    let before = story.feature.clone();
    on_issue(&mut story, resume);
    assert_eq!(story.feature, before, "a second answer is refused");
}

#[test]
fn a_planner_that_asks_may_be_cancelled_or_planned_anew() {
    let plan = Command::Plan { words: Some("small".to_owned()), yaml: None };
    for (said, state) in [(Command::Cancel, "cancelled"), (plan, "planning")] {
        let mut story = planning();
        planner_asks(&mut story, "Which?");
        on_issue(&mut story, said);
        assert_eq!(story.feature.state.word(), state);
        let before = story.feature.clone();
        if state == "cancelled" {
            planner_asks(&mut story, "Late?");
            assert_eq!(story.feature, before);
        }
    }
}

#[test]
fn the_authors_right_decides_unless_the_setting_does() {
    let table = [
        (InquiryPolicy::ByAuthor, Trust::Writers, true),
        (InquiryPolicy::ByAuthor, Trust::Others, false),
        (InquiryPolicy::Ask, Trust::Others, true),
        (InquiryPolicy::Default, Trust::Writers, false),
    ];
    for (policy, trust, waits) in table {
        let mut story = planning();
        story.feature.rules.inquiries = policy;
        story.feature.snapshot.trust = trust;
        let effects = planner_asks(&mut story, "Which?");
        assert_eq!(asks(&story.feature), waits, "{policy:?} {trust:?}");
        if !waits {
            assert_eq!(kinds(&effects), ["plan", "living"]);
            assert_eq!(story.feature.inquiries[0].answer, Answer::Unattended);
            assert_eq!(story.feature.hearing(), Hearing::Over);
        }
    }
}

#[test]
fn a_failed_run_keeps_the_answer_for_the_next() {
    let mut story = one_task();
    ask(&mut story, "Tabs?", None);
    resume(&mut story, Some("yes"));
    let emission = story.emission(ONE);
    let outcome = Box::new(PlayerOutcome::Failed {
        failure: crate::blocked::Failure::TimedOut { seconds: 1 },
        printed: String::new(),
        partial: None,
    });
    story.task_event(ONE, task::Event::Played { emission, outcome });
    assert_eq!(story.task(ONE).next.answers.len(), 1);
    assert!(!story.feature.asks());
}
