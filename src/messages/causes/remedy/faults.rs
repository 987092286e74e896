//! The actions for failures of GitHub, of the repository and of the service's own machine.

use crate::messages::causes::{
    reasons,
    reasons::agent_failures,
    remedy::{code, fixed, plain},
};
use domain::blocked::{Failure, RepositoryFault};

/// Returns the actions for a failure that is neither an agent's nor a verdict.
pub(crate) fn actions(failure: &Failure) -> Vec<String> {
    match failure {
        Failure::GitHubRefused { .. } | Failure::GitHubUnclear { .. } => {
            fixed(&["Compare these words with the repository's rules and the App's permissions, fix them, then resume"])
        }
        Failure::GitHubUnreachable { .. } => fixed(&[
            "Look at githubstatus.com, and find out whether the machine that runs AutoBuild reaches GitHub; when it does, \
             resume: what was finished before is kept",
        ]),
        Failure::History { message } => vec![
            format!(
                "Take the object that git names out of the default branch's history, then resume ({})",
                plain(message)
            ),
            "It could harm whoever checks the repository out, so AutoBuild makes no exception".to_owned(),
        ],
        Failure::Repository { fault: RepositoryFault::ForeignBranch { branch } } => {
            vec![format!("Rename or delete the branch {}, then resume", code(branch))]
        }
        Failure::Repository { fault } => {
            vec![format!("Fix the repository, then resume ({})", plain(&reasons::repository_fault(fault)))]
        }
        Failure::DiskFull { .. } => fixed(&["Make room on the disk of AutoBuild's data folder, then resume"]),
        Failure::NoProgram { program, .. } => vec![format!(
            "Install {} on the machine that runs AutoBuild, where its `PATH` finds it, then resume",
            code(program)
        )],
        Failure::Isolation { .. } => fixed(&[
            "Find out why the machine that runs AutoBuild no longer isolates programs (bubblewrap, user namespaces, Landlock), \
             then resume",
        ]),
        Failure::Database { .. } | Failure::DatabaseRefused { .. } => {
            fixed(&["Look after AutoBuild's database, of which its log says more, then resume"])
        }
        Failure::Unreadable { .. } => fixed(&[
            "Find out whether an older version of AutoBuild was started after a newer one: the newer one reads what it \
             stored; then resume",
            "If that is not it, its log names what cannot be read: that is worth a bug report",
        ]),
        Failure::Git { .. } => fixed(&["Compare git's words with the log and the machine of AutoBuild, then resume"]),
        Failure::Machine { .. } => {
            fixed(&["Look after the machine that runs AutoBuild, of which its log says more, then resume"])
        }
        Failure::Defect { defect } => vec![format!(
            "Resume; if it comes back, that is worth a bug report with these words ({})",
            plain(&reasons::defect(defect))
        )],
        agent_failures!() => Vec::new(),
    }
}
