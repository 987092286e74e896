//! A task for documentation changes a file that is no document, no code and not in its plan, such as a schema or a
//! deployment. Code makes it a feature, which the Gates judge as one.

use crate::{
    changed_file::Reading,
    language::{Role, file_name},
    rules::rule::{ReadingRule, Violation, at_first_change},
};
use domain::{integrity::Rule, plan::TaskType};

pub(super) static RULE: ReadingRule =
    ReadingRule { rule: Rule::BeyondDocuments, applies: &[Role::Other, Role::Settings], check };

/// The endings of documents, and of what they show.
const DOCUMENTS: [&str; 24] = [
    "md", "mdx", "rst", "adoc", "txt", "html", "htm", "css", "scss", "tex", "bib", "ipynb", "po", "pot", "png", "jpg",
    "jpeg", "gif", "svg", "webp", "ico", "pdf", "drawio", "puml",
];

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let task = reading.change.task;
    if task.kind != TaskType::Documentation {
        return Vec::new();
    }
    let is_named = |path: &str| {
        let mut texts = reading.texts_of_task();
        task.files.iter().any(|file| file == path) || texts.any(|text| text.contains(file_name(path)))
    };
    let others = reading.change.files.iter().filter(|file| !is_document(&file.path) && !is_named(&file.path));
    others.map(at_first_change).collect()
}

fn is_document(path: &str) -> bool {
    let name = file_name(path).to_lowercase();
    match name.rsplit_once('.') {
        Some(("", _)) => name == ".gitignore",
        // Lists of packages are texts too.
        Some((stem, "txt")) => {
            !["requirements", "constraints"].iter().any(|list| stem.contains(list)) && stem != "cmakelists"
        }
        Some((_, ending)) => DOCUMENTS.contains(&ending),
        None => {
            ["license", "licence", "authors", "notice", "changelog", "readme", "contributors"].contains(&name.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::{check_examples_in, task};
    use domain::plan::{PlannedTask, TaskType};

    #[test]
    fn a_task_for_documentation_is_asked_about_other_files() {
        let task = PlannedTask { kind: TaskType::Documentation, files: vec!["mkdocs.yml".to_owned()], ..task() };
        let documents = ["docs/guide.md", "docs/figure.SVG", "LICENSE", "mkdocs.yml", ".gitignore", "robots.txt"];
        let documents = documents.map(|path| (path, "a\n", "b\n"));
        for path in ["schema.sql", "Dockerfile", "deploy/app.yaml", "requirements.txt", "CMakeLists.txt"] {
            check_examples_in(&task, &RULE, &[(path, "a\n", "b\n")], &documents);
        }
    }
}
