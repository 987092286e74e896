//! The wave gate, and which merge broke it.

use crate::stage::Stage;
use autobuild::{
    config::{Offer, RepositorySettings},
    gates::{WaveSubject, blame, verify_wave},
};
use domain::evidence::{Evidence, Gate};
use tokio_util::sync::CancellationToken;

const RUN: &str =
    "if [ -f broken ]; then echo 'not ok 1 - whole'; else echo 'ok 1 - whole'; fi; echo 1..1; [ ! -f broken ]\n";

#[tokio::test]
async fn the_commit_that_broke_the_tests_is_found_by_halving() {
    let stage = Stage::new().await;
    let settings = RepositorySettings::parse("test: sh run.sh\n", &Offer::default()).unwrap();
    let green = stage.commit(None, &[("run.sh", Some(RUN))]);
    let mut commits = vec![green.clone()];
    for name in ["one", "two", "broken", "three", "four"] {
        commits.push(stage.commit(commits.last(), &[(name, Some("x"))]));
    }
    let head = commits.last().unwrap().clone();
    let baseline = stage.baseline(&green, &settings).await;
    let cancel = CancellationToken::new();
    let subject = WaveSubject {
        mirror: &stage.mirror,
        head: &head,
        smoke: Some("test -f three"),
        baseline: &baseline,
        settings: &settings,
        waived: &[],
    };
    let report = verify_wave(&stage.context, &subject, &cancel).await.unwrap();
    assert!(matches!(report.tests, Evidence::Failed(_)) && report.excused.is_empty());
    assert_eq!(report.result(Gate::Smoke).unwrap().evidence.word(), "passed");
    let (tests, failing) = (WaveSubject { smoke: None, ..subject }, ["whole".to_owned()]);
    let broke = blame(&stage.context, &tests, (&green, &failing), &cancel);
    assert_eq!(broke.await.unwrap().as_ref(), commits.get(3));
    let nothing = blame(&stage.context, &tests, (&head, &failing), &cancel);
    assert_eq!(nothing.await.unwrap(), None);
}
