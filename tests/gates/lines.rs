//! Commands are lines as in a CI file: their meaning, and the ones that cannot start.

use crate::stage::{Case, Stage};
use autobuild::config::RepositorySettings;
use domain::{
    evidence::{Absence, Evidence, Gate, StartFailure},
    plan::{Check, TaskType},
};

/// The repository's files in these tests.
const FILES: [(&str, Option<&str>); 6] = [
    ("f", Some("it holds x\n")),
    ("web/run.sh", Some("#!/bin/sh\necho web\n")),
    ("bin/tool", Some("#!/bin/sh\necho tool\n")),
    ("env.sh", Some("PATH=$PWD/bin:$PATH\n")),
    ("noshebang", Some("words\n")),
    ("it's/a b", Some("x\n")),
];
/// Makes the scripts of [`FILES`] executable.
const SETUP: &str = "chmod +x web/run.sh bin/tool";

/// Returns the result of a line: its word, and the reason why it could not start.
fn ended(evidence: &Evidence) -> (&'static str, Option<StartFailure>) {
    let reason = match evidence {
        Evidence::Absent(Absence::CouldNotStart { reason, .. }) => Some(reason.clone()),
        Evidence::Absent(_) | Evidence::Passed(_) | Evidence::Failed(_) => None,
    };
    (evidence.word(), reason)
}

/// Returns the evidence of each line as the check of a criterion.
async fn checked(lines: &[&str]) -> Vec<Evidence> {
    let stage = Stage::new().await;
    let mut case = Case::new(TaskType::Documentation, &format!("setup: {SETUP}"));
    for line in lines {
        case = case.checking(Check::Command((*line).to_owned()));
    }
    let fork = stage.commit(None, &FILES);
    let report = stage.verified(&fork, &fork, &case).await;
    (1..=lines.len()).map(|number| report.result(Gate::Check(number)).unwrap().evidence.clone()).collect()
}

#[tokio::test]
async fn a_line_means_what_it_means_in_a_ci_file() {
    let lines = [
        ("! grep -q y f", "passed"),
        ("! grep -q x f", "failed"),
        ("cd web && sh run.sh", "passed"),
        ("cd web && ./run.sh", "passed"),
        ("test \"$(cat f)\" = 'it holds x'", "passed"),
        ("test \"$(sh -c 'echo 1')\" = 0", "failed"),
        ("false | cat", "failed"),
        ("cat f | grep -q x", "passed"),
        ("false; true", "failed"),
        ("X=1 sh -c 'test $X = 1' && echo 'a  b' > out && grep -q 'a  b' out", "passed"),
        ("if [ -f f ]; then grep -q x f; else exit 3; fi", "passed"),
        ("for n in 1 2; do test $n -lt 3; done", "passed"),
        ("[[ -f f && ! -e g ]]", "passed"),
        ("cat <<< x | grep -q x", "passed"),
        ("ls *.sh | grep -q env", "passed"),
        ("cat \"it's/a b\" # don't", "passed"),
        ("f() { grep -q x f; }; f", "passed"),
        ("export PATH=$PWD/bin:$PATH; tool | grep -q tool", "passed"),
        (". ./env.sh && tool", "passed"),
        ("PATH=$PWD/bin:$PATH tool", "passed"),
        ("printf '#!/bin/sh\\nexit 0\\n' > made && chmod +x made && ./made", "passed"),
        ("env -i PATH=\"$PATH\" sh -c 'exit 0'", "passed"),
        ("timeout 5 true && command true && exec true", "passed"),
    ];
    for ((line, expected), evidence) in lines.into_iter().zip(checked(&lines.map(|(line, _)| line)).await) {
        assert_eq!(ended(&evidence), (expected, None), "{line}: {evidence:?}");
    }
}

#[tokio::test]
async fn a_word_that_is_no_command_means_that_the_line_cannot_start() {
    let lines = [
        ("! grpe -q x f", "grpe"),
        ("grpe x f || true", "grpe"),
        ("true || grpe", "grpe"),
        ("test \"$(grpe x)\" = ''", "grpe"),
        ("if grpe; then false; fi", "grpe"),
        ("sh -c '! grpe x f'", "grpe"),
        ("! env X=1 grpe x", "grpe"),
        ("! (cd web && grpe) | cat", "grpe"),
        ("! ./nothing", "./nothing"),
        ("! ./web", "./web"),
        ("! ./noshebang", "./noshebang"),
        ("cd web; ! ./tool", "./tool"),
        ("(cd web); ! ./run.sh", "./run.sh"),
        ("! /no/such/program", "/no/such/program"),
        ("! a-b-c; ! d-e-f", "a-b-c d-e-f"),
    ];
    for ((line, expected), evidence) in lines.into_iter().zip(checked(&lines.map(|(line, _)| line)).await) {
        let missing = expected.split(' ').map(str::to_owned).collect();
        let reason = Some(StartFailure::NoPrograms(missing));
        assert_eq!(ended(&evidence), ("absent", reason), "{line}: {evidence:?}");
    }
}

#[tokio::test]
async fn a_line_that_is_none_is_told_in_the_shells_own_words() {
    let stage = Stage::new().await;
    let head = stage.commit(None, &FILES);
    for line in ["if true; then", "echo $(", "echo \"$(echo x)", "a && && b"] {
        let settings = RepositorySettings { test: Some(line.parse().unwrap()), ..RepositorySettings::default() };
        let (word, reason) = ended(&stage.baseline(&head, &settings).await.tests);
        assert_eq!(word, "absent", "{line}");
        assert!(
            matches!(&reason, Some(StartFailure::Message(message)) if message.contains("bash")),
            "{line}: {reason:?}"
        );
    }
}

#[tokio::test]
async fn set_up_may_run_what_it_makes_and_nothing_is_put_into_a_line() {
    let stage = Stage::new().await;
    let head = stage.commit(None, &FILES);
    let settings = RepositorySettings {
        setup: Some("cp bin/tool made && chmod +x made && ./made".parse().unwrap()),
        test: Some("./made && tr '\\0' ' ' < /proc/$$/cmdline".parse().unwrap()),
        ..RepositorySettings::default()
    };
    let baseline = stage.baseline(&head, &settings).await;
    assert_eq!(ended(baseline.setup.as_ref().unwrap()).0, "passed");
    let Evidence::Passed(finding) = &baseline.tests else { panic!("{:?}", baseline.tests) };
    assert_eq!(
        finding.output,
        "tool\nbash --noprofile --norc -eo pipefail -c ./made && tr '\\0' ' ' < /proc/$$/cmdline"
    );
}
