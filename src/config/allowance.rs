//! What the server allows to the repositories of one installation, and how a repository's settings are cut to it.

use crate::config::{
    budgets::Budget, concurrency::limited, models::ModelWords, network::NetworkCeiling, repository::RepositorySettings,
    server_parse::Parser, shapes::Offer,
};
use domain::{budget::Limits, excess::Excess, ids::InstallationId, network::cut};
use std::{collections::BTreeMap, fmt::Display};

/// The largest numbers that a repository may set; 0 means no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Most {
    pub turns: u32,
    pub tasks: u32,
    pub parallel_tasks: u32,
    pub agent_turns: u32,
    pub budget: Budget,
}

impl Default for Most {
    /// No limit.
    fn default() -> Self {
        Self {
            turns: 0,
            tasks: 0,
            parallel_tasks: 0,
            agent_turns: 0,
            budget: Budget::UNLIMITED,
        }
    }
}

impl Most {
    /// The server's own: ten times as much as a repository has without settings, and a day for one task.
    pub const SERVER: Self = Self {
        turns: 50,
        tasks: 200,
        parallel_tasks: 20,
        agent_turns: 300,
        budget: Budget {
            usd_per_task: 50.0,
            usd_per_feature: 500.0,
            hours_per_task: 24.0,
            hours_per_feature: 240.0,
            ..Budget::UNLIMITED
        },
    };
}

/// What the repositories of one installation may use. Without settings: the public registries, and no limit.
#[derive(Clone, Debug, Default)]
pub struct Allowance {
    /// The hosts that their programs may reach, and the addresses of internal ones.
    pub network: NetworkCeiling,
    /// The models that they may name.
    pub models: ModelWords,
    pub most: Most,
    /// The spending limits of the installation for a calendar month in UTC.
    pub month: Limits,
}

impl Allowance {
    /// Cuts a repository's settings, and returns what they ask for above the allowance. A 0 that means no limit becomes
    /// the limit itself. Hosts are cut where programs are started, so that a refused one is named there.
    pub fn clamp(&self, settings: &mut RepositorySettings) -> Vec<Excess> {
        let (most, budget) = (&self.most, &mut settings.budget);
        let numbers = [
            lower("max_turns", &mut settings.max_turns, most.turns),
            lower("max_tasks", &mut settings.max_tasks, most.tasks),
            lower(
                "max_parallel_tasks",
                &mut settings.max_parallel_tasks,
                most.parallel_tasks,
            ),
            lower("agent_turns", &mut settings.agent_turns, most.agent_turns),
            lower(
                "budget.usd_per_task",
                &mut budget.usd_per_task,
                most.budget.usd_per_task,
            ),
            lower(
                "budget.usd_per_feature",
                &mut budget.usd_per_feature,
                most.budget.usd_per_feature,
            ),
            lower(
                "budget.tokens_per_task",
                &mut budget.tokens_per_task,
                most.budget.tokens_per_task,
            ),
            lower(
                "budget.tokens_per_feature",
                &mut budget.tokens_per_feature,
                most.budget.tokens_per_feature,
            ),
            lower(
                "budget.hours_per_task",
                &mut budget.hours_per_task,
                most.budget.hours_per_task,
            ),
            lower(
                "budget.hours_per_feature",
                &mut budget.hours_per_feature,
                most.budget.hours_per_feature,
            ),
        ];
        let (_, closed) = cut(&settings.network.allow, &self.network.allow);
        let hosts = (!closed.is_empty()).then(|| Excess::Hosts {
            closed: closed.into_iter().cloned().collect(),
            allowed: self.network.allow.clone(),
        });
        numbers.into_iter().flatten().chain(hosts).collect()
    }

    /// Returns the agents and models that a repository may name, of a server with these agents.
    pub fn offer(&self, agents: impl IntoIterator<Item = String>) -> Offer {
        Offer {
            agents: agents.into_iter().collect(),
            models: self.models.allowed.clone(),
        }
    }
}

/// Lowers a number to the most; 0 means no limit in both.
fn lower<T: Copy + Default + Display + PartialOrd>(setting: &'static str, value: &mut T, most: T) -> Option<Excess> {
    let unlimited = T::default();
    if most == unlimited || (*value != unlimited && *value <= most) {
        return None;
    }
    let asked = std::mem::replace(value, most);
    (asked != unlimited).then(|| Excess::Number {
        setting,
        asked: asked.to_string(),
        given: most.to_string(),
    })
}

/// The allowance of every installation. Installations have numbers, because names of organisations change hands.
#[derive(Clone, Debug, Default)]
pub struct Allowances {
    /// That of an installation without one of its own.
    pub usual: Allowance,
    pub own: BTreeMap<InstallationId, Allowance>,
}

impl Allowances {
    pub fn of(&self, installation: InstallationId) -> &Allowance {
        self.own.get(&installation).unwrap_or(&self.usual)
    }
}

impl Parser {
    /// Reads what installations may use. A setting that the table of an installation leaves out is the server's.
    pub(crate) fn allowances(&mut self) -> Allowances {
        Allowances {
            usual: self.allowance(),
            own: self.by_installation(Self::allowance),
        }
    }

    fn allowance(&mut self) -> Allowance {
        Allowance {
            network: self.network(),
            models: self.model_words(),
            most: self.most(),
            month: self.installation_month(),
        }
    }

    fn most(&mut self) -> Most {
        let usual = Most::SERVER;
        Most {
            turns: self.parse("MAX_TURNS", limited).unwrap_or(usual.turns),
            tasks: self.parse("MAX_TASKS", limited).unwrap_or(usual.tasks),
            parallel_tasks: self
                .parse("MAX_PARALLEL_TASKS", limited)
                .unwrap_or(usual.parallel_tasks),
            agent_turns: self.parse("MAX_AGENT_TURNS", limited).unwrap_or(usual.agent_turns),
            budget: self.most_budget(usual.budget),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> RepositorySettings {
        RepositorySettings::parse(text, &Offer::default()).unwrap()
    }

    fn allowance() -> Allowance {
        Allowance {
            network: NetworkCeiling {
                allow: vec!["*.corp.example".parse().unwrap()],
                ..NetworkCeiling::default()
            },
            most: Most {
                turns: 4,
                budget: Budget {
                    usd_per_feature: 20.0,
                    hours_per_task: 1.5,
                    ..Budget::UNLIMITED
                },
                ..Most::default()
            },
            ..Allowance::default()
        }
    }

    /// Returns the excess as `setting asked given`, and the settings that hold.
    fn clamped(text: &str) -> (Vec<String>, RepositorySettings) {
        let mut settings = settings(text);
        let found = allowance().clamp(&mut settings);
        let shown = found.into_iter().map(|excess| match excess {
            Excess::Number { setting, asked, given } => format!("{setting} {asked} {given}"),
            Excess::Hosts { closed, .. } => {
                format!(
                    "hosts {}",
                    closed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
                )
            }
        });
        (shown.collect(), settings)
    }

    #[test]
    fn what_is_above_the_allowance_is_lowered_and_named() {
        let table: [(&str, &[&str]); 6] = [
            ("max_turns: 4\nbudget: {usd_per_feature: 20}", &[]),
            ("max_turns: 5\nbudget: {usd_per_feature: 19.5}", &["max_turns 5 4"]),
            (
                "max_turns: 1\nbudget: {usd_per_feature: 20.25}",
                &["budget.usd_per_feature 20.25 20"],
            ),
            ("max_turns: 1\nbudget: {usd_per_feature: 0}", &[]),
            (
                "max_turns: 1\nbudget: {usd_per_feature: 1, hours_per_task: 3}",
                &["budget.hours_per_task 3 1.5"],
            ),
            (
                "max_turns: 1\nbudget: {usd_per_feature: 1}\nnetwork: {allow: [npm.corp.example, evil.example]}",
                &["hosts evil.example"],
            ),
        ];
        for (text, expected) in table {
            assert_eq!(clamped(text).0, expected, "{text}");
        }
    }

    #[test]
    fn zero_is_the_servers_limit_and_only_without_one_no_limit() {
        let (_, held) = clamped("max_turns: 9\nbudget: {usd_per_task: 0, usd_per_feature: 0, hours_per_task: 0}");
        assert_eq!(held.max_turns, 4);
        let budget = held.budget;
        assert_eq!(
            (budget.usd_per_task, budget.usd_per_feature, budget.hours_per_task),
            (0.0, 20.0, 1.5)
        );
    }

    #[test]
    fn nothing_that_a_repository_has_without_settings_is_above_the_servers_most() {
        let server = Allowance {
            most: Most::SERVER,
            ..Allowance::default()
        };
        assert_eq!(server.clamp(&mut RepositorySettings::default()), Vec::new());
    }
}
