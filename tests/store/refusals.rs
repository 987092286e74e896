//! The number of refusals that people without the right get.

use crate::contract::{Database, INSTALLATION, NOW};
use autobuild::store::{NewRefusal, Store};
use domain::{
    feature::command::Asker,
    ids::{InstallationId, Millis, UserId},
};

on_both! {
    a_person_gets_three_an_hour_and_a_stranger_one_a_thread
    strangers_share_half_of_an_installations_twenty_writes
    a_delivery_that_is_read_again_gets_the_same_answer
}

fn refusal<'a>(cause: &'a str, person: u64, thread: &'a str) -> NewRefusal<'a> {
    NewRefusal { cause, installation: INSTALLATION, person: UserId(person), asker: Asker::Anybody, thread, at: NOW }
}

async fn told(store: &Store, new: NewRefusal<'_>) -> bool {
    store.may_refuse(&new).await.unwrap()
}

async fn a_person_gets_three_an_hour_and_a_stranger_one_a_thread(db: Database) {
    let store = db.open().await;
    assert!(told(&store, refusal("1", 7, "1/1")).await);
    assert!(!told(&store, refusal("2", 7, "1/1")).await, "the same thread");
    assert!(told(&store, refusal("3", 7, "1/2")).await);
    assert!(told(&store, refusal("4", 7, "1/3")).await);
    assert!(!told(&store, refusal("5", 7, "1/4")).await, "the fourth");
    assert!(told(&store, refusal("6", 8, "1/1")).await, "another person");
    let later = Millis(NOW.0 + 3_600_000);
    let at = |new: NewRefusal<'static>| NewRefusal { at: later, ..new };
    assert!(told(&store, at(refusal("7", 7, "1/4"))).await, "an hour later");
    assert!(!told(&store, at(refusal("8", 7, "1/1"))).await, "the thread has its reaction");
    store.forget_refusals(later).await.unwrap();
    assert!(told(&store, at(refusal("9", 7, "1/1"))).await, "forgotten");
}

async fn strangers_share_half_of_an_installations_twenty_writes(db: Database) {
    let store = db.open().await;
    let mut said = 0;
    for person in 0..30 {
        let cause = format!("of {person}");
        said += u32::from(told(&store, refusal(&cause, person, "1/1")).await);
    }
    assert_eq!(said, 10);
    let mut members = 0;
    for person in 100..110 {
        let cause = format!("of {person}");
        let member = NewRefusal { asker: Asker::Member, ..refusal(&cause, person, "1/1") };
        members += u32::from(told(&store, member).await);
    }
    assert_eq!(members, 5, "each has a reaction and a reply");
    let elsewhere = NewRefusal { installation: InstallationId(INSTALLATION.0 + 1), ..refusal("elsewhere", 1, "2/1") };
    assert!(told(&store, elsewhere).await);
}

async fn a_delivery_that_is_read_again_gets_the_same_answer(db: Database) {
    let store = db.open().await;
    for _ in 0..3 {
        assert!(told(&store, refusal("again", 7, "1/1")).await);
    }
    assert!(told(&store, refusal("another", 7, "1/2")).await);
}
