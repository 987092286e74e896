//! The programs that the cases need. They are installed if that is allowed. Without them the suite fails; it never
//! skips a case silently.

use std::process::{Command, Stdio};

/// A program, the arguments that test it, and the commands that may install it, of which the first successful one
/// counts.
type Need = (&'static str, &'static [&'static str], &'static [&'static [&'static str]]);

const NEEDED: [Need; 6] = [
    ("git", &["--version"], &[&["apt-get", "install", "-y", "git"]]),
    ("cargo", &["--version"], &[]),
    ("node", &["--version"], &[&["apt-get", "install", "-y", "--no-install-recommends", "nodejs"]]),
    ("npm", &["--version"], &[&["apt-get", "install", "-y", "--no-install-recommends", "npm"]]),
    ("go", &["version"], &[&["apt-get", "install", "-y", "--no-install-recommends", "golang-go"]]),
    (
        "python3",
        &["-m", "pytest", "--version"],
        &[
            &["python3", "-m", "pip", "install", "--quiet", "pytest"],
            &["apt-get", "install", "-y", "--no-install-recommends", "python3-pytest"],
        ],
    ),
];

/// Fails with a list of the programs that are missing and cannot be installed.
pub fn demand() {
    let missing: Vec<String> = NEEDED
        .iter()
        .filter(|need| !answers(need) && !install(need))
        .map(|(program, arguments, _)| format!("`{program} {}`", arguments.join(" ")))
        .collect();
    assert!(missing.is_empty(), "the cases need what does not answer here: {}", missing.join(", "));
}

fn answers((program, arguments, _): &Need) -> bool {
    succeeds(program, arguments)
}

fn install(need: &Need) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    need.2.iter().any(|command| {
        let updated = command[0] != "apt-get" || succeeds("apt-get", &["update"]);
        updated && succeeds(command[0], &command[1..]) && answers(need)
    })
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
