//! The page about money and success: this month's spending against the limits, and the success of the last Features.

use crate::{
    engine::figures::{Figures, Success},
    messages::count,
    store::DaySpent,
    web::dashboard::{
        parts::{day, repository},
        plot::Plot,
    },
};
use domain::{
    budget::dollars,
    ids::{InstallationId, Millis, RepoId},
};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The most plots of installations.
const MOST_PLOTS: usize = 20;

pub(super) fn content(figures: &Figures) -> Markup {
    let payers: BTreeSet<InstallationId> = figures.spent.iter().map(|spent| spent.installation).collect();
    let unknown = figures.spent.iter().map(|spent| spent.unknown);
    let unknown = unknown.fold(0, u32::saturating_add);
    html! {
        h1 { "Spending" }
        p.muted { "In " (figures.month) ", UTC." @if unknown > 0 { " The cost of " (count(unknown, "agent run")) " is unknown." } }
        (plot(figures, "plot-all", "All work", figures.server_limit, |_| true))
        @if payers.len() > 1 || !figures.installation_limits.is_empty() {
            @for payer in payers.iter().take(MOST_PLOTS) {
                (plot(figures, &format!("plot-{payer}"), &owner(figures, *payer), figures.installation_limits.get(payer).copied(), |spent| spent.installation == *payer))
            }
        }
        (by_repository(figures))
        h2 { "How it goes" }
        (success(&figures.success))
    }
}

fn plot(figures: &Figures, id: &str, title: &str, limit: Option<u64>, of: impl Fn(&DaySpent) -> bool) -> Markup {
    let mut days: BTreeMap<Millis, u64> = BTreeMap::new();
    for spent in figures.spent.iter().filter(|spent| of(spent)) {
        let sum = days.entry(spent.day).or_default();
        *sum = sum.saturating_add(spent.usd_micros);
    }
    Plot {
        id,
        title,
        spent: days.into_iter().collect(),
        limit,
        edges: (figures.month.start(), figures.month.next().start()),
        now: figures.today.plus(86_400_000),
        when: day,
    }
    .draw()
}

/// Returns the installation's owner, taken from the name of one of its repositories, if one is known.
fn owner(figures: &Figures, payer: InstallationId) -> String {
    let mut repos = figures.spent.iter().filter(|spent| spent.installation == payer);
    let name = repos.find_map(|spent| figures.names.get(&spent.repo));
    name.map_or_else(|| format!("Installation {payer}"), |name| name.owner.clone())
}

fn by_repository(figures: &Figures) -> Markup {
    let mut rows: BTreeMap<RepoId, (u64, u32)> = BTreeMap::new();
    for spent in &figures.spent {
        let (micros, runs) = rows.entry(spent.repo).or_default();
        *micros = micros.saturating_add(spent.usd_micros);
        *runs = runs.saturating_add(spent.runs);
    }
    let name = |repo: &RepoId| repository(figures.names.get(repo), *repo);
    html! {
        @if !rows.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Spending by repository" {
                table.list {
                    thead { tr { th { "repository" } th { "agent runs" } th { "spent" } } }
                    tbody { @for (repo, (micros, runs)) in &rows {
                        tr { td data-label="repository" { (name(repo)) } td data-label="agent runs" { (runs) } td data-label="spent" { (dollars(*micros)) } }
                    } }
                }
            }
        }
    }
}

/// Returns each figure with the numbers that it is computed from.
fn success(success: &Success) -> Markup {
    let share = |part: u32, whole: u32, words: &str| match whole {
        0 => "not enough yet".to_owned(),
        _ => format!("{} % ({part} of {words})", part.saturating_mul(100) / whole),
    };
    let turns = match success.tasks {
        0 => "not enough yet".to_owned(),
        tasks => {
            let tenths = success.turns.saturating_mul(10) / tasks;
            format!("{}.{} ({})", tenths / 10, tenths % 10, count(tasks, "merged task"))
        }
    };
    html! {
        p.muted { "Of the last 200 Features that ended." }
        dl.facts {
            dt { "Merged" } dd { (share(success.completed, success.ended, &count(success.ended, "Feature"))) }
            dt { "Merged, and nobody had to help" } dd { (share(success.alone, success.ended, &count(success.ended, "Feature"))) }
            dt { "Turns for a task" } dd { (turns) }
            dt { "Approvals that did not last" } dd { (share(success.overturned, success.approvals, &count(success.approvals, "approval"))) }
            dt { "Refusals that a person overruled" } dd { (share(success.waived, success.refusals, &count(success.refusals, "refusal"))) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::success;
    use crate::engine::figures::Success;

    #[test]
    fn figures_name_what_they_are_counted_from_and_nothing_is_made_of_nothing() {
        let shown = success(&Success {
            ended: 3,
            completed: 2,
            alone: 1,
            tasks: 4,
            turns: 6,
            approvals: 4,
            ..Success::default()
        })
        .0;
        for said in
            ["66 % (2 of 3 Features)", "33 % (1 of 3 Features)", "1.5 (4 merged tasks)", "0 % (0 of 4 approvals)"]
        {
            assert!(shown.contains(said), "{said}: {shown}");
        }
        assert_eq!(shown.matches("not enough yet").count(), 1, "{shown}");
        assert_eq!(success(&Success::default()).0.matches("not enough yet").count(), 5);
    }
}
