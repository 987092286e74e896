//! The actions for failures of GitHub, of the repository and of the service's own machine.

use crate::messages::{
    reasons,
    remedy::{code, fixed, plain},
};
use domain::blocked::{Fault, RepositoryFault};

pub(super) fn refused() -> Vec<String> {
    fixed(&["Compare these words with the repository's rules and the App's permissions, fix them, then resume"])
}

/// Returns the actions for a failure that is neither an agent's nor a verdict.
pub(super) fn actions(fault: &Fault) -> Vec<String> {
    match fault {
        Fault::Refused { .. } => refused(),
        Fault::Unreachable { .. } => fixed(&[
            "Look at githubstatus.com, and find out whether the machine that runs AutoBuild reaches GitHub; when it does, \
             resume: what was finished before is kept",
        ]),
        Fault::History { said } => vec![
            format!(
                "Take the object that git names out of the default branch's history, then resume ({})",
                plain(said)
            ),
            "It could harm whoever checks the repository out, so AutoBuild makes no exception".to_owned(),
        ],
        Fault::Repository {
            what: RepositoryFault::ForeignBranch { branch },
        } => vec![format!("Rename or delete the branch {}, then resume", code(branch))],
        Fault::Repository { what } => vec![format!(
            "Fix the repository, then resume ({})",
            plain(&reasons::repository_fault(what))
        )],
        Fault::DiskFull { .. } => fixed(&["Make room on the disk of AutoBuild's data folder, then resume"]),
        Fault::NoProgram { program, .. } => vec![format!(
            "Install {} on the machine that runs AutoBuild, where its `PATH` finds it, then resume",
            code(program)
        )],
        Fault::Isolation { .. } => fixed(&[
            "Find out why the machine that runs AutoBuild no longer isolates programs (bubblewrap, user namespaces, Landlock), \
             then resume",
        ]),
        Fault::Database { .. } => fixed(&["Look after AutoBuild's database, of which its log says more, then resume"]),
        Fault::Unreadable { .. } => fixed(&[
            "Find out whether an older version of AutoBuild was started after a newer one: the newer one reads what it \
             stored; then resume",
            "If that is not it, its log names what cannot be read: that is worth a bug report",
        ]),
        Fault::Git { .. } => fixed(&["Compare git's words with the log and the machine of AutoBuild, then resume"]),
        Fault::Machine { .. } => {
            fixed(&["Look after the machine that runs AutoBuild, of which its log says more, then resume"])
        }
        Fault::Defect { what } => vec![format!(
            "Resume; if it comes back, that is worth a bug report with these words ({})",
            plain(&reasons::defect(what))
        )],
    }
}
