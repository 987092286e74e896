//! The wave gate, and which merge broke it.

use crate::stage::Stage;
use autobuild::{
    config::{Offer, RepositorySettings},
    gates::{Suspects, WaveSubject, blame, verify_wave},
};
use domain::{
    evidence::{Evidence, Gate},
    plan::TaskType,
};
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
        kind: TaskType::Feature,
        baseline: &baseline,
        settings: &settings,
        waived: &[],
    };
    let report = verify_wave(&stage.context, &subject, &cancel).await.unwrap();
    assert!(matches!(report.tests, Evidence::Failed(_)) && report.excused.is_empty());
    assert_eq!(report.result(Gate::Smoke).unwrap().evidence.word(), "passed");
    let suspects = Suspects {
        mirror: &stage.mirror,
        green: &green,
        head: &head,
        failing: &["whole".to_owned()],
        smoke: None,
        additions: baseline.additions,
        settings: &settings,
    };
    let broke = blame(&stage.context, &suspects, &cancel).await.unwrap();
    assert_eq!(broke.as_ref(), commits.get(3));
    let nothing = Suspects {
        green: &head,
        ..suspects
    };
    assert_eq!(blame(&stage.context, &nothing, &cancel).await.unwrap(), None);
}
