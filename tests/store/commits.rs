//! Steps: an event, its state and its effects are stored together, once per cause, by only one of several competitors.

use crate::contract::{Database, LATER, LEASE, NOW, claim, claimed_id, effect, execute, feature, key, step, task};
use autobuild::store::{
    CancelRule, Committed, EffectState, Finish, Lane, Lease, NewEffect, Outcome, Store, TaskRow, TurnRow,
};
use domain::ids::{Millis, PullNumber, Sha, TaskId, TurnNumber};

on_both! {
    a_step_is_read_back_as_it_was_stored
    a_known_cause_changes_nothing_but_ends_its_effect
    of_steps_from_one_version_one_wins
    a_lost_hold_stores_nothing
    an_issue_has_one_unfinished_run
    tasks_that_a_new_plan_drops_go_with_their_turns
    unwanted_effects_are_cancelled_or_asked_to_stop
    a_stored_effect_is_not_stored_again
    a_step_that_is_refused_stores_nothing
}

fn sha(digit: char) -> Sha {
    digit.to_string().repeat(40).parse().unwrap()
}

fn turn(task: u16, number: u32) -> TurnRow {
    TurnRow {
        task: TaskId::Planned(task),
        number: TurnNumber(number),
        state: "playing".to_owned(),
        base: Some(sha('a')),
        head: None,
        report: None,
        decision: None,
        evidence: None,
        started_at: Some(NOW),
        ended_at: None,
    }
}

async fn state_of(store: &Store, id: &str) -> EffectState {
    store.effect(id).await.unwrap().expect("it is stored").state
}

async fn a_step_is_read_back_as_it_was_stored(db: Database) {
    let store = db.open().await;
    let mut first = step(key(1, 1), None, "label");
    first.tasks = vec![TaskRow { needs: vec![TaskId::Planned(2)], ..task(1) }, task(2)];
    first.effects = vec![effect("e1", Lane::Agent, "TASK-002")];
    assert_eq!(store.commit(&first).await.unwrap(), Committed::Done);

    let mut second = step(key(1, 1), Some(1), "pushed");
    second.feature.branch = Some("autobuild/1/integration".to_owned());
    second.feature.pull = Some(PullNumber(12));
    second.data = "{\"text\":\"it's \u{1f980}\"}".to_owned();
    let pushed = TaskRow {
        state: "coach_turn".to_owned(),
        branch: Some("autobuild/1/task-002".to_owned()),
        head: Some(sha('b')),
        pull: Some(PullNumber(13)),
        ..task(2)
    };
    let ended = TurnRow {
        state: "decided".to_owned(),
        head: Some(sha('b')),
        report: Some("\"r\"".to_owned()),
        decision: Some("\"d\"".to_owned()),
        evidence: Some("\"e\"".to_owned()),
        ended_at: Some(LATER),
        ..turn(2, 1)
    };
    second.tasks = vec![pushed.clone()];
    second.turns = vec![turn(2, 1), turn(2, 2)];
    assert_eq!(store.commit(&second).await.unwrap(), Committed::Done);
    let mut third = step(key(1, 1), Some(2), "decided");
    third.feature = second.feature.clone();
    third.data = second.data.clone();
    third.turns = vec![ended.clone()];
    assert_eq!(store.commit(&third).await.unwrap(), Committed::Done);

    let kept = store.feature(&key(1, 1)).await.unwrap().expect("it is stored");
    assert_eq!((kept.row, kept.version), (second.feature, 3));
    assert_eq!(kept.tasks, vec![first.tasks[0].clone(), pushed]);
    assert_eq!(kept.turns, vec![ended, turn(2, 2)]);
    let events = store.events(&key(1, 1)).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(events[1].event, second.event);
    assert_eq!(store.effects_of(&key(1, 1)).await.unwrap().len(), 1);
    assert_eq!(store.feature(&key(2, 1)).await.unwrap(), None);
}

async fn a_known_cause_changes_nothing_but_ends_its_effect(db: Database) {
    let store = db.open().await;
    let mut first = step(key(1, 1), None, "comment 9");
    first.effects = vec![effect("e1", Lane::Agent, "task")];
    assert_eq!(store.commit(&first).await.unwrap(), Committed::Done);

    let hold = claim(&store, Lane::Agent).await.expect("it is ready").hold;
    let mut again = step(key(1, 1), Some(1), "comment 9");
    again.feature = feature(key(1, 1), "paused");
    again.effects = vec![effect("e2", Lane::Agent, "task")];
    let outcome = Outcome::Done;
    again.finish = Some(Finish { hold, outcome });
    assert_eq!(store.commit(&again).await.unwrap(), Committed::KnownCause);

    let kept = store.feature(&key(1, 1)).await.unwrap().unwrap();
    assert_eq!((kept.version, kept.row.state.as_str()), (1, "building"));
    let effects = store.effects_of(&key(1, 1)).await.unwrap();
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0].state, EffectState::Done);
}

async fn of_steps_from_one_version_one_wins(db: Database) {
    let store = db.open().await;
    assert_eq!(store.commit(&step(key(1, 1), None, "label")).await.unwrap(), Committed::Done);
    let mut racing = Vec::new();
    for racer in 0..8 {
        let store = store.clone();
        racing.push(tokio::spawn(async move {
            let mut mine = step(key(1, 1), Some(1), &format!("fact {racer}"));
            mine.effects = vec![effect(&format!("e{racer}"), Lane::Forge, "task")];
            store.commit(&mine).await.unwrap()
        }));
    }
    let mut won = 0;
    for racer in racing {
        match racer.await.unwrap() {
            Committed::Done => won += 1,
            other => assert_eq!(other, Committed::LostRace),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(store.feature(&key(1, 1)).await.unwrap().unwrap().version, 2);
    assert_eq!(store.events(&key(1, 1)).await.unwrap().len(), 2);
    assert_eq!(store.effects_of(&key(1, 1)).await.unwrap().len(), 1);
}

async fn a_lost_hold_stores_nothing(db: Database) {
    let store = db.open().await;
    let mut first = step(key(1, 1), None, "label");
    first.effects = vec![effect("e1", Lane::Agent, "task")];
    assert_eq!(store.commit(&first).await.unwrap(), Committed::Done);
    let hold = claim(&store, Lane::Agent).await.unwrap().hold;
    assert_eq!(store.reap(NOW.plus(LEASE)).await.unwrap().len(), 1);

    let mut late = step(key(1, 1), Some(1), "report");
    late.effects = vec![effect("e2", Lane::Agent, "task")];
    let outcome = Outcome::Done;
    late.finish = Some(Finish { hold, outcome });
    assert_eq!(store.commit(&late).await.unwrap(), Committed::LostFence);
    assert_eq!(store.feature(&key(1, 1)).await.unwrap().unwrap().version, 1);
    assert_eq!(store.effects_of(&key(1, 1)).await.unwrap().len(), 1);
}

async fn an_issue_has_one_unfinished_run(db: Database) {
    let store = db.open().await;
    assert_eq!(store.commit(&step(key(1, 1), None, "label")).await.unwrap(), Committed::Done);
    assert_eq!(store.commit(&step(key(1, 1), None, "label again")).await.unwrap(), Committed::RunExists);
    assert_eq!(store.commit(&step(key(1, 2), None, "label")).await.unwrap(), Committed::RunExists);
    assert_eq!(store.feature(&key(1, 2)).await.unwrap(), None);

    let mut end = step(key(1, 1), Some(1), "unlabel");
    end.feature.state = "cancelled".to_owned();
    assert_eq!(store.commit(&end).await.unwrap(), Committed::Done);
    assert_eq!(store.commit(&step(key(1, 2), None, "label")).await.unwrap(), Committed::Done);
    let revived = step(key(1, 1), Some(2), "reopen");
    assert_eq!(store.commit(&revived).await.unwrap(), Committed::RunExists);
    assert_eq!(store.feature(&key(1, 1)).await.unwrap().unwrap().row.state, "cancelled");
}

async fn tasks_that_a_new_plan_drops_go_with_their_turns(db: Database) {
    let store = db.open().await;
    let mut plan = step(key(1, 1), None, "plan");
    plan.tasks = vec![task(1), TaskRow { needs: vec![TaskId::Planned(1)], ..task(2) }];
    plan.turns = vec![turn(1, 1), turn(2, 1)];
    assert_eq!(store.commit(&plan).await.unwrap(), Committed::Done);
    let mut revised = step(key(1, 1), Some(1), "another plan");
    revised.removed = vec![TaskId::Planned(1)];
    revised.tasks = vec![task(2), task(3)];
    assert_eq!(store.commit(&revised).await.unwrap(), Committed::Done);

    let kept = store.feature(&key(1, 1)).await.unwrap().unwrap();
    assert_eq!(kept.tasks, vec![task(2), task(3)]);
    assert_eq!(kept.turns, vec![turn(2, 1)]);
}

async fn unwanted_effects_are_cancelled_or_asked_to_stop(db: Database) {
    let store = db.open().await;
    let mut first = step(key(1, 1), None, "label");
    first.effects = vec![
        work("running", "one"),
        work("waiting", "two"),
        effect("said", Lane::Forge, "one"),
        NewEffect { feature: Some(key(2, 1)), ..work("other", "three") },
    ];
    assert_eq!(store.commit(&first).await.unwrap(), Committed::Done);
    let hold = claim(&store, Lane::Agent).await.unwrap().hold;
    assert_eq!(store.renew(&hold, LATER).await.unwrap(), Lease::Mine);

    let mut skip = step(key(1, 1), Some(1), "skip");
    skip.cancel = vec![CancelRule::Work(Some("two".to_owned()))];
    assert_eq!(store.commit(&skip).await.unwrap(), Committed::Done);
    assert_eq!(store.renew(&hold, LATER).await.unwrap(), Lease::Mine);
    assert_eq!(state_of(&store, "waiting").await, EffectState::Cancelled);

    let mut stop = step(key(1, 1), Some(2), "stop");
    stop.cancel = vec![CancelRule::Work(None)];
    stop.effects = vec![effect("after", Lane::Agent, "two")];
    assert_eq!(store.commit(&stop).await.unwrap(), Committed::Done);

    assert_eq!(store.renew(&hold, LATER).await.unwrap(), Lease::CancelRequested);
    assert_eq!(state_of(&store, "running").await, EffectState::Running);
    assert_eq!(state_of(&store, "waiting").await, EffectState::Cancelled);
    for untouched in ["said", "other", "after"] {
        assert_eq!(state_of(&store, untouched).await, EffectState::Ready, "{untouched}");
    }
    let mut replace = step(key(1, 1), Some(3), "replace");
    replace.cancel = vec![CancelRule::Kind("Kind".to_owned())];
    assert_eq!(store.commit(&replace).await.unwrap(), Committed::Done);
    assert_eq!(state_of(&store, "after").await, EffectState::Cancelled);
    assert_eq!(claimed_id(&store, Lane::Agent).await.as_deref(), Some("other"));
}

/// Returns an effect that continues the work.
fn work(id: &str, subject: &str) -> NewEffect {
    NewEffect { waits: true, ..effect(id, Lane::Agent, subject) }
}

async fn a_stored_effect_is_not_stored_again(db: Database) {
    let store = db.open().await;
    let first = effect("e1", Lane::Control, "one");
    let again = NewEffect { payload: "{\"other\":1}".to_owned(), ..first.clone() };
    store.add_effects(&[first]).await.unwrap();
    store.add_effects(&[again]).await.unwrap();
    let kept = store.unfinished_effects().await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].payload, "{}");
}

async fn a_step_that_is_refused_stores_nothing(db: Database) {
    let store = db.open().await;
    let mut wrong = step(key(1, 1), None, "label");
    wrong.effects = vec![effect("e1", Lane::Control, "one")];
    // A turn of a task that does not exist.
    wrong.turns = vec![turn(9, 1)];
    assert!(store.commit(&wrong).await.is_err());
    assert_eq!(store.feature(&key(1, 1)).await.unwrap(), None);
    assert_eq!(store.effect("e1").await.unwrap(), None);
    let mut unknown = step(key(1, 1), None, "label");
    unknown.feature.state = "dreaming".to_owned();
    assert!(store.commit(&unknown).await.is_err());
    assert_eq!(store.tally(None, Millis(0)).await.unwrap(), autobuild::store::Tally::default());
    // The last statement before the commit is refused.
    execute(&db.url, "CREATE UNIQUE INDEX one_subject ON effect (subject)").await;
    store.add_effects(&[effect("e2", Lane::Control, "two")]).await.unwrap();
    let mut twice = step(key(1, 1), None, "label");
    twice.effects = vec![effect("e3", Lane::Control, "two")];
    assert!(store.commit(&twice).await.is_err());
    assert_eq!(store.feature(&key(1, 1)).await.unwrap(), None);
    assert_eq!(store.commit(&step(key(1, 1), None, "label")).await.unwrap(), Committed::Done);
}
