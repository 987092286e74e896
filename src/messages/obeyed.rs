//! The warning on a pull request whose files take effect on the machine of whoever opens its branch.

use crate::messages::{
    measure::{Measure, bullets},
    untrusted,
};
use domain::obeyed::{ObeyedFile, Obeys};

/// Names the files, and what runs or obeys them; empty if there are none.
pub(super) fn warning(files: &[ObeyedFile], measure: &Measure) -> String {
    if files.is_empty() {
        return String::new();
    }
    let list = bullets(files, measure.rows.min(30), |file| {
        let path = untrusted::code(&file.path, measure.text.min(200));
        format!("{path}: {}", program(file.by))
    });
    let lines: Vec<String> = list.lines().map(|line| format!("> {line}")).collect();
    format!(
        "> [!WARNING]\n> Programs on your machine run or obey these files once you open this branch there. Read them \
         first.\n>\n{}",
        lines.join("\n")
    )
}

fn program(obeys: Obeys) -> &'static str {
    match obeys {
        Obeys::Editor => "editors",
        Obeys::Shell => "shells and debuggers",
        Obeys::Git => "git hooks",
        Obeys::PackageManager => "package managers",
        Obeys::Agent => "agents",
    }
}
