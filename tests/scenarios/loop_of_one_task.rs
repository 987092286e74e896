//! One task, from the label to the merged feature pull request.

use crate::world::{ADMIN, ISSUE, Plan, REPO, Setup, World};

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
    let acts = world.engine.store.acts_of_people(&key).await.unwrap();
    assert_eq!(acts, 0, "nobody had to help");
    assert_eq!(world.file("main", "hello/1.txt").as_deref(), Some("hello 1\n"));
    assert_eq!(world.git_says(&["branch", "--list", "autobuild/*"]), "", "branches removed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_waited_for_its_turn_asks_not_whether_it_was_made() {
    let world = Setup::new().write_spacing_ms(20).build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let calls = world.forge.calls().into_iter().filter(|call| call.app.is_some() && call.method == "GET");
    let looks: Vec<String> = calls.map(|call| format!("{}?{}", call.path, call.query)).collect();
    let count = |word: &str| looks.iter().filter(|look| look.contains(word)).count();
    let found = [count("/pulls?"), count("/reviews?"), count("check_name="), count("/requested_reviewers?")];
    // Only an existing request for a review must be looked up, because a second one notifies nobody.
    assert_eq!(found, [0, 0, 0, 1], "{looks:#?}");
    world.end().await;
}
