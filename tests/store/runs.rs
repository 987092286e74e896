//! The ledger: every use is charged exactly once, with concurrent tasks, with replicas, and after crashes.

use crate::contract::{Database, INSTALLATION, LATER, LEASE, NOW, claim, effect, feature, key, step};
use autobuild::store::{
    Commit, EndedRun, FeatureRow, Fenced, Hold, Lane, MAX_RUN_EVENTS, NewEffect, NewPack, NewRun, OpenOptions,
    RunRecord, RunState, StartOutcome, Store,
};
use domain::{
    at_work::{AgentState, AtWork, RunActivity},
    budget::{Budget, Call, CostReporting, Limits, Month, PurseLimits},
    cost::EarlierTasks,
    ids::{InstallationId, Millis, TaskId, TurnNumber, UserId},
    isolation::Level,
};
use text::usage::{Tokens, Usage};

on_both! {
    a_run_is_written_down_with_its_share_and_ends_with_what_it_used
    a_spent_budget_lets_no_run_begin
    tasks_at_once_never_get_more_than_there_is
    replicas_never_get_more_than_there_is
    a_lost_run_counts_with_its_share_and_once
    a_run_that_ends_after_all_counts_with_what_it_used
    a_run_ends_once
    a_lost_hold_begins_no_run
    a_result_is_stored_with_its_commit_and_the_end_of_its_run
    a_result_whose_effect_is_another_workers_is_lost_and_its_cost_is_not
    months_and_installations_are_counted_apart
    an_account_that_installs_the_app_again_has_spent_what_it_spent
    costs_are_summed_by_task
    totals_are_summed_by_role_model_and_outcome
    events_are_kept_in_whole_lines
    what_happened_is_read_beside_the_service_that_works
    runs_go_with_their_feature_and_not_with_an_installation_that_it_left
    what_a_run_does_is_told_as_long_as_its_effect_is_held
}

const FULL: u64 = 1_000_000;

fn new_run(task: Option<u16>) -> NewRun {
    NewRun {
        installation: INSTALLATION,
        feature: key(1, 1),
        task: task.map(TaskId::Planned),
        turn: TurnNumber(2),
        role: "player".to_owned(),
        agent: "claude".to_owned(),
        model: Some("small".to_owned()),
        prompt_chars: 12_000,
        provider: "claude/small".to_owned(),
        spacing: 60_000,
        at: NOW,
    }
}

fn allowed(usd_micros: u64, parallel: u32) -> PurseLimits {
    PurseLimits { limits: Limits { usd_micros: Some(usd_micros), ..Limits::default() }, parallel }
}

fn of_task(usd_micros: u64) -> Budget {
    Budget { task: allowed(usd_micros, 1), ..Budget::default() }
}

const CALL: Call = Call { deadline_ms: 60_000, cost_reporting: CostReporting::Cost };

/// Stores an effect and claims it.
async fn hold_effect(store: &Store, id: &str) -> Hold {
    store.add_effects(&[effect(id, Lane::Agent, id)]).await.unwrap();
    claim(store, Lane::Agent).await.expect("it is ready").hold
}

async fn start(store: &Store, hold: &Hold, new: &NewRun, budget: &Budget) -> StartOutcome {
    store.start_run(hold, new, budget, &CALL).await.unwrap()
}

/// Begins a run, which must succeed; returns its id and its share.
async fn begun(store: &Store, hold: &Hold, new: &NewRun, budget: &Budget) -> (String, Option<u64>) {
    match start(store, hold, new, budget).await {
        StartOutcome::Run { id, share } => (id, share.usd_micros),
        other => panic!("{other:?}"),
    }
}

fn ended(id: &str, usd_micros: Option<u64>) -> EndedRun {
    EndedRun {
        id: id.to_owned(),
        model: Some("small-2026".to_owned()),
        level: Some(Level::L3),
        usage: Usage {
            tokens: Tokens { input: 1, cached: 2, cache_write: 3, output: 4 },
            usd_micros,
            estimated: false,
            agent_ms: 5_000,
        },
        runs: 2,
        failure: None,
        events: Some("{}\n".to_owned()),
        at: NOW.plus(9_000),
    }
}

async fn spent(store: &Store) -> Option<u64> {
    let costs = store.costs(&key(1, 1)).await.unwrap();
    costs.values().filter_map(|cost| cost.usd_micros).reduce(|one, two| one + two)
}

async fn a_run_is_written_down_with_its_share_and_ends_with_what_it_used(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let (id, share) = begun(&store, &hold, &new_run(Some(1)), &of_task(5 * FULL)).await;
    assert_eq!((id.as_str(), share), ("e/1/0", Some(2_500_000)));
    let running = store.runs_of(&key(1, 1), None).await.unwrap();
    assert_eq!((running[0].state, running[0].ended_at), (RunState::Running, None));
    assert_eq!(running[0].prompt_chars, 12_000);

    store.end_run(&ended(&id, Some(310_000))).await.unwrap();
    store.close().await;
    let store = db.open().await;
    let runs = store.runs_of(&key(1, 1), Some(TaskId::Planned(1))).await.unwrap();
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!((run.state, run.usage), (RunState::Ended, ended(&id, Some(310_000)).usage));
    assert_eq!((run.model.as_deref(), run.level, run.runs), (Some("small-2026"), Some(Level::L3), 2));
    assert_eq!((run.turn, run.role.as_str(), run.agent.as_str()), (TurnNumber(2), "player", "claude"));
    assert_eq!((run.started_at, run.ended_at), (NOW, Some(NOW.plus(9_000))));
    assert_eq!(store.run_events(&id).await.unwrap().as_deref(), Some("{}\n"));
    assert_eq!(store.runs_of(&key(1, 1), Some(TaskId::Planned(2))).await.unwrap(), []);
}

async fn runs_go_with_their_feature_and_not_with_an_installation_that_it_left(db: Database) {
    let store = db.open().await;
    let moved = |expected, cause, state| {
        let row = FeatureRow { installation: InstallationId(99), ..feature(key(1, 1), state) };
        Commit { feature: row, ..step(key(1, 1), expected, cause) }
    };
    store.commit(&moved(None, "labelled", "building")).await.unwrap();
    let hold = hold_effect(&store, "e").await;
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &of_task(5 * FULL)).await;
    store.end_run(&ended(&id, Some(FULL))).await.unwrap();
    store.count_runs(LATER).await.unwrap();
    store.depart(INSTALLATION, NOW).await.unwrap();
    assert_eq!(store.purge_departed(LATER).await.unwrap(), 1);
    assert_eq!(spent(&store).await, Some(FULL), "the budget counts it");
    store.commit(&moved(Some(1), "cancelled", "cancelled")).await.unwrap();
    store.depart(InstallationId(99), NOW).await.unwrap();
    assert_eq!(store.purge_departed(LATER).await.unwrap(), 1);
    assert_eq!(spent(&store).await, None);
    let in_month = async || store.spent_by_day(Millis(0), LATER).await.unwrap().len();
    assert_eq!(in_month().await, 1, "the month counts it");
    assert_eq!(store.traced().await.unwrap(), []);
    store.forget_departed(LATER).await.unwrap();
    assert_eq!(in_month().await, 0);
}

async fn a_spent_budget_lets_no_run_begin(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let budget = of_task(FULL);
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &budget).await;
    store.end_run(&ended(&id, Some(1_200_000))).await.unwrap();
    let StartOutcome::Spent(what) = start(&store, &hold, &new_run(Some(1)), &budget).await else {
        panic!("it is spent");
    };
    assert_eq!((what.setting(), what.used, what.limit), ("usd_per_task", 1_200_000, 1_000_000));
    assert_eq!(store.runs_of(&key(1, 1), None).await.unwrap().len(), 1, "nothing was set aside");
    // Another task and the planner have their own budgets, and a larger budget may be allowed.
    begun(&store, &hold, &new_run(Some(2)), &budget).await;
    begun(&store, &hold, &new_run(None), &budget).await;
    begun(&store, &hold, &new_run(Some(1)), &of_task(2 * FULL)).await;
}

async fn tasks_at_once_never_get_more_than_there_is(db: Database) {
    let store = db.open().await;
    at_once(&[store.clone(), store.clone(), store.clone(), store]).await;
}

async fn replicas_never_get_more_than_there_is(db: Database) {
    // Only one process can use a file, so on SQLite the replicas are handles of one store.
    let one = db.open().await;
    let mut stores = vec![one.clone(), one.clone(), one];
    if !db.url.starts_with("sqlite:") {
        stores = vec![db.open().await, db.open().await, db.open().await];
    }
    at_once(&stores).await;
}

async fn at_once(stores: &[Store]) {
    let mut holds = Vec::new();
    for number in 0..stores.len() {
        holds.push(hold_effect(&stores[0], &format!("e{number}")).await);
    }
    let all = allowed(FULL, u32::try_from(stores.len()).unwrap());
    let mut budgets = [Budget::default(); 3];
    (budgets[0].feature, budgets[1].installation, budgets[2].server) = (all, all, all);
    for budget in budgets {
        let mut starting = tokio::task::JoinSet::new();
        for (number, (store, hold)) in stores.iter().cloned().zip(holds.clone()).enumerate() {
            let new = new_run(Some(u16::try_from(number).unwrap() + 1));
            starting.spawn(async move { begun(&store, &hold, &new, &budget).await });
        }
        let begun = starting.join_all().await;
        let shares: Vec<u64> = begun.iter().filter_map(|(_, share)| *share).collect();
        assert_eq!(shares.iter().sum::<u64>(), FULL, "{shares:?} of {budget:?}");
        for (id, _) in begun {
            stores[0].end_run(&ended(&id, Some(0))).await.unwrap();
        }
    }
}

async fn a_lost_run_counts_with_its_share_and_once(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let budget = of_task(5 * FULL);
    begun(&store, &hold, &new_run(Some(1)), &budget).await;
    store.reap(NOW.plus(LEASE)).await.unwrap();
    let lost = &store.runs_of(&key(1, 1), None).await.unwrap()[0];
    assert_eq!((lost.state, lost.usage.usd_micros), (RunState::Lost, Some(2_500_000)));
    assert!(lost.usage.estimated, "nobody knows what it used");
    assert_eq!(lost.usage.agent_ms, 60_000, "no more than it was given");
    for _ in 0..2 {
        store.reap(NOW.plus(LEASE)).await.unwrap();
        assert_eq!(spent(&store).await, Some(2_500_000));
    }
    let again = claim(&store, Lane::Agent).await.unwrap().hold;
    let (id, share) = begun(&store, &again, &new_run(Some(1)), &budget).await;
    assert_eq!((id.as_str(), share), ("e/2/0", Some(1_250_000)));
    store.end_run(&ended(&id, Some(1))).await.unwrap();
    assert_eq!(spent(&store).await, Some(2_500_001));
}

async fn a_run_that_ends_after_all_counts_with_what_it_used(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &of_task(5 * FULL)).await;
    store.reap(NOW.plus(LEASE)).await.unwrap();
    store.end_run(&ended(&id, Some(7))).await.unwrap();
    assert_eq!(spent(&store).await, Some(7));
    assert_eq!(store.runs_of(&key(1, 1), None).await.unwrap()[0].state, RunState::Ended);
}

async fn a_run_ends_once(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &of_task(5 * FULL)).await;
    store.end_run(&ended(&id, Some(7))).await.unwrap();
    store.end_run(&ended(&id, Some(9))).await.unwrap();
    store.end_run(&ended("unheard of", Some(9))).await.unwrap();
    assert_eq!(spent(&store).await, Some(7));
}

fn packed(byte: &str) -> NewPack {
    NewPack { feature: key(1, 1), commit: byte.repeat(20).parse().unwrap(), bytes: vec![0, 255, 10, 0], at: NOW }
}

async fn a_result_is_stored_with_its_commit_and_the_end_of_its_run(db: Database) {
    let store = db.open().await;
    store.commit(&step(key(1, 1), None, "labelled")).await.unwrap();
    let hold = hold_effect(&store, "e").await;
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &of_task(5 * FULL)).await;
    let pack = packed("ab");
    let record = RunRecord { hold: &hold, result: "{}", pack: Some(&pack) };
    let run = ended(&id, Some(7));
    for _ in 0..2 {
        assert_eq!(store.store_result(&record, Some(&run)).await.unwrap(), Fenced::Written);
    }
    store.close().await;
    let store = db.open().await;
    let effect = store.effect("e").await.unwrap().unwrap();
    assert_eq!(effect.external_id.as_deref(), Some("{}"));
    let of = async || store.pack(&pack.feature, &pack.commit).await.unwrap();
    assert_eq!(of().await, Some(pack.bytes.clone()));
    assert_eq!(store.pack(&key(2, 1), &pack.commit).await.unwrap(), None);
    assert_eq!(spent(&store).await, Some(7));

    assert_eq!(store.forget_packs(LATER).await.unwrap(), 0, "it is not pushed");
    store.pack_pushed(&pack.feature, &pack.commit, NOW.plus(5)).await.unwrap();
    assert_eq!(store.forget_packs(NOW.plus(5)).await.unwrap(), 0, "it is young");
    assert_eq!(store.forget_packs(LATER).await.unwrap(), 1);
    assert_eq!(of().await, None);
}

async fn a_result_whose_effect_is_another_workers_is_lost_and_its_cost_is_not(db: Database) {
    let store = db.open().await;
    store.commit(&step(key(1, 1), None, "labelled")).await.unwrap();
    let hold = hold_effect(&store, "e").await;
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &of_task(5 * FULL)).await;
    store.reap(NOW.plus(LEASE)).await.unwrap();
    let pack = packed("cd");
    let record = RunRecord { hold: &hold, result: "{}", pack: Some(&pack) };
    let stored = store.store_result(&record, Some(&ended(&id, Some(7)))).await;
    assert_eq!(stored.unwrap(), Fenced::Lost);
    assert_eq!(store.pack(&pack.feature, &pack.commit).await.unwrap(), None);
    assert_eq!(store.effect("e").await.unwrap().unwrap().external_id, None);
    let runs = store.runs_of(&key(1, 1), None).await.unwrap();
    assert_eq!(runs[0].failure.as_deref(), Some("result_lost"));
    assert_eq!(spent(&store).await, Some(7));
}

async fn a_lost_hold_begins_no_run(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    store.reap(NOW.plus(LEASE)).await.unwrap();
    let started = start(&store, &hold, &new_run(Some(1)), &Budget::default()).await;
    assert_eq!(started, StartOutcome::Lost);
    assert_eq!(store.runs_of(&key(1, 1), None).await.unwrap(), []);
}

async fn months_and_installations_are_counted_apart(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let budget = Budget { installation: allowed(FULL, 1), server: allowed(3 * FULL, 1), ..Budget::default() };
    let next = Month::of(NOW).next().start();
    let other = NewRun { installation: InstallationId(31), ..new_run(Some(1)) };
    let later = |new: &NewRun, at: Millis| NewRun { at, ..new.clone() };
    let (id, _) = begun(&store, &hold, &later(&new_run(Some(1)), next.plus(-1)), &budget).await;
    store.end_run(&ended(&id, Some(FULL))).await.unwrap();
    let refused = start(&store, &hold, &new_run(Some(1)), &budget).await;
    assert!(matches!(refused, StartOutcome::Spent(_)), "the installation's month: {refused:?}");
    let (id, _) = begun(&store, &hold, &other, &budget).await;
    store.end_run(&ended(&id, Some(2 * FULL))).await.unwrap();
    let third = NewRun { installation: InstallationId(32), ..new_run(Some(1)) };
    let refused = start(&store, &hold, &third, &budget).await;
    assert!(matches!(refused, StartOutcome::Spent(_)), "the server's month: {refused:?}");
    for new in [new_run(Some(1)), other, third] {
        let (id, _) = begun(&store, &hold, &later(&new, next), &budget).await;
        store.end_run(&ended(&id, Some(0))).await.unwrap();
    }
}

async fn an_account_that_installs_the_app_again_has_spent_what_it_spent(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let budget = Budget { installation: allowed(FULL, 1), ..Budget::default() };
    let (again, other) = (InstallationId(31), InstallationId(32));
    for (installation, account) in [(INSTALLATION, 5), (again, 5), (other, 6)] {
        store.note_account(installation, UserId(account)).await.unwrap();
    }
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &budget).await;
    store.end_run(&ended(&id, Some(FULL))).await.unwrap();
    let of = |installation| NewRun { installation, ..new_run(Some(1)) };
    let refused = start(&store, &hold, &of(again), &budget).await;
    assert!(matches!(refused, StartOutcome::Spent(_)), "{refused:?}");
    // The same repository, which has moved to another account.
    begun(&store, &hold, &of(other), &budget).await;
    let payers = async || {
        let spent = store.spent_by_day(Millis(0), Millis(i64::MAX)).await.unwrap();
        spent.iter().map(|day| (day.installation, day.usd_micros)).collect::<Vec<_>>()
    };
    assert_eq!(payers().await, [(again, FULL), (other, 0)]);

    store.depart(INSTALLATION, Millis(0)).await.unwrap();
    store.purge_departed(Millis(1)).await.unwrap();
    assert_eq!(payers().await, [(again, FULL), (other, 0)]);
    store.forget_departed(Millis(1)).await.unwrap();
    assert_eq!(payers().await, [(INSTALLATION, FULL), (other, 0)], "its account is forgotten");
}

async fn costs_are_summed_by_task(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    for (task, usd_micros) in [(None, Some(5)), (Some(1), Some(7)), (Some(1), None), (Some(2), None)] {
        let (id, _) = begun(&store, &hold, &new_run(task), &Budget::default()).await;
        store.end_run(&ended(&id, usd_micros)).await.unwrap();
    }
    begun(&store, &hold, &new_run(Some(2)), &Budget::default()).await;
    let costs = store.costs(&key(1, 1)).await.unwrap();
    let told: Vec<_> = costs
        .iter()
        .map(|(task, cost)| (*task, cost.agent_runs, cost.usd_micros, cost.unknown_runs, cost.open_runs))
        .collect();
    assert_eq!(
        told,
        [
            (None, 1, Some(5), 0, 0),
            (Some(TaskId::Planned(1)), 2, Some(7), 1, 0),
            (Some(TaskId::Planned(2)), 2, None, 1, 1),
        ]
    );
    assert_eq!(costs[&Some(TaskId::Planned(1))].tokens.total(), 20);
    assert!(store.costs(&key(2, 1)).await.unwrap().is_empty());
    let usual = store.usual_cost(key(1, 1).repo, Millis(0)).await.unwrap();
    assert_eq!(
        usual,
        Some(EarlierTasks { average: 7, count: 1 }),
        "the planner's run and unknown costs are no task's usual cost"
    );
}

async fn totals_are_summed_by_role_model_and_outcome(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    for failure in [None, None, Some("timed_out")] {
        let (id, _) = begun(&store, &hold, &new_run(Some(1)), &Budget::default()).await;
        let end = EndedRun { failure: failure.map(str::to_owned), ..ended(&id, Some(3)) };
        store.end_run(&end).await.unwrap();
        // Counted usage remains, and is counted only once.
        store.count_runs(NOW).await.unwrap();
        store.count_runs(NOW).await.unwrap();
    }
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &Budget::default()).await;
    store.end_run(&ended(&id, Some(3))).await.unwrap();
    let totals = store.run_totals().await.unwrap();
    let told: Vec<_> = totals
        .iter()
        .map(|total| (total.outcome.as_str(), total.model.as_str(), total.cost.agent_runs, total.cost.usd_micros))
        .collect();
    assert_eq!(told, [("ok", "small-2026", 3, Some(9)), ("timed_out", "small-2026", 1, Some(3))]);
}

async fn events_are_kept_in_whole_lines(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let line = format!("{}\u{fc}\n", "x".repeat(MAX_RUN_EVENTS / 3));
    for (events, kept) in [(line.repeat(4), line.repeat(2)), ("y".repeat(2 * MAX_RUN_EVENTS), String::new())] {
        let (id, _) = begun(&store, &hold, &new_run(Some(1)), &Budget::default()).await;
        let end = EndedRun { events: Some(events), ..ended(&id, None) };
        store.end_run(&end).await.unwrap();
        assert!(store.run_events(&id).await.unwrap() == Some(kept));
    }
}

async fn what_happened_is_read_beside_the_service_that_works(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "e").await;
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &of_task(5 * FULL)).await;
    store.end_run(&ended(&id, Some(7))).await.unwrap();
    let reader = Store::open_to_read(&db.url, OpenOptions::default()).await.unwrap();
    let traced = reader.traced().await.unwrap();
    assert_eq!(traced, [(key(1, 1), Some(TaskId::Planned(1)))]);
    assert_eq!(reader.run_events(&id).await.unwrap().as_deref(), Some("{}\n"));
    reader.close().await;
    store.end_run(&ended("unheard of", None)).await.unwrap();
}

fn activity(tool_calls: u32, doing: AgentState) -> RunActivity {
    RunActivity { tool_calls, doing }
}

async fn what_a_run_does_is_told_as_long_as_its_effect_is_held(db: Database) {
    let store = db.open().await;
    let hold = hold_effect(&store, "player").await;
    let (id, _) = begun(&store, &hold, &new_run(Some(1)), &of_task(FULL)).await;
    assert_eq!(store.at_work(&key(1, 1)).await.unwrap(), [], "nothing was seen yet");
    let show = |name: &str| NewEffect {
        kind: "living".to_owned(),
        feature: Some(key(1, 1)),
        ..effect(name, Lane::Forge, "living")
    };
    let told = store.saw_run(&hold, &id, activity(3, AgentState::Working), NOW, &show("one")).await;
    assert_eq!(told.unwrap(), Fenced::Written);
    let later = NOW.plus(5);
    let told = store.saw_run(&hold, &id, activity(14, AgentState::WaitingForApi), later, &show("two")).await;
    assert_eq!(told.unwrap(), Fenced::Written);
    let expected = AtWork {
        task: Some(TaskId::Planned(1)),
        turn: TurnNumber(2),
        role: "player".to_owned(),
        seen: activity(14, AgentState::WaitingForApi),
        at: later,
    };
    assert_eq!(store.at_work(&key(1, 1)).await.unwrap(), [expected]);
    assert!(store.effect("one").await.unwrap().is_some(), "it is to be shown");
    assert!(store.effect("two").await.unwrap().is_none(), "what waits shows this too");

    assert!(store.calls(&key(1, 1)).await.unwrap().is_empty());
    let told = store.saw_calls(&hold, &id, &["Read a.rs", "Bash \"x\""]).await;
    assert_eq!(told.unwrap(), Fenced::Written);
    let calls = vec!["Read a.rs".to_owned(), "Bash \"x\"".to_owned()];
    assert_eq!(store.calls(&key(1, 1)).await.unwrap(), [(id.clone(), calls)].into());

    let _ = store.reap(NOW.plus(LEASE + 1)).await.unwrap();
    assert_eq!(store.at_work(&key(1, 1)).await.unwrap(), [], "nobody holds it any more");
    let told = store.saw_calls(&hold, &id, &["Read b.rs"]).await;
    assert_eq!(told.unwrap(), Fenced::Lost);
    let told = store.saw_run(&hold, &id, activity(15, AgentState::Working), later, &show("three")).await;
    assert_eq!(told.unwrap(), Fenced::Lost);
    store.close().await;
}
