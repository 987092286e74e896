//! The programs that the cases need: without them the suite fails, and never skips a case in silence.

use crate::cases::Case;
use std::process::Command;
use std::process::Stdio;

/// What must answer, and what to do where it does not.
const NEEDED: [(&str, &[&str], &str); 4] = [
    ("git", &["--version"], "git (Debian: apt-get install git)"),
    (
        "cargo",
        &["--version"],
        "cargo (https://www.rust-lang.org/tools/install)",
    ),
    (
        "node",
        &["--version"],
        "Node 20 with npm (Debian: apt-get install nodejs npm)",
    ),
    (
        "python3",
        &["-m", "pytest", "--version"],
        "pytest (python3 -m pip install pytest, or Debian: apt-get install python3-pytest)",
    ),
];

/// Fails with what is missing.
pub fn demand(cases: &[&Case]) {
    let missing: Vec<&str> = NEEDED
        .iter()
        .filter(|(program, arguments, _)| !answers(program, arguments))
        .map(|(_, _, help)| *help)
        .collect();
    assert!(
        missing.is_empty(),
        "{} cases need what is not installed here: {}",
        cases.len(),
        missing.join(", ")
    );
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
