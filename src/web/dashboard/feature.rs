//! A Feature's page: its state, its waves, its tasks turn by turn, its agents' runs, and its waiting steps.

use crate::{
    engine::view::{FeatureView, WorkView},
    messages,
    messages::{Links, Medium, count},
    store::{EffectState, RunState, StoredEffect, StoredRun},
    web::dashboard::{
        graph,
        parts::{date, minute, money, took},
        plot::Plot,
        queue,
    },
};
use domain::{
    budget::dollars,
    cost::Cost,
    decision::Outcome,
    evidence::{Evidence, GateReport},
    ids::{Millis, RepoName, TaskId},
    problem::Severity,
    task::{Task, Turn},
};
use maud::{Markup, html};
use page_parts::{markdown, sentence};
use text::{secret::Secrets, shorten};
use url::form_urlencoded::byte_serialize;

/// The most steps that are listed.
const MOST_STEPS: usize = 50;
/// The most items of a verdict that are listed.
const MOST_ITEMS: usize = 20;
/// The most characters of a Gate's finding.
const LONGEST: usize = 400;

pub(super) struct FeaturePage<'a> {
    pub(super) web: &'a str,
    pub(super) secrets: &'a Secrets,
    /// The token of the forms of a viewer who may act.
    pub(super) token: Option<&'a str>,
    pub(super) view: &'a FeatureView,
    pub(super) work: &'a WorkView,
}

impl FeaturePage<'_> {
    pub(super) fn page(&self) -> Markup {
        let feature = &self.view.feature;
        let (spending, links) = (&self.view.spending, self.links());
        html! {
            h1 { (self.masked(messages::feature_name(feature))) " " span.number { (feature.key.name()) } }
            div { (markdown::render(&self.masked(&messages::status_head(feature, spending, &links)))) }
            (self.facts())
            (graph::waves(self.secrets, feature))
            @for report in messages::blocked_in_short(feature, Medium::Markdown) {
                section.box.changes_requested { div.body { (markdown::render(&self.masked(&report))) (self.way_on()) } }
            }
            @if !feature.tasks.is_empty() { h2 { "Tasks" } }
            @for task in &feature.tasks { (self.task(task)) }
            (self.runs_of(None))
            (self.money())
            (self.steps())
        }
    }

    /// Words how a person resumes after a block, which is done on the forge and not on this page.
    fn way_on(&self) -> Markup {
        let issue = self.view.feature.key.issue;
        html! {
            p { "To go on, comment " code { "/autobuild resume" } " on " (self.linked(&format!("/issues/{issue}"), &format!("#{issue}"))) "." }
        }
    }

    /// Plots the cost of the runs over time, against the repository's limit.
    fn money(&self) -> Markup {
        let runs = self.work.runs.iter();
        let ended = runs.filter_map(|run| Some((run.ended_at?, run.usage.usd_micros?)));
        let mut ended: Vec<(Millis, u64)> = ended.collect();
        ended.sort_unstable();
        let (Some((first, _)), Some((last, _))) = (ended.first().copied(), ended.last().copied()) else {
            return html! {};
        };
        let began = self.work.runs.iter().map(|run| run.started_at).min().unwrap_or(first);
        let plot = Plot {
            id: "spent-over-time",
            title: "Spent over time",
            spent: ended,
            limit: self.view.limit,
            edges: (began, last),
            now: last,
            when: minute,
        };
        html! { h2 { "Spending" } (plot.draw()) }
    }

    /// Masks secrets in a text of agents, people or programs.
    fn masked(&self, text: &str) -> String {
        self.secrets.mask(text)
    }

    fn links(&self) -> Links {
        // Without a name, the links lead to GitHub's first page.
        let unknown = RepoName { owner: String::new(), name: String::new() };
        Links::new(self.web, self.view.name.as_ref().unwrap_or(&unknown))
    }

    fn address(&self, tail: &str) -> Option<String> {
        let name = self.view.name.as_ref()?;
        Some(format!("{}/{name}{tail}", self.web.trim_end_matches('/')))
    }

    fn facts(&self) -> Markup {
        let feature = &self.view.feature;
        let issue = feature.key.issue;
        let spent: Cost = self.view.spending.total();
        html! {
            dl.facts {
                dt { "Issue" }
                dd { (self.linked(&format!("/issues/{issue}"), &self.masked(&format!("#{issue} {}", feature.snapshot.title)))) }
                @if let Some(name) = &self.view.name { dt { "Repository" } dd { (name) } }
                @if let Some(pull) = feature.pull {
                    dt { "Pull request" } dd { (self.linked(&format!("/pull/{pull}"), &format!("#{pull}"))) }
                }
                @if let Some(integration) = &feature.integration {
                    dt { "Branch" } dd { code { (integration.branch) } }
                }
                dt { "Cost so far" } dd { (messages::cost(&spent)) ", " (count(spent.agent_runs, "agent run")) }
                dt { "Labelled" } dd { (date(feature.snapshot.at)) " by " (feature.snapshot.labelled_by.login) }
            }
        }
    }

    fn linked(&self, tail: &str, words: &str) -> Markup {
        html! {
            @match self.address(tail) { Some(address) => { a href=(address) { (words) } } None => { (words) } }
        }
    }

    fn task(&self, task: &Task) -> Markup {
        html! {
            article.box id=(task.id) {
                div.head {
                    b { (task.id) " " (self.masked(&task.plan.name)) } " " (page_parts::badge(task.state.word(), messages::task_state(task)))
                    " · " (task.plan.kind)
                    @if let Some(pull) = task.pull { " · " (self.linked(&format!("/pull/{pull}"), &format!("#{pull}"))) }
                    @if let Some(turn) = task.turns.last() {
                        " · turn " (turn.number) " of " (task.limit.max(turn.number.0))
                    }
                    " · " (money(&self.view.spending.of_task(task.id)))
                }
                div.body {
                    @for turn in &task.turns { (self.turn_of(task, turn, task.turns.last().is_some_and(|last| last.number == turn.number))) }
                    @if task.turns.is_empty() { p.muted { "No turn yet." } }
                    (self.runs_of(Some(task.id)))
                }
            }
        }
    }

    fn runs_of(&self, task: Option<TaskId>) -> Markup {
        let runs: Vec<&StoredRun> = self.work.runs.iter().filter(|run| run.task == task).collect();
        let (id, title, label) = match task {
            Some(task) => (format!("runs-{task}"), "Agent runs", format!("Agent runs of {task}")),
            None => ("runs-plan".to_owned(), "Planner runs", "Planner runs".to_owned()),
        };
        let is_open = runs.iter().any(|run| run.state == RunState::Running);
        html! {
            @if !runs.is_empty() {
                details id=(id) open[is_open] {
                    summary { (title) " (" (runs.len()) ")" }
                    div.scroll tabindex="0" role="region" aria-label=(label) {
                        table.list {
                            thead { tr { th { "role" } th { "turn" } th { "agent" } th { "state" } th { "prompt" } th { "time" } th { "cost" } th { "began" } } }
                            tbody { @for run in &runs { (self.run(run)) } }
                        }
                    }
                    @for calls in runs.iter().filter_map(|run| self.work.calls.get(&run.id)) {
                        ul { @for call in calls { li { code { (self.masked(call)) } } } }
                    }
                }
            }
        }
    }

    fn run(&self, run: &StoredRun) -> Markup {
        let seen = self.view.spending.at_work.iter().find(|work| {
            run.state == RunState::Running && work.task == run.task && work.turn == run.turn && work.role == run.role
        });
        let how = self.masked(run.failure.as_deref().unwrap_or(&run.state.to_string()));
        let cost = run.usage.usd_micros.map_or_else(|| "–".to_owned(), dollars);
        let id: String = byte_serialize(run.id.as_bytes()).collect();
        let address = format!("/features/{}/run?id={id}", run.feature);
        html! {
            tr {
                td data-label="role" { a href=(address) { (run.role) } }
                td data-label="turn" { (run.turn) }
                td data-label="agent" { (run.agent) @if let Some(model) = &run.model { " " span.muted { (model) } } }
                td data-label="state" {
                    (how)
                    @if let Some(seen) = seen { ", " (count(seen.seen.tool_calls, "tool call")) }
                }
                td data-label="prompt" { (count(run.prompt_chars, "character")) }
                td data-label="time" { @if let Some(ended) = run.ended_at { (took(run.started_at, ended)) } @else { "–" } }
                td data-label="cost" { (cost) }
                td data-label="began" { (date(run.started_at)) }
            }
        }
    }

    /// Returns one turn; only the last is unfolded.
    fn turn_of(&self, task: &Task, turn: &Turn, is_last: bool) -> Markup {
        let verdict = turn.verdict.as_ref();
        let said = verdict.and_then(|verdict| verdict.decision.as_ref()).map(|decision| decision.summary.as_str());
        let (class, word) = match verdict.map(|verdict| verdict.outcome) {
            Some(Outcome::Approve) => ("approved", "approved"),
            Some(Outcome::Feedback) => ("changes_requested", "changes requested"),
            None => ("in_progress", "no verdict yet"),
        };
        html! {
            details.turn id=(format!("{}-{}", task.id, turn.number)) open[is_last] {
                summary {
                    "Turn " (turn.number) " " (page_parts::badge(class, word)) " "
                    span.muted { (date(turn.started_at)) @if let Some(ended) = turn.ended_at { ", " (took(turn.started_at, ended)) } }
                }
                @if let Some(report) = &turn.report { p.says { b { "Player: " } (self.masked(&report.summary)) } }
                @if let Some(gates) = &turn.gates { (self.evidence(&format!("Gates of {}, turn {}", task.id, turn.number), gates)) }
                @if let Some(said) = said { p.says { b { "Coach: " } (self.masked(said)) } }
                @if let Some(verdict) = verdict {
                    @if !verdict.items.is_empty() {
                        ul { @for item in verdict.items.iter().take(MOST_ITEMS) {
                            li.says { (weight(item.severity)) ": " (sentence(&self.masked(&messages::problem(item)))) @if let Some(file) = &item.file { " (" code { (self.masked(file)) } ")" } }
                        } }
                    }
                }
            }
        }
    }

    fn evidence(&self, title: &str, gates: &GateReport) -> Markup {
        let line = |evidence: &Evidence| match evidence {
            Evidence::Passed(finding) | Evidence::Failed(finding) => {
                shorten::middle(&self.masked(&messages::finding(finding)), LONGEST)
            }
            Evidence::Absent(absence) => self.masked(&messages::absence(absence)),
        };
        html! {
            div.scroll tabindex="0" role="region" aria-label=(title) {
                table.list { tbody {
                    @for (name, evidence) in messages::every_gate(gates) {
                        tr { td { (name) } td { (page_parts::badge(colour(evidence), evidence.word())) } td.says { (sentence(&line(evidence))) } }
                    }
                } }
            }
        }
    }

    /// Returns the open steps, each with its wait, and the failed ones.
    fn steps(&self) -> Markup {
        let all = self.work.effects.iter();
        let (failed, effects): (Vec<&StoredEffect>, Vec<&StoredEffect>) =
            all.partition(|effect| effect.state == EffectState::Failed);
        html! {
            @if !failed.is_empty() { h2 { "Failed steps" } }
            @for effect in failed.iter().rev().take(MOST_STEPS) {
                (queue::failed(self.secrets, self.token, effect, queue::StepPlace::OnItsFeature))
            }
            @if !effects.is_empty() {
                h2 { "Steps" }
                div.scroll tabindex="0" role="region" aria-label="Steps" {
                    table.list {
                        thead { tr { th { "step" } th { "about" } th { "state" } th { "not before" } th { "tries" } th { "why it waits" } } }
                        tbody {
                            @for effect in effects.iter().take(MOST_STEPS) {
                                tr id=(format!("step-{}", effect.seq)) {
                                    td data-label="step" { (queue::name_of_step(&effect.kind)) }
                                    td data-label="about" { (queue::subject(effect.feature, &effect.subject)) }
                                    td data-label="state" { (page_parts::badge(step_colour(effect.state), &effect.state.to_string())) }
                                    td data-label="not before" { (date(effect.run_at)) }
                                    td data-label="tries" { (effect.attempt) }
                                    td.says data-label="why it waits" { (self.masked(effect.last_error.as_deref().unwrap_or("–"))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn weight(severity: Severity) -> &'static str {
    match severity {
        Severity::MustFix => "must fix",
        Severity::ShouldFix => "should fix",
        Severity::NiceToHave => "nice to have",
    }
}

fn colour(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Passed(_) => "success",
        Evidence::Failed(_) => "failure",
        Evidence::Absent(_) => "pending",
    }
}

fn step_colour(state: EffectState) -> &'static str {
    match state {
        EffectState::Ready => "queued",
        EffectState::Running => "building",
        EffectState::Failed => "failure",
        EffectState::Done | EffectState::Cancelled => "pending",
    }
}

#[cfg(test)]
mod tests {
    use super::FeaturePage;
    use crate::{
        engine::view::{FeatureView, WorkView},
        store::{EffectState, StoredEffect},
        web::dashboard::tests::labelled,
    };
    use domain::{
        cost::Spending,
        effect::Lane,
        feature::Feature,
        ids::{FeatureKey, InstallationId, IssueNumber, Millis, RepoId},
    };
    use secrecy::SecretString;
    use text::secret::Secrets;

    const SECRET: &str = "hush-hush-0123456789";

    fn feature() -> Feature {
        let key = FeatureKey { repo: RepoId(22), issue: IssueNumber(42), run: 1 };
        labelled(key, InstallationId(11), &format!("Use {SECRET}"))
    }

    fn failed() -> StoredEffect {
        StoredEffect {
            seq: 1,
            id: "e".to_owned(),
            kind: "plan".to_owned(),
            lane: Lane::Agent,
            subject: "22/42/1".to_owned(),
            feature: None,
            installation: InstallationId(11),
            repo: None,
            payload: "{}".to_owned(),
            state: EffectState::Failed,
            run_at: Millis(0),
            attempt: 0,
            crashes: 0,
            fence: 1,
            worker: None,
            lease_until: None,
            external_id: None,
            last_error: Some(format!("could not read {SECRET}")),
            parked: 0,
            parked_since: None,
            waits_for: None,
        }
    }

    #[test]
    fn no_secret_is_shown_whoever_wrote_it() {
        let view = FeatureView { feature: feature(), spending: Spending::default(), limit: None, name: None };
        let work = WorkView { effects: vec![failed()], ..WorkView::default() };
        let page = |secrets: &Secrets| {
            let (web, token, view, work) = ("https://github.com", Some("token"), &view, &work);
            let shown = FeaturePage { web, secrets, token, view, work };
            shown.page().0
        };
        let shown = page(&Secrets::default()).matches(SECRET).count();
        assert!(shown >= 3, "title, issue and step: {shown}");
        let masked = page(&Secrets::new(&[SecretString::from(SECRET)]));
        assert!(!masked.contains("hush") && masked.contains("could not read"), "{masked}");
    }
}
