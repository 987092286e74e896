//! `GET /metrics`: cost and outcome of agents' runs, for Prometheus. It needs the administrator's token.

use crate::{
    store::{ProviderTrouble, RunTotal, Store, StoreError, Tally},
    web::inbox::Inbox,
};
use axum::{
    extract::State,
    http::{
        HeaderMap, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use domain::ids::Millis;
use std::{fmt::Write, sync::Arc};

/// The exposition format of Prometheus.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The metric's name.
    pub name: &'static str,
    /// The metric's type: `counter` if it only grows, else `gauge`.
    pub kind: &'static str,
    /// The metric's description.
    pub about: &'static str,
}

const fn counter(name: &'static str, about: &'static str) -> Family {
    let kind = "counter";
    Family { name, kind, about }
}

const fn gauge(name: &'static str, about: &'static str) -> Family {
    let kind = "gauge";
    Family { name, kind, about }
}

const AGENT_RUNS: Family = counter("autobuild_agent_runs_total", "Agent runs that ended, by outcome.");
const AGENT_COST_USD: Family = counter(
    "autobuild_agent_cost_usd_total",
    "Cost of agent runs in US dollars, where known.",
);
const AGENT_COST_ESTIMATED_RUNS: Family = counter(
    "autobuild_agent_cost_estimated_runs_total",
    "Agent runs whose cost is an estimate.",
);
const AGENT_COST_UNKNOWN_RUNS: Family = counter(
    "autobuild_agent_cost_unknown_runs_total",
    "Agent runs whose cost is unknown.",
);
const AGENT_SECONDS: Family = counter("autobuild_agent_seconds_total", "Duration of agent runs.");
const AGENT_TOKENS: Family = counter("autobuild_agent_tokens_total", "Tokens of agent runs, by price class.");
const AGENT_RUNS_OPEN: Family = gauge("autobuild_agent_runs_open", "Agent runs that have not ended.");
const EFFECTS: Family = gauge("autobuild_effects", "Work that is not done, by state.");
const MODEL_API_FAILURES: Family = gauge(
    "autobuild_model_api_failures",
    "Failures in a row of a model API that does not answer now.",
);

/// Every metric.
pub static FAMILIES: [Family; 9] = [
    AGENT_RUNS,
    AGENT_COST_USD,
    AGENT_COST_ESTIMATED_RUNS,
    AGENT_COST_UNKNOWN_RUNS,
    AGENT_SECONDS,
    AGENT_TOKENS,
    AGENT_RUNS_OPEN,
    EFFECTS,
    MODEL_API_FAILURES,
];

/// `GET /metrics`.
pub(super) async fn metrics(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    match by_token(&inbox, &headers) {
        Some(Shown::Right) => {}
        Some(Shown::Wrong) | None => {
            let how = "show AUTOBUILD_ADMIN_TOKEN as a bearer token\n";
            return (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")], how).into_response();
        }
    }
    match gather(inbox.store(), inbox.now()).await {
        Ok(text) => ([(CONTENT_TYPE, FORMAT)], text).into_response(),
        Err(error) => {
            tracing::warn!(%error, "the figures could not be read");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n").into_response()
        }
    }
}

/// The validity of the token that a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The token is right.
    Right,
    /// The token is wrong.
    Wrong,
}

/// Checks the token that a request carries; `None` if it carries none.
pub(super) fn by_token(inbox: &Inbox, headers: &HeaderMap) -> Option<Shown> {
    let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer "));
    let (admin, shown) = inbox.admin().zip(shown)?;
    Some(match admin.is_token(shown) {
        true => Shown::Right,
        false => Shown::Wrong,
    })
}

async fn gather(store: &Store, now: Millis) -> Result<String, StoreError> {
    let totals = store.run_totals().await?;
    let troubles = store.troubled_providers().await?;
    let tally = store.tally(None, now).await?;
    Ok(page(&totals, &troubles, &tally))
}

fn page(totals: &[RunTotal], troubles: &[ProviderTrouble], tally: &Tally) -> String {
    let mut page = Page::default();
    runs(&mut page, totals);
    work(&mut page, troubles, tally);
    page.0
}

/// The text that Prometheus reads.
#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, family: &Family, lines: Vec<(String, String)>) {
        let Family { name, kind, about } = family;
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
        for (labels, value) in lines {
            let _ = writeln!(self.0, "{name}{{{labels}}} {value}");
        }
    }
}

/// Writes what agents' runs used.
fn runs(page: &mut Page, totals: &[RunTotal]) {
    let (open, ended): (Vec<&RunTotal>, Vec<&RunTotal>) = totals.iter().partition(|total| total.outcome == "running");
    let counted = |count: &dyn Fn(&RunTotal) -> String| -> Vec<(String, String)> {
        ended.iter().map(|total| (labels(total), count(total))).collect()
    };
    page.family(&AGENT_RUNS, counted(&|total| total.cost.agent_runs.to_string()));
    page.family(
        &AGENT_COST_USD,
        counted(&|total| micros(total.cost.usd_micros.unwrap_or(0))),
    );
    page.family(
        &AGENT_COST_ESTIMATED_RUNS,
        counted(&|total| total.cost.estimated_runs.to_string()),
    );
    page.family(
        &AGENT_COST_UNKNOWN_RUNS,
        counted(&|total| total.cost.unknown_runs.to_string()),
    );
    page.family(
        &AGENT_SECONDS,
        counted(&|total| format!("{}.{:03}", total.cost.agent_ms / 1_000, total.cost.agent_ms % 1_000)),
    );
    page.family(&AGENT_TOKENS, ended.iter().flat_map(|total| tokens(total)).collect());
    let running: u32 = open.iter().map(|total| total.cost.agent_runs).sum();
    page.family(
        &AGENT_RUNS_OPEN,
        vec![("source=\"ledger\"".to_owned(), running.to_string())],
    );
}

/// Writes the numbers of waiting steps, and what they wait for.
fn work(page: &mut Page, troubles: &[ProviderTrouble], tally: &Tally) {
    let states = [
        ("due", tally.due),
        ("waiting", tally.waiting),
        ("running", tally.running),
    ];
    page.family(
        &EFFECTS,
        states
            .map(|(state, count)| (format!("state=\"{state}\""), count.to_string()))
            .to_vec(),
    );
    let trouble = |trouble: &ProviderTrouble| {
        let labels = format!("provider=\"{}\",cause=\"{}\"", escaped(&trouble.name), trouble.cause);
        (labels, trouble.failures.to_string())
    };
    page.family(&MODEL_API_FAILURES, troubles.iter().map(trouble).collect());
}

fn labels(total: &RunTotal) -> String {
    format!(
        "role=\"{}\",agent=\"{}\",model=\"{}\",outcome=\"{}\"",
        escaped(&total.role),
        escaped(&total.agent),
        escaped(&total.model),
        escaped(&total.outcome)
    )
}

fn tokens(total: &RunTotal) -> Vec<(String, String)> {
    let tokens = total.cost.tokens;
    let kinds = [
        ("input", tokens.input),
        ("cached", tokens.cached),
        ("cache_write", tokens.cache_write),
        ("output", tokens.output),
    ];
    kinds
        .map(|(kind, count)| (format!("{},kind=\"{kind}\"", labels(total)), count.to_string()))
        .to_vec()
}

fn micros(count: u64) -> String {
    format!("{}.{:06}", count / 1_000_000, count % 1_000_000)
}

/// Escapes and shortens a label's value, since names of models come from other programs.
fn escaped(value: &str) -> String {
    let short: String = value.chars().filter(|c| !c.is_control()).take(120).collect();
    short.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::cost::Cost;

    #[test]
    fn figures_are_counters_by_role_model_and_outcome() {
        let total = |outcome: &str, model: &str| RunTotal {
            role: "player".to_owned(),
            agent: "claude".to_owned(),
            model: model.to_owned(),
            outcome: outcome.to_owned(),
            cost: Cost {
                agent_runs: 2,
                agent_ms: 61_005,
                usd_micros: Some(1_250_000),
                ..Cost::default()
            },
        };
        let page = page(&[total("ok", "a\"b\nc"), total("running", "")], &[], &Tally::default());
        let labels = r#"{role="player",agent="claude",model="a\"bc",outcome="ok"}"#;
        for line in [
            format!("autobuild_agent_runs_total{labels} 2"),
            format!("autobuild_agent_cost_usd_total{labels} 1.250000"),
            format!("autobuild_agent_seconds_total{labels} 61.005"),
            "autobuild_agent_runs_open{source=\"ledger\"} 2".to_owned(),
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
        assert!(!page.contains("outcome=\"running\""), "{page}");
        let named: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        let known = FAMILIES.map(|family| format!("{} {}", family.name, family.kind));
        assert_eq!(named, known, "FAMILIES lists every figure");
    }
}
