//! Follows another process that works on the repository and takes this order too.

use crate::cli::{
    local::{
        lock::{Holder, Lock, LockOutcome},
        orders::Order,
        report::Report,
        session::Session,
        work::Screen,
    },
    stage::{news::News, picture::spinner, stop::Stop},
};
use domain::ids::FeatureKey;
use std::{collections::BTreeMap, time::Duration};

/// The time between two reads of the report and the lock.
const LOOK: Duration = Duration::from_millis(300);

pub enum FollowOutcome {
    Rests(Box<Report>),
    /// The other process stopped: this process has the lock now.
    Free(Lock),
    /// The person ended this command; the other process continues.
    Interrupted,
}

impl Session {
    /// Shows the other process's work on this order until the order rests.
    pub(super) async fn follow(
        &self,
        order: &Order,
        holder: &Holder,
        stop: &mut Stop,
    ) -> anyhow::Result<FollowOutcome> {
        let (orders, screen) = (&self.orders, &self.screen);
        let name = order.name();
        let what = if holder.agent == order.agent || holder.agent.is_empty() {
            format!("and takes {name} too; Ctrl-C leaves it to that process")
        } else {
            format!("with the agent {}; {name} waits until it is done", holder.agent)
        };
        let (process, other) = (holder.process, &holder.command);
        screen.note(&format!("`autobuild {other}` (process {process}) works on this repository {what}."));
        let mut news: BTreeMap<FeatureKey, News> = BTreeMap::new();
        let _cleared = ClearOnDrop(screen);
        for beat in 0.. {
            let report = orders.report(order.number).await?;
            if report.answers(order) {
                return Ok(FollowOutcome::Rests(Box::new(report)));
            }
            for (feature, spending) in orders.features(order.number).await? {
                let entries = news.entry(feature.key).or_default().take(&feature, &spending);
                // Events from before this command are not shown.
                for entry in entries.iter().filter(|_| beat > 0 && !screen.json && !screen.quiet) {
                    entry.masked(&self.secrets).print(&screen.terminal, "", screen.verbose);
                }
            }
            let (spinner, tasks) = (spinner(beat), report.approved());
            screen.below(&format!("{spinner} process {process} works; {name}: {tasks}"));
            if let LockOutcome::Taken(lock) = Lock::ask(&self.repository.folder, self.command, &order.agent)? {
                // The order may have come to rest since the last look.
                let report = orders.report(order.number).await?;
                return Ok(if report.answers(order) {
                    FollowOutcome::Rests(Box::new(report))
                } else {
                    FollowOutcome::Free(lock)
                });
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stop.requested() => return Ok(FollowOutcome::Interrupted),
            }
        }
        Ok(FollowOutcome::Interrupted)
    }
}

/// A guard that clears the lines below the text, however following ends.
struct ClearOnDrop<'a>(&'a Screen);

impl Drop for ClearOnDrop<'_> {
    fn drop(&mut self) {
        self.0.terminal.clear();
    }
}
