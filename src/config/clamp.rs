//! Limits a repository's settings to the allowance of its installation.

use crate::config::{
    allowance::{Allowance, LargestValues},
    repository::RepositorySettings,
};
use domain::{excess::Excess, network::cut};
use std::fmt::Display;

impl Allowance {
    /// Limits a repository's settings, and returns the values that exceeded the allowance. A 0 that means no limit
    /// becomes the limit itself. Hosts are filtered where programs are started, so that a refused host is reported
    /// there.
    pub fn clamp(&self, settings: &mut RepositorySettings) -> Vec<Excess> {
        let (most, usual, budget) = (&self.most, LargestValues::SERVER, &mut settings.budget);
        let numbers = [
            lower_count("max_turns", &mut settings.max_turns, [most.turns, usual.turns]),
            lower_count("max_tasks", &mut settings.max_tasks, [most.tasks, usual.tasks]),
            lower_count(
                "max_parallel_tasks",
                &mut settings.max_parallel_tasks,
                [most.parallel_tasks, usual.parallel_tasks],
            ),
            lower_count("agent_turns", &mut settings.agent_turns, [most.agent_turns, usual.agent_turns]),
            lower_time("setup_timeout", &mut settings.setup_timeout, most.setup_timeout),
            lower_time("test_timeout", &mut settings.test_timeout, most.test_timeout),
            lower("budget.usd_per_task", &mut budget.usd_per_task, most.budget.usd_per_task),
            lower("budget.usd_per_feature", &mut budget.usd_per_feature, most.budget.usd_per_feature),
            lower("budget.tokens_per_task", &mut budget.tokens_per_task, most.budget.tokens_per_task),
            lower("budget.tokens_per_feature", &mut budget.tokens_per_feature, most.budget.tokens_per_feature),
            lower("budget.hours_per_task", &mut budget.hours_per_task, most.budget.hours_per_task),
            lower("budget.hours_per_feature", &mut budget.hours_per_feature, most.budget.hours_per_feature),
        ];
        let (_, closed) = cut(&settings.network.allow, &self.network.allow);
        let hosts = (!closed.is_empty()).then(|| Excess::Hosts {
            closed: closed.into_iter().cloned().collect(),
            allowed: self.network.allow.clone(),
        });
        numbers.into_iter().flatten().chain(hosts).collect()
    }
}

/// Lowers a number to the maximum; in both, 0 means no limit.
fn lower<T: Copy + Default + Display + PartialOrd>(setting: &'static str, value: &mut T, most: T) -> Option<Excess> {
    let unlimited = T::default();
    if most == unlimited || (*value != unlimited && *value <= most) {
        return None;
    }
    let requested = std::mem::replace(value, most);
    (requested != unlimited).then(|| Excess::Number {
        setting,
        requested: requested.to_string(),
        used: most.to_string(),
    })
}

/// Lowers a time limit in seconds, and names it as settings write it.
fn lower_time(setting: &'static str, value: &mut u64, most: u64) -> Option<Excess> {
    let (requested, used) = (*value, lower(setting, value, most).map(|_| *value)?);
    Some(Excess::Number { setting, requested: format!("{requested}s"), used: format!("{used}s") })
}

/// Lowers a number of turns or tasks. No machine runs any number of them, so without a limit 0 means a server's usual one.
fn lower_count(setting: &'static str, value: &mut u32, [most, usual]: [u32; 2]) -> Option<Excess> {
    let excess = lower(setting, value, most);
    if *value == 0 {
        *value = usual;
    }
    excess
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{budgets::Budget, network::NetworkSettings, shapes::Offer};

    fn settings(text: &str) -> RepositorySettings {
        RepositorySettings::parse(text, &Offer::default()).unwrap()
    }

    fn allowance() -> Allowance {
        Allowance {
            network: NetworkSettings { allow: vec!["*.corp.example".parse().unwrap()], ..NetworkSettings::default() },
            most: LargestValues {
                turns: 4,
                test_timeout: 30 * 60,
                budget: Budget { usd_per_feature: 20.0, hours_per_task: 1.5, ..Budget::UNLIMITED },
                ..LargestValues::default()
            },
            ..Allowance::default()
        }
    }

    /// Returns the excess as `setting asked given`, and the resulting settings.
    fn clamped(text: &str) -> (Vec<String>, RepositorySettings) {
        let mut settings = settings(text);
        let found = allowance().clamp(&mut settings);
        let shown = found.into_iter().map(|excess| match excess {
            Excess::Number { setting, requested, used } => format!("{setting} {requested} {used}"),
            Excess::Hosts { closed, .. } => {
                format!("hosts {}", closed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
        });
        (shown.collect(), settings)
    }

    #[test]
    fn what_is_above_the_allowance_is_lowered_and_named() {
        let table: [(&str, &[&str]); 7] = [
            ("max_turns: 4\nbudget: {usd_per_feature: 20}", &[]),
            ("max_turns: 5\nbudget: {usd_per_feature: 19.5}", &["max_turns 5 4"]),
            ("max_turns: 1\nbudget: {usd_per_feature: 20.25}", &["budget.usd_per_feature 20.25 20"]),
            ("max_turns: 1\nbudget: {usd_per_feature: 0}", &[]),
            ("max_turns: 1\nbudget: {usd_per_feature: 1, hours_per_task: 3}", &["budget.hours_per_task 3 1.5"]),
            (
                "max_turns: 1\nbudget: {usd_per_feature: 1}\nsetup_timeout: 1m\ntest_timeout: 31m",
                &["test_timeout 1860s 1800s"],
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
        assert_eq!((budget.usd_per_task, budget.usd_per_feature, budget.hours_per_task), (0.0, 20.0, 1.5));
        let (excess, held) = clamped("max_turns: 0\nmax_tasks: 0\nmax_parallel_tasks: 0\nagent_turns: 0");
        assert_eq!(excess, ["budget.usd_per_feature 50 20"]);
        assert_eq!((held.max_turns, held.max_tasks), (4, 200));
        assert_eq!((held.max_parallel_tasks, held.agent_turns), (20, 300));
    }

    #[test]
    fn nothing_that_a_repository_has_without_settings_is_above_the_servers_most() {
        let server = Allowance { most: LargestValues::SERVER, ..Allowance::default() };
        assert_eq!(server.clamp(&mut RepositorySettings::default()), Vec::new());
    }

    #[test]
    fn whatever_a_repository_asks_for_is_cut_to_the_servers_bound_and_named() {
        let server = Allowance { most: LargestValues { turns: 200, ..LargestValues::SERVER }, ..Allowance::default() };
        let mut asked = settings("max_turns: 100\nmax_tasks: 5000\nmax_parallel_tasks: 51\nagent_turns: 4000000000");
        let named = server.clamp(&mut asked).len();
        assert_eq!((named, asked.max_turns, asked.max_tasks), (3, 100, 200));
        assert_eq!((asked.max_parallel_tasks, asked.agent_turns), (20, 300));
        let mut money = settings("budget: {usd_per_task: 5000000, tokens_per_task: 9000000000000000}");
        assert_eq!((server.clamp(&mut money).len(), money.budget.usd_per_task), (1, 50.0));
    }
}
