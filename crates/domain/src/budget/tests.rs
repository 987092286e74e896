use super::*;

const MONTH: Millis = Millis(1_795_000_000_000);

use crate::ids::Millis;

fn money(purse: Purse, limit: u64, used: u64, reserved: u64, running: u32, parallel: u32) -> PurseStatus {
    let amount = |usd_micros| Amount { usd_micros, ..Amount::default() };
    PurseStatus {
        purse,
        allowed: PurseLimits { limits: Limits { usd_micros: Some(limit), ..Limits::default() }, parallel },
        used: amount(used),
        reserved: amount(reserved),
        running,
    }
}

fn share_of(accounts: &[PurseStatus]) -> ShareOutcome {
    let call = Call { deadline_ms: 60_000, cost_reporting: CostReporting::Cost };
    share(accounts, &call, Month::of(MONTH))
}

fn granted(accounts: &[PurseStatus]) -> u64 {
    match share_of(accounts) {
        ShareOutcome::Share(share) => share.usd_micros.unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The money that the proxy lets a run use.
fn most(accounts: &[PurseStatus]) -> u64 {
    match share_of(accounts) {
        ShareOutcome::Share(share) => share.most_usd_micros.unwrap(),
        other => panic!("{other:?}"),
    }
}

fn sentence(account: PurseStatus) -> String {
    match share_of(&[account]) {
        ShareOutcome::Spent(spent) => {
            format!("{}: {} of {} in {}", spent.setting(), spent.used, spent.limit, spent.month)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_limits_only_the_deadline_limits() {
    let outcome = share_of(&[]);
    let expected = Share { usd_micros: None, most_usd_micros: None, tokens: None, ms: 60_000 };
    assert_eq!(outcome, ShareOutcome::Share(expected));
}

#[test]
fn a_run_gets_half_of_what_is_left_until_too_little_is_left_to_be_cut() {
    let shares = [0, 2_500_000, 3_750_000, 4_375_000, 4_875_000, 4_999_999]
        .map(|used| granted(&[money(Purse::Task, 5_000_000, used, 0, 0, 1)]));
    assert_eq!(shares, [2_500_000, 1_250_000, 625_000, 500_000, 125_000, 1]);
}

#[test]
fn tasks_at_once_divide_what_is_left_and_never_get_more_than_there_is() {
    for parallel in 1..6 {
        let (limit, mut reserved) = (1_000_003, 0);
        for running in 0..parallel {
            reserved += most(&[money(Purse::Feature, limit, 0, reserved, running, parallel)]);
        }
        assert!(reserved <= limit, "{parallel} at once were given {reserved}");
    }
}

#[test]
fn a_program_that_ignores_its_share_is_stopped_at_the_limit() {
    for used in [0, 2_500_000, 4_750_000, 4_999_999] {
        let task = money(Purse::Task, 5_000_000, used, 0, 0, 1);
        assert_eq!(used + most(&[task]), 5_000_000);
        assert!(granted(&[task]) <= most(&[task]));
    }
    let task = money(Purse::Task, 5_000_000, 0, 0, 0, 1);
    let feature = money(Purse::Feature, 50_000_000, 47_000_000, 0, 0, 2);
    assert_eq!(most(&[task, feature]), 1_500_000, "the purse with the least left decides");
    let server = money(Purse::Server, 2_000_000, 0, 0, 0, 3);
    assert_eq!(most(&[task, server]), granted(&[task, server]), "other replicas may want the rest");
}

#[test]
fn the_poorest_purse_decides() {
    let task = money(Purse::Task, 5_000_000, 0, 0, 0, 1);
    let installation = money(Purse::Installation, 100_000_000, 99_000_000, 0, 0, 2);
    assert_eq!(granted(&[task, installation]), 500_000);
    assert_eq!(granted(&[installation, task]), 500_000);
}

#[test]
fn what_others_hold_is_waited_for_and_what_is_spent_is_not() {
    let held = money(Purse::Feature, 1_000_000, 400_000, 600_000, 2, 2);
    assert_eq!(share_of(&[held]), ShareOutcome::Wait);
    let spent = money(Purse::Feature, 1_000_000, 1_000_000, 0, 0, 2);
    assert!(matches!(share_of(&[held, spent]), ShareOutcome::Spent(_)));
}

#[test]
fn a_program_that_tells_nothing_is_held_to_time_and_to_what_is_spent() {
    let mut account = money(Purse::Task, 5_000_000, 4_000_000, 0, 0, 1);
    account.allowed.limits.ms = Some(90_000);
    account.used.ms = 50_000;
    let call = Call { deadline_ms: 60_000, cost_reporting: CostReporting::Nothing };
    let expected = Share { usd_micros: None, most_usd_micros: None, tokens: None, ms: 40_000 };
    assert_eq!(share(&[account], &call, Month::of(MONTH)), ShareOutcome::Share(expected));
    account.used.ms = 89_500;
    assert!(matches!(share(&[account], &call, Month::of(MONTH)), ShareOutcome::Spent(_)));
    account.used = Amount { usd_micros: 5_000_000, ..Amount::default() };
    assert!(matches!(share(&[account], &call, Month::of(MONTH)), ShareOutcome::Spent(_)));
}

#[test]
fn a_spent_purse_says_so_with_figures() {
    let spent = |purse| sentence(money(purse, 5_000_000, 5_120_000, 0, 0, 1));
    insta::assert_snapshot!(
        [Purse::Task, Purse::Feature, Purse::Installation, Purse::Server].map(spent).join("\n"),
        @r"
    usd_per_task: 5120000 of 5000000 in November 2026
    usd_per_feature: 5120000 of 5000000 in November 2026
    AUTOBUILD_BUDGET_USD_PER_INSTALLATION_MONTH: 5120000 of 5000000 in November 2026
    AUTOBUILD_BUDGET_USD_PER_MONTH: 5120000 of 5000000 in November 2026
    "
    );
}
