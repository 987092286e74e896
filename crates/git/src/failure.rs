//! Classifies failed git calls by the caller's next step.

use crate::{error::GitError, process::GitOutput};

/// Signs in git's messages, each list for one kind of failure. Signs of a full disk count only in messages of our own
/// machine.
const FULL: [&str; 3] = ["no space left on device", "disk quota exceeded", "file system is full"];
const UNWRITTEN: &str = "unable to write";
const OVERLOADED: [&str; 5] =
    ["returned error: 408", "returned error: 429", "returned error: 5", "rate limit", "internal server error"];
const DENIED: [&str; 5] = ["authentication failed", "error: 401", "error: 403", "permission to", "archived"];
/// Git asks for other credentials if the given ones are not accepted, but is not allowed to ask.
const NO_CREDENTIALS: [&str; 2] = ["could not read username", "could not read password"];
const GONE: [&str; 4] = ["not found", "error: 404", "error: 410", "does not appear to be a git repository"];
const NETWORK: [&str; 27] = [
    "could not resolve",
    "name resolution",
    "failed to connect",
    "couldn't connect",
    "connection",
    "network is unreachable",
    "no route to host",
    "timed out",
    "timeout",
    "hung up",
    "early eof",
    "rpc failed",
    "recv failure",
    "send failure",
    "unexpected disconnect",
    "operation too slow",
    "empty reply",
    "ssl",
    "gnutls",
    "http/2",
    "cannot lock ref",
    "not valid: is this a git repository",
    "invalid server response",
    "expected flush",
    "bad line length",
    "protocol error",
    "everything up-to-date",
];

/// A disk with fewer free bytes than this counts as full. It is this large because git removes a half-written file,
/// which frees up to GitHub's limit of 100 MiB for a file.
const NO_ROOM: u64 = 100 << 20;

/// Classifies a failed call to the remote at `url`. The URL is ignored, since it may contain such words.
pub(crate) fn remote_failure(command: &str, output: &GitOutput, url: &str) -> GitError {
    let text = output.stderr.clone();
    if let Some(branch) = text.split("couldn't find remote ref ").nth(1) {
        let branch = branch.lines().next().unwrap_or(branch);
        return GitError::Missing(branch.trim_start_matches("refs/heads/").to_owned());
    }
    let lower = text.replace(url, "").to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
    let local = local_failure(command, output);
    if !matches!(local, GitError::Failed { .. }) {
        local
    } else if says(&OVERLOADED) {
        GitError::Transient(text)
    } else if says(&NO_CREDENTIALS) {
        GitError::NoCredentials
    } else if says(&DENIED) {
        GitError::Denied(text)
    } else if says(&GONE) {
        GitError::Gone(text)
    } else if says(&NETWORK) {
        GitError::Transient(text)
    } else {
        local
    }
}

/// Classifies a failed call by our own git's messages, without those of a remote.
pub(crate) fn local_failure(command: &str, output: &GitOutput) -> GitError {
    let ours = || output.stderr.lines().filter(|line| !line.starts_with("remote:"));
    let full = |line: &str| {
        let lower = line.to_lowercase();
        FULL.iter().any(|sign| lower.contains(sign))
    };
    if let Some(line) = ours().find(|line| full(line)) {
        return GitError::NoSpace(line.to_owned());
    }
    if let Some(line) = ours().find_map(refused_object) {
        return GitError::History(line.to_owned());
    }
    GitError::Failed { command: command.to_owned(), code: output.code, stderr: output.stderr.clone() }
}

/// Classifies a failed checkout on a disk with `room` free bytes. If git could not write a file, it does not report a
/// full disk, so the free space decides.
pub(crate) fn checkout_failure(output: &GitOutput, room: u64) -> GitError {
    let unwritten = output.stderr.lines().find(|line| line.contains(UNWRITTEN));
    match unwritten {
        Some(line) if room < NO_ROOM => GitError::NoSpace(line.to_owned()),
        Some(_) | None => local_failure("read-tree", output),
    }
}

/// Returns git's line about an object that it refuses: `error: object <id>: <rule>: <what is wrong>`.
fn refused_object(line: &str) -> Option<&str> {
    let (id, rest) = line.strip_prefix("error: object ")?.split_once(": ")?;
    let (rule, _) = rest.split_once(": ")?;
    let hex = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hex && rule.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(stderr: &str) -> GitOutput {
        GitOutput { code: 128, stdout: Vec::new(), truncated: false, stderr: stderr.to_owned() }
    }

    fn sorted(stderr: &str) -> GitError {
        remote_failure("fetch", &output(stderr), "https://x/archived.git")
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
    fn a_checkout_that_cannot_write_on_a_nearly_full_disk_needs_room() {
        let stderr =
            "error: unable to write file big8.txt\nerror: unable to write file big9.txt\nfatal: Could not reset";
        match checkout_failure(&output(stderr), 900_000) {
            GitError::NoSpace(said) => assert_eq!(said, "error: unable to write file big8.txt"),
            other => panic!("{other:?}"),
        }
        let elsewhere = checkout_failure(&output(stderr), 1 << 32);
        assert!(matches!(elsewhere, GitError::Failed { .. }), "{elsewhere:?}");
        let other = checkout_failure(&output("fatal: failed to unpack tree object"), 0);
        assert!(matches!(other, GitError::Failed { .. }), "{other:?}");
    }

    #[test]
    fn what_passes_is_transient() {
        for stderr in [
            "fatal: unable to access 'https://x/': The requested URL returned error: 503",
            "fatal: unable to access 'https://x/': The requested URL returned error: 500",
            "fatal: unable to access 'https://x/archived.git/': Failed to connect to x port 1",
            "fatal: unable to access 'https://x/': Could not resolve host: github.com",
            "error: RPC failed; curl 18 transfer closed with outstanding read data remaining\nfatal: early EOF",
            "fatal: the remote end hung up unexpectedly",
            "remote: Internal Server Error\nEverything up-to-date",
            "fatal: https://x/info/refs not valid: is this a git repository?",
            "remote: fatal: write error: No space left on device\nerror: RPC failed; HTTP 500",
        ] {
            assert!(matches!(sorted(stderr), GitError::Transient(_)), "{stderr}");
        }
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
    fn remote_failures_are_sorted_by_what_to_do_next() {
        assert!(matches!(
            sorted("fatal: unable to access: The requested URL returned error: 403"),
            GitError::Denied(_)
        ));
        assert!(matches!(
            sorted("error: unable to read askpass response\nfatal: could not read Username for 'https://x'"),
            GitError::NoCredentials
        ));
        assert!(matches!(sorted("fatal: repository 'https://x/' not found"), GitError::Gone(_)));
        assert!(matches!(sorted("fatal: bad object"), GitError::Failed { .. }));
        match sorted("fatal: couldn't find remote ref refs/heads/nope") {
            GitError::Missing(name) => assert_eq!(name, "nope"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
    fn our_disk_and_a_refused_object_are_neither_the_networks_nor_githubs() {
        let full = "fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output";
        assert!(matches!(sorted(full), GitError::NoSpace(_)));
        let line = "error: object 7e79ae8f47d6d441e380ce0c342d2e27ed1217fb: hasDotgit: contains '.git'";
        match sorted(&format!("{line}\nfatal: fsck error in packed object")) {
            GitError::History(said) => assert_eq!(said, line),
            other => panic!("{other:?}"),
        }
    }
}
