//! Waivers of a person, and their consequences for later tasks.

use crate::world::{Plan, Setup, Task, WRITER};
use autobuild::engine::figures::{Help, Success, success};
use domain::{
    evidence::{Excuse, Excused},
    feature::State,
    task::WaivedFact,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_test_that_a_person_waived_is_excused_by_name_in_later_tasks() {
    let greets = "[ ! -f hello/1.txt ] || grep -q 'hello 1' hello/1.txt\n";
    let setup = Setup::new().settings("max_turns: 1").with_file("tests/greets_test.sh", greets);
    let world = setup.build().await;
    world.script.plans(&Plan::of([Task::new(1), Task::new(2).needs(&[1])]));
    world.script.writes(1, &[("hello/1.txt", "hullo\n")]).approves(1);
    world.script.succeeds(2);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked", "pending"], "a Coach that approves saves nobody");
    let pull = world.pull(1).await;
    assert!(world.review_states(pull).await.contains(&"CHANGES_REQUESTED".to_owned()));
    world.say(WRITER, pull, "/autobuild approve").await;
    let states = world.review_states(pull).await;
    assert!(
        states.contains(&"DISMISSED".to_owned()) && !states.contains(&"CHANGES_REQUESTED".to_owned()),
        "{states:?}"
    );
    let told = world.happenings();
    let dismissal = told.lines().skip_while(|line| !line.contains("dismiss")).take(3);
    assert!(dismissal.collect::<String>().contains(WRITER), "the person is named: {told}");
    assert_eq!(world.tasks().await, ["completed", "completed"]);
    assert_eq!(world.state().await, "in_review", "the wave gates excuse it too");
    let feature = world.feature().await;
    let mut merged = feature.clone();
    assert_eq!(success(&merged, Help::None), Success::default(), "it has not ended");
    merged.state = State::Completed;
    let figures = success(&merged, Help::People);
    assert_eq!((figures.completed, figures.alone, figures.tasks, figures.turns), (1, 0, 2, 2));
    assert_eq!((figures.refusals, figures.waived, figures.approvals, figures.overturned), (1, 1, 1, 0));
    assert!(world.engine.store.acts_of_people(&feature.key).await.unwrap() > 0);
    assert_eq!(feature.tasks[0].waived[0].facts, [WaivedFact::Test("greets".to_owned())]);
    let gates = feature.tasks[1].last_turn().unwrap().gates.clone().unwrap();
    let waived = |excused: &Excused| match &excused.why {
        Excuse::Waived { by } => Some((excused.test.clone(), by.login.clone())),
        Excuse::Baseline | Excuse::Flaky => None,
    };
    let excused: Vec<_> = gates.excused.iter().filter_map(waived).collect();
    assert_eq!(excused, [("greets".to_owned(), WRITER.to_owned())]);
    for task in [1, 2] {
        let body = world.pull_json(world.pull(task).await).await["body"].to_string();
        assert!(body.contains("Holds, but for 1 test that"), "{task}: {body}");
    }
    let said = &world.reviews(world.pull(2).await).await[0].2;
    assert!(said.contains("greets") && said.contains(WRITER), "{said}");
    world.end().await;
}
