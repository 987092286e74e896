//! Restores the branch with the result if it was deleted before a person asks for it again.

use crate::cli::local::{orders::Order, report::Report, session::Session};
use git::Given;
use std::path::Path;

impl Session {
    /// Returns the report after making its branch again, if the branch is gone and its commits are not in HEAD.
    pub async fn with_branch(&self, order: &Order, mut report: Report) -> anyhow::Result<Report> {
        let own = &self.repository.own;
        let (Some(branch), Some(head)) = (report.branch.clone(), report.head.clone()) else {
            return Ok(report);
        };
        if own.branch(&branch).await?.is_some() {
            return Ok(report);
        }
        if own.holds(&head).await? {
            let name = order.name();
            report.sentence = format!(
                "{name}: {}, and what is checked out holds the result",
                report.approved()
            );
            report.branch = None;
            return Ok(report);
        }
        // After git's clean-up of the person's repository, only the forge has the commits.
        if let Some(forge) = report
            .repository
            .as_deref()
            .map(Path::new)
            .filter(|forge| forge.exists())
        {
            own.copy(forge, &head).await?;
        }
        match own.give(&branch, &head, None).await? {
            Given::Done => Ok(report),
            Given::Taken => anyhow::bail!("the branch {branch} was made by somebody else meanwhile"),
            Given::Refused(why) => anyhow::bail!("git cannot make the branch {branch} again: {why}"),
        }
    }
}
