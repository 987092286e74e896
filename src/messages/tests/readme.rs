//! The README says of integrity what the code does.

use domain::{evidence::Weight, integrity::Rule, plan::TaskType};

const README: &str = include_str!("../../../README.md");

fn word(weight: Weight) -> &'static str {
    match weight {
        Weight::Demanded => "back",
        Weight::Shown => "shown",
    }
}

#[test]
fn the_table_of_integrity_in_the_readme_is_the_one_in_force() {
    for rule in Rule::ALL {
        let row = README
            .lines()
            .filter_map(|line| line.strip_prefix("| "))
            .find(|line| line.split('|').next().is_some_and(|cell| cell.trim() == rule.name()));
        let cells: Vec<&str> = row.unwrap_or_default().split('|').map(str::trim).collect();
        let scaffolding = word(rule.weight(TaskType::Scaffolding));
        let others =
            [TaskType::Feature, TaskType::Testing, TaskType::Documentation].map(|kind| word(rule.weight(kind)));
        assert!(others.iter().all(|other| *other == others[0]), "{}", rule.name());
        assert_eq!(
            cells.get(2..4),
            Some(&[scaffolding, others[0]][..]),
            "{}: {row:?}",
            rule.name()
        );
    }
}
