//! The end of a Feature by its issue; the example of CONTRIBUTING.md.

use crate::world::{ISSUE, Plan, REPO, Setup, WRITER};

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_issue_cancels_its_feature() {
    // The usual people and a repository; `World::new()` has the usual settings.
    let world = Setup::new().settings("plan_approval: always").build().await;
    // The agents' lines. `writes` and `feedback` are those of Player and Coach; a line that nobody reads fails the test.
    world.script.plans(&Plan::one());
    // A person opens the issue and labels it; the story goes on until nothing is due.
    world.start().await;
    assert_eq!(world.state().await, "awaiting_approval");
    world.by(WRITER).close(REPO, ISSUE).unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "cancelled");
    // Nothing may be left over: effects, script, calls that the forge does not know.
    world.end().await;
}
