//! Computes the complexity of a task and of a Feature from the plan. An agent's own estimate is never used.

use crate::{
    plan::{Plan, PlannedTask, TestEffort},
    wave,
};

const HIGHEST: usize = 10;

/// Returns the complexity of one task, 1 to 10.
pub fn task(task: &PlannedTask) -> u8 {
    let factors = &task.factors;
    at_most_ten(
        1 + for_files(task.files.len())
            + usize::from(factors.integration_points.min(3))
            + for_tests(factors.tests)
            + factors.risks.len(),
    )
}

/// Returns the complexity of a Feature, 1 to 10: that of its hardest task, plus 1 if there are more than four tasks,
/// plus 1 if there are more than two waves.
pub fn feature(plan: &Plan) -> u8 {
    let hardest = plan.tasks.iter().map(task).max().unwrap_or(1);
    let many_tasks = usize::from(plan.tasks.len() > 4);
    let many_waves = usize::from(wave::waves(plan).groups.len() > 2);
    at_most_ten(usize::from(hardest) + many_tasks + many_waves)
}

fn for_files(count: usize) -> usize {
    match count {
        0 | 1 => 0,
        2 | 3 => 1,
        4..=7 => 2,
        _ => 3,
    }
}

fn for_tests(effort: TestEffort) -> usize {
    match effort {
        TestEffort::None | TestEffort::Unit => 0,
        TestEffort::Integration => 1,
        TestEffort::EndToEnd => 2,
    }
}

fn at_most_ten(points: usize) -> u8 {
    u8::try_from(points.min(HIGHEST)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ids::TaskId,
        plan::{Factors, Risk, TaskType},
    };

    fn planned(id: u16, files: usize, integration_points: u8, tests: TestEffort, risks: &[Risk]) -> PlannedTask {
        PlannedTask {
            id: TaskId::Planned(id),
            name: String::new(),
            kind: TaskType::Feature,
            description: String::new(),
            acceptance_criteria: Vec::new(),
            files: (0..files).map(|file| format!("{id}/{file}")).collect(),
            factors: Factors { integration_points, tests, risks: risks.to_vec() },
            changes: Vec::new(),
            removes: Vec::new(),
            dependencies: Vec::new(),
        }
    }

    const ALL_RISKS: [Risk; 5] =
        [Risk::Security, Risk::DataMigration, Risk::Concurrency, Risk::PublicApi, Risk::ExternalService];

    #[test]
    fn each_factor_adds_what_the_product_says() {
        use TestEffort::{EndToEnd, Integration, None, Unit};
        let table = [
            (0, 0, None, 0, 1),
            (1, 0, Unit, 0, 1),
            (2, 0, Unit, 0, 2),
            (3, 0, Unit, 0, 2),
            (4, 0, Unit, 0, 3),
            (7, 0, Unit, 0, 3),
            (8, 0, Unit, 0, 4),
            (400, 0, Unit, 0, 4),
            (1, 1, Integration, 0, 3),
            (1, 3, EndToEnd, 0, 6),
            (2, 1, Unit, 1, 4),
            (2, 0, Unit, 0, 2),
            (8, 3, EndToEnd, 1, 10),
            (8, 3, EndToEnd, 5, 10),
        ];
        for (files, points, tests, risks, expected) in table {
            let one = planned(1, files, points, tests, &ALL_RISKS[..risks]);
            assert_eq!(task(&one), expected, "{files} files, {points} points, {tests:?}, {risks} risks");
        }
    }

    fn plan_of(tasks: Vec<PlannedTask>) -> Plan {
        Plan { name: String::new(), description: String::new(), tasks, smoke: None }
    }

    #[test]
    fn a_feature_is_as_hard_as_its_hardest_task_and_harder_with_many_tasks_and_waves() {
        let easy = |id| planned(id, 1, 0, TestEffort::Unit, &[]);
        let chain = |count: u16| {
            plan_of(
                (1..=count)
                    .map(|id| PlannedTask {
                        changes: Vec::new(),
                        removes: Vec::new(),
                        dependencies: if id > 1 { vec![TaskId::Planned(id - 1)] } else { Vec::new() },
                        ..easy(id)
                    })
                    .collect(),
            )
        };
        assert_eq!(feature(&plan_of((1..=4).map(easy).collect())), 1);
        assert_eq!(feature(&plan_of((1..=5).map(easy).collect())), 2);
        assert_eq!(feature(&chain(2)), 1);
        assert_eq!(feature(&chain(3)), 2);
        assert_eq!(feature(&chain(5)), 3);
        let hard = planned(1, 8, 3, TestEffort::EndToEnd, &ALL_RISKS);
        assert_eq!(feature(&plan_of(vec![hard, easy(2), easy(3), easy(4), easy(5)])), 10);
    }
}
