//! Build caches: filled by pre-flight alone, and nothing that a Gate run writes reaches another.

use crate::stage::Case;
use crate::stage::Stage;
use crate::stage::finding;
use autobuild::domain::plan::TaskType;

/// Says how set-up found the place, then prints one result.
const SETTINGS: &str = "setup: sh setup.sh\ntest: sh run.sh\n";
const SETUP: &str = "if [ -f built/made ]; then echo warm; else echo cold; fi; mkdir -p built; echo fine > built/made\n\
                     mkdir -p .venv; touch .venv/pyvenv.cfg\n";
const RUN: &str = "cat built/made; ls .venv; mkdir -p target junk; touch target/CACHEDIR.TAG junk/x; echo home > $HOME/kept\n\
                   printf '1..1\\nok 1 - a\\n'\n";

fn said(evidence: Option<&autobuild::domain::evidence::Evidence>) -> String {
    finding(evidence.unwrap()).output.clone()
}

#[tokio::test]
async fn a_second_run_starts_from_what_pre_flight_built() {
    let stage = Stage::new().await;
    let fork = stage.commit(
        None,
        &[
            ("setup.sh", Some(SETUP)),
            ("run.sh", Some(RUN)),
            ("Cargo.lock", Some("1")),
        ],
    );
    let case = Case::new(TaskType::Scaffolding, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    assert_eq!(said(baseline.setup.as_ref()), "cold");
    let looking = "ls -d target junk .venv 2>/dev/null; cat built/made $HOME/kept; printf '1..1\\nok 1 - a\\n'\n";
    let head = stage.commit(Some(&fork), &[("run.sh", Some(looking))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(said(report.setup.as_ref()), "warm");
    // The virtual environment is set-up's own; what a test run left without saying that it is a cache is not kept.
    assert_eq!(
        finding(&report.tests).output,
        ".venv\ntarget\nfine\nhome\n1..1\nok 1 - a"
    );
    let other_lock = stage.commit(Some(&fork), &[("Cargo.lock", Some("2"))]);
    let report = stage.verified_on(&baseline, &fork, &other_lock, &case).await;
    assert_eq!(said(report.setup.as_ref()), "cold");
}

#[tokio::test]
async fn what_a_gate_run_poisons_does_not_travel() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("setup.sh", Some(SETUP)), ("run.sh", Some(RUN))]);
    let case = Case::new(TaskType::Scaffolding, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    let poison = "echo evil > built/made; echo evil > target/CACHEDIR.TAG; echo evil > $HOME/kept; echo evil > $HOME/.profile\n\
                  printf '1..1\\nok 1 - a\\n'\n";
    let evil = stage.commit(Some(&fork), &[("run.sh", Some(poison))]);
    stage.verified_on(&baseline, &fork, &evil, &case).await;
    let looking = "cat built/made target/CACHEDIR.TAG $HOME/kept; ls -A $HOME; printf '1..1\\nok 1 - a\\n'\n";
    let honest = stage.commit(Some(&fork), &[("run.sh", Some(looking))]);
    let report = stage.verified_on(&baseline, &fork, &honest, &case).await;
    assert_eq!(finding(&report.tests).output, "fine\nhome\nkept\n1..1\nok 1 - a");
}

#[tokio::test]
async fn a_cache_that_breaks_set_up_is_left_out() {
    let stage = Stage::new().await;
    let setup = "if [ -f built/made ]; then echo does not fit; exit 1; fi; mkdir built; touch built/made; echo cold\n";
    let fork = stage.commit(
        None,
        &[
            ("setup.sh", Some(setup)),
            ("run.sh", Some("printf '1..1\\nok 1 - a\\n'\n")),
        ],
    );
    let case = Case::new(TaskType::Scaffolding, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    let head = stage.commit(Some(&fork), &[("README.md", Some("words"))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(said(report.setup.as_ref()), "cold");
}
