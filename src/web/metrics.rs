//! `GET /metrics`: cost and outcome of agents' runs, for Prometheus. It needs the administrator's token.

use crate::{
    engine::{Engine, ingest::KIND, sweep::SweepStatus},
    store::{LEASES_LOST, LaneTally, ProviderTrouble, RunTotal, StoreError},
    web::{inbox::Inbox, token_tries::TokenCheck},
};
use axum::{
    extract::State,
    http::{
        HeaderMap, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};
use domain::{cost::Cost, ids::Millis};
use std::{fmt::Write, sync::Arc};

/// The exposition format of Prometheus.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub name: &'static str,
    /// The metric's type: `counter` if it only grows, else `gauge`.
    pub kind: &'static str,
    /// The metric's description.
    pub about: &'static str,
    lines: fn(&Figures) -> Vec<(String, String)>,
}

/// The values from which the metrics are computed.
struct Figures {
    totals: Vec<RunTotal>,
    troubles: Vec<ProviderTrouble>,
    lanes: Vec<LaneTally>,
    failed: u64,
    counters: Vec<(String, u64)>,
    fetched: u64,
    sweep: SweepStatus,
    now: Millis,
}

/// Every metric.
pub static FAMILIES: [Family; 19] = [
    Family {
        name: "autobuild_agent_runs_total",
        kind: "counter",
        about: "Agent runs that ended, by outcome.",
        lines: |figures| figures.of_ended(|cost| cost.agent_runs.to_string()),
    },
    Family {
        name: "autobuild_agent_cost_usd_total",
        kind: "counter",
        about: "Cost of agent runs in US dollars, where known.",
        lines: |figures| figures.of_ended(|cost| decimal(cost.usd_micros.unwrap_or(0), 6)),
    },
    Family {
        name: "autobuild_agent_cost_estimated_runs_total",
        kind: "counter",
        about: "Agent runs whose cost is an estimate.",
        lines: |figures| figures.of_ended(|cost| cost.estimated_runs.to_string()),
    },
    Family {
        name: "autobuild_agent_cost_unknown_runs_total",
        kind: "counter",
        about: "Agent runs whose cost is unknown.",
        lines: |figures| figures.of_ended(|cost| cost.unknown_runs.to_string()),
    },
    Family {
        name: "autobuild_agent_seconds_total",
        kind: "counter",
        about: "Duration of agent runs.",
        lines: |figures| figures.of_ended(|cost| decimal(cost.agent_ms, 3)),
    },
    Family {
        name: "autobuild_agent_tokens_total",
        kind: "counter",
        about: "Tokens of agent runs, by price class.",
        lines: |figures| figures.ended_runs().flat_map(tokens).collect(),
    },
    Family { name: "autobuild_agent_runs_open", kind: "gauge", about: "Agent runs that have not ended.", lines: open },
    Family {
        name: "autobuild_effects",
        kind: "gauge",
        about: "Work that is not done, by lane and state.",
        lines: effects,
    },
    Family {
        name: "autobuild_effects_failed",
        kind: "gauge",
        about: "Work that was given up and that an operator may try again.",
        lines: |figures| vec![("source=\"store\"".to_owned(), figures.failed.to_string())],
    },
    Family {
        name: "autobuild_oldest_due_seconds",
        kind: "gauge",
        about: "Age of the oldest work that is due and does not run, by lane.",
        lines: Figures::oldest_due,
    },
    Family {
        name: "autobuild_ingest_lag_seconds",
        kind: "gauge",
        about: "Age of the oldest delivery that was not read yet.",
        lines: |figures| vec![("source=\"store\"".to_owned(), figures.ingest_lag())],
    },
    Family {
        name: "autobuild_leases_lost_total",
        kind: "counter",
        about: "Leases that ended because their process was not heard of any more.",
        lines: |figures| figures.counter_lines(&[(LEASES_LOST, "source=\"store\"")]),
    },
    Family {
        name: "autobuild_features_total",
        kind: "counter",
        about: "Features that ended: all, those that were merged, and those of them without help from people.",
        lines: |figures| {
            figures.counter_lines(&[
                ("features_ended", "outcome=\"any\""),
                ("features_completed", "outcome=\"completed\""),
                ("features_completed_alone", "outcome=\"completed_alone\""),
            ])
        },
    },
    Family {
        name: "autobuild_reviews_total",
        kind: "counter",
        about: "Of ended Features: completed tasks with their turns, verdicts, approvals overturned and findings waived.",
        lines: |figures| {
            figures.counter_lines(&[
                ("tasks_completed", "what=\"completed_task\""),
                ("turns", "what=\"turn\""),
                ("approvals", "what=\"approval\""),
                ("approvals_overturned", "what=\"overturned_approval\""),
                ("refusals", "what=\"refusal\""),
                ("findings_waived", "what=\"waived_finding\""),
            ])
        },
    },
    Family {
        name: "autobuild_model_api_failures",
        kind: "gauge",
        about: "Failures in a row of a model API that does not answer now.",
        lines: |figures| figures.troubles.iter().map(failures).collect(),
    },
    Family {
        name: "autobuild_deliveries_fetched_total",
        kind: "counter",
        about: "Deliveries that never arrived and were fetched from GitHub's log.",
        lines: |figures| vec![("source=\"replay\"".to_owned(), figures.fetched.to_string())],
    },
    Family {
        name: "autobuild_facts_found_total",
        kind: "counter",
        about: "Facts that no delivery brought and that a sweep of unfinished Features found on GitHub.",
        lines: |figures| vec![("source=\"sweep\"".to_owned(), figures.sweep.found.to_string())],
    },
    Family {
        name: "autobuild_sweep_ended_timestamp_seconds",
        kind: "gauge",
        about: "When the last sweep ended, in seconds since 1970; 0 before the first.",
        lines: |figures| {
            let at = figures.sweep.ended_at.map_or(0, |at| at.0 / 1_000);
            vec![("source=\"sweep\"".to_owned(), at.to_string())]
        },
    },
    Family {
        name: "autobuild_sweep_failed_features",
        kind: "gauge",
        about: "Unfinished Features that the last sweep could not compare with GitHub.",
        lines: |figures| vec![("source=\"sweep\"".to_owned(), figures.sweep.failed.to_string())],
    },
];

/// `GET /metrics`.
pub(super) async fn metrics(State(inbox): State<Arc<Inbox>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = refuse_without_token(&inbox, &headers).await {
        return refusal;
    }
    match gather(&inbox.engine, inbox.now()).await {
        Ok(text) => ([(CONTENT_TYPE, FORMAT)], text).into_response(),
        Err(error) => {
            tracing::warn!(%error, "the figures could not be read");
            (StatusCode::SERVICE_UNAVAILABLE, "the figures could not be read from the database\n").into_response()
        }
    }
}

/// Returns the answer to a request that only the administrator may make; `None` if it carries the token.
pub(super) async fn refuse_without_token(inbox: &Inbox, headers: &HeaderMap) -> Option<Response> {
    match by_token(inbox, headers).await {
        Some(TokenCheck::Right) => None,
        Some(TokenCheck::TooMany) => Some(too_many_tokens()),
        Some(TokenCheck::Wrong) | None => {
            let how = "show AUTOBUILD_ADMIN_TOKEN as a bearer token\n";
            Some((StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")], how).into_response())
        }
    }
}

pub(super) fn too_many_tokens() -> Response {
    let later = "too many wrong tokens were shown\n";
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "1")], later).into_response()
}

/// Checks the token that a request carries; `None` if it carries none.
pub(super) async fn by_token(inbox: &Inbox, headers: &HeaderMap) -> Option<TokenCheck> {
    let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer "));
    let (admin, shown) = inbox.admin.as_ref().zip(shown)?;
    Some(admin.check(shown, inbox.now()).await)
}

async fn gather(engine: &Engine, now: Millis) -> Result<String, StoreError> {
    let store = &engine.store;
    Ok(page(&Figures {
        totals: store.run_totals().await?,
        troubles: store.troubled_providers().await?,
        lanes: store.tally_lanes(KIND, now).await?,
        failed: store.count_failed().await?,
        counters: store.counters().await?,
        now,
        fetched: engine.replay_status().await?.fetched,
        sweep: engine.sweep_status().await?,
    }))
}

fn page(figures: &Figures) -> String {
    let mut page = String::new();
    for Family { name, kind, about, lines } in &FAMILIES {
        let _ = writeln!(page, "# HELP {name} {about}\n# TYPE {name} {kind}");
        for (labels, value) in lines(figures) {
            let _ = writeln!(page, "{name}{{{labels}}} {value}");
        }
    }
    page
}

impl Figures {
    fn ended_runs(&self) -> impl Iterator<Item = &RunTotal> {
        self.totals.iter().filter(|total| !is_open(total))
    }

    fn of_ended(&self, figure: fn(&Cost) -> String) -> Vec<(String, String)> {
        let line = |total: &RunTotal| (labels(total), figure(&total.cost));
        self.ended_runs().map(line).collect()
    }
}

impl Figures {
    /// Returns a line for each lane with the age of its oldest due work.
    fn oldest_due(&self) -> Vec<(String, String)> {
        let age = |lane: &LaneTally| (format!("lane=\"{}\"", lane.lane.word()), self.age(lane.oldest_due));
        self.lanes.iter().map(age).collect()
    }

    fn ingest_lag(&self) -> String {
        self.age(self.lanes.iter().filter_map(|lane| lane.oldest_of_kind).min())
    }

    /// Returns the seconds since a moment, 0 if there is none.
    fn age(&self, since: Option<Millis>) -> String {
        let age = since.map_or(0, |since| self.now.0.saturating_sub(since.0).max(0));
        decimal(age.unsigned_abs(), 3)
    }

    /// Returns a line for each of these counters, each with its labels.
    fn counter_lines(&self, names: &[(&str, &str)]) -> Vec<(String, String)> {
        let value = |name| self.counters.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value);
        names.iter().map(|(name, labels)| ((*labels).to_owned(), value(*name).to_string())).collect()
    }
}

fn is_open(total: &RunTotal) -> bool {
    total.outcome == "running"
}

fn open(figures: &Figures) -> Vec<(String, String)> {
    let open = figures.totals.iter().filter(|total| is_open(total));
    let open: u32 = open.map(|total| total.cost.agent_runs).sum();
    vec![("source=\"ledger\"".to_owned(), open.to_string())]
}

fn effects(figures: &Figures) -> Vec<(String, String)> {
    let states = |lane: &LaneTally| {
        let tally = lane.tally;
        let states = [("due", tally.due), ("waiting", tally.waiting), ("running", tally.running)];
        let name = lane.lane.word();
        states.map(|(state, count)| (format!("lane=\"{name}\",state=\"{state}\""), count.to_string()))
    };
    figures.lanes.iter().flat_map(states).collect()
}

fn failures(trouble: &ProviderTrouble) -> (String, String) {
    let labels = format!("provider=\"{}\",cause=\"{}\"", escaped(&trouble.name), trouble.cause);
    (labels, trouble.failures.to_string())
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
    kinds.map(|(kind, count)| (format!("{},kind=\"{kind}\"", labels(total)), count.to_string())).to_vec()
}

fn decimal(number: u64, decimals: u32) -> String {
    let one = 10_u64.pow(decimals);
    let width = usize::try_from(decimals).unwrap_or_default();
    format!("{}.{:0width$}", number / one, number % one)
}

/// Escapes and shortens a label's value, since names of models come from other programs.
fn escaped(value: &str) -> String {
    let short: String = value.chars().filter(|c| !c.is_control()).take(120).collect();
    short.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Lane, Tally};

    fn swept() -> SweepStatus {
        SweepStatus { ended_at: Some(Millis(61_005)), found: 3, ..SweepStatus::default() }
    }

    #[test]
    fn figures_are_counters_by_role_model_and_outcome() {
        let total = |outcome: &str, model: &str| RunTotal {
            role: "player".to_owned(),
            agent: "claude".to_owned(),
            model: model.to_owned(),
            outcome: outcome.to_owned(),
            cost: Cost { agent_runs: 2, agent_ms: 61_005, usd_micros: Some(1_250_000), ..Cost::default() },
        };
        let page = page(&Figures {
            totals: vec![total("ok", "a\"b\nc"), total("running", "")],
            troubles: Vec::new(),
            lanes: vec![LaneTally {
                lane: Lane::Agent,
                tally: Tally { due: 3, ..Tally::default() },
                oldest_due: Some(Millis(1_000)),
                oldest_of_kind: None,
            }],
            failed: 4,
            counters: vec![("turns".to_owned(), 7)],
            fetched: 2,
            now: Millis(3_500),
            sweep: swept(),
        });
        let labels = r#"{role="player",agent="claude",model="a\"bc",outcome="ok"}"#;
        for line in [
            format!("autobuild_agent_runs_total{labels} 2"),
            format!("autobuild_agent_cost_usd_total{labels} 1.250000"),
            format!("autobuild_agent_seconds_total{labels} 61.005"),
            "autobuild_agent_runs_open{source=\"ledger\"} 2".to_owned(),
            "autobuild_deliveries_fetched_total{source=\"replay\"} 2".to_owned(),
            "autobuild_effects{lane=\"agent\",state=\"due\"} 3".to_owned(),
            "autobuild_oldest_due_seconds{lane=\"agent\"} 2.500".to_owned(),
            "autobuild_reviews_total{what=\"turn\"} 7".to_owned(),
            "autobuild_leases_lost_total{source=\"store\"} 0".to_owned(),
            "autobuild_facts_found_total{source=\"sweep\"} 3".to_owned(),
            "autobuild_sweep_ended_timestamp_seconds{source=\"sweep\"} 61".to_owned(),
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
        assert!(!page.contains("outcome=\"running\""), "{page}");
    }
}
