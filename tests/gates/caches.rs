//! Build caches: only pre-flight fills them, and nothing that a Gate run writes reaches another run.

use crate::stage::{Case, Stage, finding};
use domain::plan::TaskType;

/// Prints the files that set-up found, then one test result.
const SETTINGS: &str = "setup: sh setup.sh\ntest: sh run.sh\n";
const SETUP: &str = "if [ -f built/made ]; then echo warm; else echo cold; fi; mkdir -p built; echo fine > built/made\n\
                     mkdir -p .venv; touch .venv/pyvenv.cfg\n";
const RUN: &str = "cat built/made; ls .venv; mkdir -p target junk; touch target/CACHEDIR.TAG junk/x; echo home > $HOME/kept\n\
                   printf '1..1\\nok 1 - a\\n'\n";

fn said(evidence: Option<&domain::evidence::Evidence>) -> String {
    finding(evidence.unwrap()).output.clone()
}

#[tokio::test]
async fn a_second_run_starts_from_what_pre_flight_built() {
    let stage = Stage::new().await;
    let fork = stage.commit(None, &[("setup.sh", Some(SETUP)), ("run.sh", Some(RUN)), ("Cargo.lock", Some("1"))]);
    let case = Case::new(TaskType::Scaffolding, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    assert_eq!(said(baseline.setup.as_ref()), "cold");
    let looking = "ls -d target junk .venv 2>/dev/null; cat built/made $HOME/kept; printf '1..1\\nok 1 - a\\n'\n";
    let head = stage.commit(Some(&fork), &[("run.sh", Some(looking))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(said(report.setup.as_ref()), "warm");
    // The virtual environment belongs to set-up; files of a test run that are not marked as a cache are not kept.
    assert_eq!(finding(&report.tests).output, ".venv\ntarget\nfine\nhome\n1..1\nok 1 - a");
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
    let fork = stage.commit(None, &[("setup.sh", Some(setup)), ("run.sh", Some("printf '1..1\\nok 1 - a\\n'\n"))]);
    let case = Case::new(TaskType::Scaffolding, SETTINGS);
    let baseline = stage.baseline(&fork, &case.settings).await;
    let head = stage.commit(Some(&fork), &[("README.md", Some("words"))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    assert_eq!(said(report.setup.as_ref()), "cold");
}

const APP: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nheavy = { path = \"heavy\" }\n\n\
                   [workspace]\nmembers = [\"heavy\", \"placed\"]\n";
const LOCK: &str = "version = 3\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"heavy\",\n]\n\n\
                    [[package]]\nname = \"heavy\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"placed\"\nversion = \"0.1.0\"\n";
const HEAVY: &str = "pub fn answer() -> u32 { env!(\"ANSWER\").parse().unwrap() }\n\
                     #[cfg(test)] mod tests { #[test] fn heavy_answers() { assert_eq!(super::answer(), 42); } }\n";
/// A build script that does not declare the file that it reads.
const BUILD: &str = "fn main() {\n println!(\"cargo:rerun-if-changed=build.rs\");\n \
                     let answer = std::fs::read_to_string(\"../answer.txt\").unwrap();\n \
                     println!(\"cargo:rustc-env=ANSWER={answer}\");\n}\n";
const PLACED: &str = "#[test]\nfn placed_finds_its_data() {\n \
                      assert!(std::fs::read(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/data.txt\")).is_ok());\n}\n";

/// A workspace with a crate, a dependency of it, and a crate that contains its own path.
async fn workspace(stage: &Stage) -> (domain::ids::Sha, Case, domain::evidence::Baseline) {
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let (heavy, placed) = (package("heavy"), package("placed"));
    let fork = stage.commit(
        None,
        &[
            (".gitignore", Some("target\n")),
            ("Cargo.toml", Some(APP)),
            ("Cargo.lock", Some(LOCK)),
            ("answer.txt", Some("42")),
            ("src/lib.rs", Some("#[test]\nfn app() { assert_eq!(heavy::answer(), 42); }\n")),
            ("heavy/Cargo.toml", Some(&heavy)),
            ("heavy/build.rs", Some(BUILD)),
            ("heavy/src/lib.rs", Some(HEAVY)),
            ("heavy/src/unused.rs", Some("")),
            ("placed/Cargo.toml", Some(&placed)),
            ("placed/data.txt", Some("data")),
            ("placed/src/lib.rs", Some(PLACED)),
        ],
    );
    let case = Case::new(TaskType::Scaffolding, "test: cargo test --workspace --offline | cat\n");
    let baseline = stage.baseline(&fork, &case.settings).await;
    assert_eq!(finding(&baseline.tests).exit_code, Some(0), "{:?}", baseline.tests);
    (fork, case, baseline)
}

#[tokio::test]
async fn a_package_that_is_as_it_was_is_not_built_again() {
    let stage = Stage::new().await;
    let (fork, case, baseline) = workspace(&stage).await;
    let changed = "#[test]\nfn app() { assert_eq!(heavy::answer(), 41 + 1); }\n";
    let head = stage.commit(Some(&fork), &[("src/lib.rs", Some(changed)), ("src/new.rs", Some(""))]);
    let report = stage.verified_on(&baseline, &fork, &head, &case).await;
    let tests = finding(&report.tests);
    assert!(tests.output.contains("Compiling app "), "{}", tests.output);
    assert!(!tests.output.contains("Compiling heavy "), "{}", tests.output);
    // It contains the path of its folder, which is the same in each run.
    assert!(!tests.output.contains("Compiling placed "), "{}", tests.output);
    assert_eq!((tests.exit_code, tests.failing.as_slice()), (Some(0), &[][..]), "{}", tests.output);
}

#[tokio::test]
async fn no_old_time_hides_what_a_change_breaks() {
    let stage = Stage::new().await;
    let (fork, case, baseline) = workspace(&stage).await;
    let changes: [&[crate::stage::File<'_>]; 3] = [
        &[("heavy/src/lib.rs", Some("pub fn answer() -> u32 { 43 }\n"))],
        // Nothing declares that the dependency is built from this file.
        &[("answer.txt", Some("43"))],
        &[("heavy/src/lib.rs", None), ("heavy/src/main.rs", Some("fn main() {}\n"))],
    ];
    for change in changes {
        let head = stage.commit(Some(&fork), change);
        let report = stage.verified_on(&baseline, &fork, &head, &case).await;
        let tests = finding(&report.tests);
        assert_eq!(tests.exit_code, Some(101), "{change:?}: {}", tests.output);
        stage.commit(Some(&fork), &[]);
    }
}
