//! Computes which tasks may run in parallel. Waves follow from dependencies and files alone; a grouping in the plan is
//! never used.

use crate::{
    ids::TaskId,
    plan::{Plan, PlannedTask},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The waves of a plan, in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waves {
    /// The waves in order, each with the ids of tasks that may run in parallel.
    pub groups: Vec<Vec<TaskId>>,
    /// Orderings that the plan does not name and that follow from shared files.
    pub added_edges: Vec<AddedEdge>,
}

impl Waves {
    /// Returns the number of the task's wave, from 1.
    pub fn wave_of(&self, task: TaskId) -> Option<usize> {
        let index = self.groups.iter().position(|group| group.contains(&task));
        index.map(|index| index + 1)
    }
}

/// Two independent tasks that would change the same file, and therefore run one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedEdge {
    /// The task that runs first: the lower id.
    pub first: TaskId,
    /// The task that waits for it.
    pub then: TaskId,
    /// A file that both name.
    pub file: String,
}

/// The tasks that each task needs.
pub(crate) type Needs = BTreeMap<TaskId, BTreeSet<TaskId>>;

pub(crate) fn needs<'a>(tasks: impl IntoIterator<Item = &'a PlannedTask>) -> Needs {
    let needs = |task: &PlannedTask| (task.id, task.dependencies.iter().copied().collect());
    tasks.into_iter().map(needs).collect()
}

/// Computes the waves of a checked plan. If two tasks of one wave name the same file, the one with the higher id waits
/// for the other, and the waves are computed again until no two tasks of a wave share a file.
pub fn waves(plan: &Plan) -> Waves {
    let mut needs = needs(&plan.tasks);
    let mut added_edges = Vec::new();
    loop {
        let groups = levels(&needs);
        let found = shared_files(plan, &groups);
        if found.is_empty() {
            return Waves { groups, added_edges };
        }
        for edge in &found {
            needs.entry(edge.then).or_default().insert(edge.first);
        }
        added_edges.extend(found);
    }
}

/// Groups tasks by the length of their longest chain of dependencies. A task in a cycle, which a checked plan does not
/// have, is in no group.
fn levels(needs: &Needs) -> Vec<Vec<TaskId>> {
    let mut groups = Vec::new();
    let mut done = BTreeSet::new();
    loop {
        let is_ready = |(id, needed): &(&TaskId, &BTreeSet<TaskId>)| !done.contains(*id) && needed.is_subset(&done);
        let ready: Vec<TaskId> = needs.iter().filter(is_ready).map(|(id, _)| *id).collect();
        if ready.is_empty() {
            return groups;
        }
        done.extend(ready.iter().copied());
        groups.push(ready);
    }
}

fn shared_files(plan: &Plan, groups: &[Vec<TaskId>]) -> Vec<AddedEdge> {
    let tasks: BTreeMap<TaskId, &PlannedTask> = plan.tasks.iter().map(|task| (task.id, task)).collect();
    let mut found = Vec::new();
    for group in groups {
        let mut namers: BTreeMap<&str, Vec<TaskId>> = BTreeMap::new();
        for task in group.iter().filter_map(|id| tasks.get(id)) {
            for file in task.files.iter().map(String::as_str).collect::<BTreeSet<_>>() {
                namers.entry(file).or_default().push(task.id);
            }
        }
        found.extend(one_edge_per_pair(&namers));
    }
    found
}

fn one_edge_per_pair(namers: &BTreeMap<&str, Vec<TaskId>>) -> Vec<AddedEdge> {
    let mut by_pair: BTreeMap<(TaskId, TaskId), &str> = BTreeMap::new();
    for (file, ids) in namers {
        for (position, first) in ids.iter().enumerate() {
            for then in ids.iter().skip(position + 1) {
                by_pair.entry((*first, *then)).or_insert(file);
            }
        }
    }
    let edge = |((first, then), file): (_, &str)| {
        let file = file.to_owned();
        AddedEdge { first, then, file }
    };
    by_pair.into_iter().map(edge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Factors, TaskType, TestEffort};
    use proptest::prelude::*;

    fn plan(tasks: &[(u16, &[u16], &[&str])]) -> Plan {
        let tasks = tasks
            .iter()
            .map(|(id, needs, files)| PlannedTask {
                id: TaskId::Planned(*id),
                name: String::new(),
                kind: TaskType::Feature,
                description: String::new(),
                acceptance_criteria: Vec::new(),
                files: files.iter().map(|file| (*file).to_owned()).collect(),
                factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: Vec::new() },
                changes: Vec::new(),
                removes: Vec::new(),
                dependencies: needs.iter().map(|id| TaskId::Planned(*id)).collect(),
            })
            .collect();
        Plan { name: String::new(), description: String::new(), tasks, smoke: None }
    }

    fn groups(plan: &Plan) -> Vec<Vec<u16>> {
        let number = |id: &TaskId| match id {
            TaskId::Planned(k) => *k,
            TaskId::Sync(_) | TaskId::Fix(_) | TaskId::Review(_) => 0,
        };
        waves(plan).groups.iter().map(|group| group.iter().map(number).collect()).collect()
    }

    #[test]
    fn waves_are_dependency_levels() {
        let diamond = plan(&[(1, &[], &[]), (2, &[1], &["a"]), (3, &[1], &["b"]), (4, &[2, 3], &[]), (5, &[], &[])]);
        assert_eq!(groups(&diamond), [vec![1, 5], vec![2, 3], vec![4]]);
        assert_eq!(waves(&diamond).added_edges, []);
    }

    #[test]
    fn tasks_of_one_level_that_share_a_file_run_by_id() {
        let shared = plan(&[(1, &[], &["x", "a"]), (2, &[], &["a", "x"]), (3, &[], &["x"]), (4, &[2], &[])]);
        assert_eq!(groups(&shared), [vec![1], vec![2], vec![3, 4]]);
        let edges: Vec<(String, String, String)> = waves(&shared)
            .added_edges
            .into_iter()
            .map(|edge| (edge.first.to_string(), edge.then.to_string(), edge.file))
            .collect();
        let edge = |a: &str, b: &str, file: &str| (a.to_owned(), b.to_owned(), file.to_owned());
        assert_eq!(
            edges,
            [edge("TASK-001", "TASK-002", "a"), edge("TASK-001", "TASK-003", "x"), edge("TASK-002", "TASK-003", "x"),]
        );
    }

    #[test]
    fn an_added_edge_may_bring_tasks_together_that_then_share_a_file_too() {
        let moved = plan(&[(1, &[], &["a"]), (2, &[], &["a", "b"]), (3, &[1], &["b"])]);
        assert_eq!(groups(&moved), [vec![1], vec![2], vec![3]]);
    }

    #[test]
    fn a_task_knows_its_wave() {
        let waves = waves(&plan(&[(1, &[], &[]), (2, &[1], &[])]));
        assert_eq!(waves.wave_of(TaskId::Planned(2)), Some(2));
        assert_eq!(waves.wave_of(TaskId::Planned(9)), None);
    }

    fn any_plan() -> impl Strategy<Value = Plan> {
        let task =
            (proptest::collection::vec(any::<prop::sample::Index>(), 0..4), proptest::collection::vec(0..8u8, 0..4));
        proptest::collection::vec(task, 1..20).prop_map(|raw| {
            let owned: Vec<(u16, Vec<u16>, Vec<String>)> = (1u16..)
                .zip(raw)
                .map(|(id, (needs, files))| {
                    let before = usize::from(id) - 1;
                    let needs = match before {
                        0 => Vec::new(),
                        _ => needs.iter().map(|at| u16::try_from(at.index(before)).unwrap() + 1).collect(),
                    };
                    (id, needs, files.iter().map(|file| format!("f{file}")).collect())
                })
                .collect();
            let files: Vec<Vec<&str>> =
                owned.iter().map(|(_, _, files)| files.iter().map(String::as_str).collect()).collect();
            let rows: Vec<(u16, &[u16], &[&str])> =
                owned.iter().zip(&files).map(|((id, needs, _), files)| (*id, &needs[..], &files[..])).collect();
            plan(&rows)
        })
    }

    proptest! {
        #[test]
        fn every_task_runs_once_after_what_it_needs_and_never_beside_one_that_shares_a_file(plan in any_plan()) {
            let waves = waves(&plan);
            prop_assert_eq!(waves.groups.iter().map(Vec::len).sum::<usize>(), plan.tasks.len());
            for task in &plan.tasks {
                let own = waves.wave_of(task.id).unwrap();
                for needed in &task.dependencies {
                    prop_assert!(waves.wave_of(*needed).unwrap() < own);
                }
                for other in plan.tasks.iter().filter(|other| other.id != task.id) {
                    if other.files.iter().any(|file| task.files.contains(file)) {
                        prop_assert_ne!(waves.wave_of(other.id).unwrap(), own);
                    }
                }
            }
        }

        #[test]
        fn the_order_in_which_tasks_are_listed_changes_nothing(plan in any_plan()) {
            let mut reversed = plan.clone();
            reversed.tasks.reverse();
            prop_assert_eq!(waves(&plan), waves(&reversed));
        }
    }
}
