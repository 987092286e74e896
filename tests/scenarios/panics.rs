//! A panic while an effect is performed.

use crate::world::{REPO, Setup, WRITER};
use autobuild::store::EffectState;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_frees_the_slot_counts_as_a_crash_and_is_tried_again() {
    // No time can be that far in the future: every effect panics before it does anything, and there are more effects
    // than slots.
    let world = Setup::new().lease(Duration::MAX).build().await;
    let mut wakeups = world.engine.store.wakeups();
    for number in 0..6 {
        let title = format!("Issue {number}");
        let issue = world.by(WRITER).open_issue(REPO, &title, "", &[]).unwrap();
        world.by(WRITER).label(REPO, issue, "autobuild").unwrap();
    }
    loop {
        let effects = world.engine.store.unfinished_effects().await.unwrap();
        if effects.len() >= 6 && effects.iter().all(|effect| effect.crashes >= 2) {
            let waits = |state| matches!(state, EffectState::Ready | EffectState::Running);
            assert!(effects.iter().all(|effect| waits(effect.state) && effect.attempt == 0));
            let said = effects[0].last_error.as_deref().unwrap_or_default();
            assert!(!said.contains("overflow"), "what a panic says is for the log alone: {said}");
            return;
        }
        wakeups.next().await;
    }
}
