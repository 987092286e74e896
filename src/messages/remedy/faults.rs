//! What can be done about failures of GitHub, of the repository and of our own machine.

use crate::messages::{
    reasons,
    remedy::{code, fixed, plain},
};
use domain::blocked::Fault;

/// What can be done where GitHub said no.
pub(super) fn refused() -> Vec<String> {
    fixed(&["Compare GitHub's words with the repository's rules and the App's permissions, mend them, then resume"])
}

/// What can be done about a failure that is neither an agent's nor a verdict.
pub(super) fn actions(fault: &Fault) -> Vec<String> {
    match fault {
        Fault::Refused { .. } => refused(),
        Fault::Unreachable { .. } => fixed(&[
            "Look at githubstatus.com, and ask whoever runs AutoBuild whether its machine reaches GitHub; when it does, \
             resume: what was finished before is kept",
        ]),
        Fault::History { said } => vec![
            format!(
                "Take the object that git names out of the default branch's history, then resume ({})",
                plain(said)
            ),
            "It could harm whoever checks the repository out, so AutoBuild makes no exception".to_owned(),
        ],
        Fault::Repository { what } => vec![format!(
            "Mend the repository, then resume ({})",
            plain(&reasons::repository_fault(what))
        )],
        Fault::DiskFull { .. } => {
            fixed(&["Ask whoever runs AutoBuild to make room on the disk of its data folder, then resume"])
        }
        Fault::NoProgram { program, .. } => vec![format!(
            "Ask whoever runs AutoBuild to install {} on its machine, where the service's `PATH` finds it, then resume",
            code(program)
        )],
        Fault::Isolation { .. } => fixed(&[
            "Ask whoever runs AutoBuild why its machine no longer isolates programs (bubblewrap, user namespaces, Landlock), \
             then resume",
        ]),
        Fault::Database { .. } => {
            fixed(&["Ask whoever runs AutoBuild to look after its database, which its log says more of, then resume"])
        }
        Fault::Unreadable { .. } => fixed(&[
            "Ask whoever runs AutoBuild whether an older version was started after a newer one: the newer one reads what \
             it stored; then resume",
            "If that is not it, its log names what cannot be read: that is worth a bug report",
        ]),
        Fault::Git { said } => vec![format!(
            "Ask whoever runs AutoBuild to compare git's words with its machine and its log, then resume ({})",
            plain(said)
        )],
        Fault::Machine { .. } => {
            fixed(&["Ask whoever runs AutoBuild to look after its machine, which its log says more of, then resume"])
        }
        Fault::Defect { what } => vec![format!(
            "Resume; if it comes back, that is worth a bug report with these words ({})",
            plain(&reasons::defect(what))
        )],
    }
}
