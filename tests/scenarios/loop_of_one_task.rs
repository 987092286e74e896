//! One task, from the label to the merged feature pull request.

use crate::world::{ADMIN, ISSUE, Plan, REPO, World};

#[tokio::test(flavor = "multi_thread")]
async fn a_labelled_issue_becomes_a_feature_pull_request_that_a_person_merges() {
    let world = World::new().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(world.tasks().await, ["completed"]);
    let (task, feature) = (world.pull(1).await, world.feature_pull().await);
    assert_eq!(world.review_states(task).await, ["APPROVED"]);
    assert_eq!(world.pull_json(task).await["merged"], true);
    assert_eq!(world.pull_json(task).await["draft"], false);
    world.by(ADMIN).merge(REPO, feature, "merge").await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "completed");
    assert_eq!(world.get(&format!("issues/{ISSUE}")).await["state"], "closed");
    let key = world.feature().await.key;
    let deeds = world.engine.store.deeds_of_people(&key).await.unwrap();
    assert_eq!(deeds, 0, "nobody had to help");
    assert_eq!(world.file("main", "hello/1.txt").as_deref(), Some("hello 1\n"));
    assert_eq!(world.git_says(&["branch", "--list", "autobuild/*"]), "", "branches removed");
    world.end().await;
}
