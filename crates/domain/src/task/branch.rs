//! What the branch of a task is called.

use crate::plan::PlannedTask;

/// The branch of a task: `<prefix>/task-001-<slug>`, from the second attempt on with `-a<k>`.
pub(super) fn branch_name(prefix: &str, plan: &PlannedTask, attempt: u32) -> String {
    let slug: String = plan
        .name
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(40)
        .collect();
    let slug = slug.trim_matches('-');
    let name = if slug.is_empty() {
        plan.id.slug()
    } else {
        format!("{}-{slug}", plan.id.slug())
    };
    match attempt {
        1 => format!("{prefix}/{name}"),
        k => format!("{prefix}/{name}-a{k}"),
    }
}
