//! The content for setting up a repository: labels with descriptions, and a pull request that proposes settings.

use crate::messages::{form::untrusted, pull::task_pull::PullText};
use std::fmt::Write;

/// The labels: name, colour, description.
pub const LABELS: [(&str, &str, &str); 2] = [
    ("autobuild", "8250df", "AutoBuild plans this issue, builds it and opens a pull request"),
    ("autobuild-task", "bf8cff", "AutoBuild builds this small issue as one task, without a plan"),
];

/// A file that AutoBuild proposes, and the subject of the commit that adds it.
pub struct ProposedFile {
    pub path: &'static str,
    pub text: &'static str,
    pub commit: &'static str,
}

pub const ISSUE_FORM: ProposedFile = ProposedFile {
    path: ".github/ISSUE_TEMPLATE/autobuild.yml",
    text: include_str!("issue_form.yml"),
    commit: "Add a form for AutoBuild's issues",
};

pub struct Detected<'a> {
    pub setup: Option<&'a str>,
    pub test: Option<&'a str>,
    /// The files in which the commands were found, or the files that were looked for.
    pub why: &'a str,
    /// The workflows that AutoBuild's pushes and pull requests start: the file, and its triggers.
    pub workflows: &'a [(String, Vec<String>)],
}

/// Returns the proposed settings file: the commands found, and the defaults beside them.
pub fn proposed_settings(found: &Detected<'_>) -> String {
    let mut text = String::from("# Settings of AutoBuild. Every line is optional: delete what you do not need.\n\n");
    let mut command = |about: &str, key: &str, value: Option<&str>, example: &str| {
        let _ = writeln!(text, "# {about}");
        let _ = match value {
            Some(value) => writeln!(text, "{key}: {}\n", quoted(value)),
            None => writeln!(text, "# Nothing was found. An example:\n# {key}: {}\n", quoted(example)),
        };
    };
    command(
        "Prepares a checkout, in one line. It may reach package registries; the tests run without a network.",
        "setup",
        found.setup,
        "npm ci",
    );
    command("Runs the tests, in one line.", "test", found.test, "npm test");
    if !found.workflows.is_empty() {
        text.push_str("# These workflows start when AutoBuild pushes or opens a pull request. They run code that an agent wrote:\n");
        for (file, events) in found.workflows {
            let _ = writeln!(text, "#   {} ({})", one_line(file), one_line(&events.join(", ")));
        }
        text.push_str(
            "# `auto` holds them until a person lets them run, if they give the code more than the right to read. `wait` lets \
             them run.\nci: auto\n\n",
        );
    }
    text.push_str(
        "# The label that starts the work.\nlabel: autobuild\n\n\
         # When a plan waits for a person: never, always, or from a complexity of 1 to 10.\n# plan_approval: always\n\n\
         # Who merges an approved task into AutoBuild's own branch: auto or human.\n# merge: auto\n\n\
         # The most that one issue may cost, in US dollars.\n# budget:\n#   usd_per_feature: 50\n",
    );
    text
}

fn one_line(text: &str) -> String {
    untrusted::shorten(&text.replace(char::is_control, " "), 200)
}

fn quoted(text: &str) -> String {
    // Without control characters, a JSON string means the same in YAML.
    serde_json::Value::from(text.replace(char::is_control, " ")).to_string()
}

pub fn onboarding_pull(found: &Detected<'_>) -> PullText {
    let mut body = String::from(
        "This adds the settings of AutoBuild, and a form for its issues. Look at them, change them, and merge.\n\n",
    );
    let line = |name: &str, value: Option<&str>| match value {
        Some(value) => format!("- {name}: {}\n", untrusted::code(value, 300)),
        None => format!("- {name}: nothing found; set it in the file if there is one\n"),
    };
    body.push_str(&line("Set-up", found.setup));
    body.push_str(&line("Test command", found.test));
    let _ = writeln!(body, "- Why: {}", untrusted::sentence(found.why, 500));
    if found.workflows.is_empty() {
        body.push_str("- Workflows that AutoBuild's branches start: none found\n");
    } else {
        body.push_str("- Workflows that AutoBuild's branches start, with code that an agent wrote:\n");
        for (file, events) in found.workflows {
            let _ =
                writeln!(body, "  - {} on {}", untrusted::code(file, 200), untrusted::inline(&events.join(", "), 200));
        }
    }
    body.push_str(
        "\nThe set-up also made the labels `autobuild` and `autobuild-task`. To start, put `autobuild` on an issue; that works \
         before this is merged too.\n\n\
         To undo: close this pull request, delete its branch and the two labels.\n",
    );
    PullText { title: "Add AutoBuild's settings".to_owned(), body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proposal_says_what_was_found_and_what_starts() {
        let workflows = [(".github/workflows/ci.yml".to_owned(), vec!["push".to_owned(), "pull_request".to_owned()])];
        let found = Detected {
            setup: Some("npm ci"),
            test: Some("npm test -- --grep \"a b\""),
            why: "Tests run with `npm test` (found package.json).",
            workflows: &workflows,
        };
        let pull = onboarding_pull(&found);
        insta::assert_snapshot!(format!("{}\n=====\n{}\n\n{}", proposed_settings(&found), pull.title, pull.body));
    }

    /// Checks GitHub's requirements for issue forms ("Syntax for GitHub's form schema").
    #[test]
    fn the_issue_form_is_one() {
        let form: serde_json::Value = serde_saphyr::from_str(ISSUE_FORM.text).unwrap();
        for key in ["name", "description"] {
            assert!(form[key].is_string(), "{key}");
        }
        let body = form["body"].as_array().unwrap();
        let inputs = body.iter().filter(|part| part["type"] == "textarea");
        let ids: Vec<&str> = inputs.map(|part| part["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["change", "done", "where"]);
        let is_prefilled =
            |part: &&serde_json::Value| part["type"] == "textarea" && !part["attributes"]["value"].is_null();
        assert_eq!(body.iter().find(is_prefilled), None, "an example that is left would be a criterion");
        assert!(body.iter().all(|part| part["attributes"]["label"].is_string()
            || part["type"] == "markdown" && part["attributes"]["value"].is_string()));
    }

    #[test]
    fn a_repository_that_tells_nothing_gets_examples() {
        let found = Detected { setup: None, test: None, why: "", workflows: &[] };
        let text = proposed_settings(&found);
        assert!(text.contains("# test: \"npm test\"") && !text.contains("\ntest:"), "{text}");
    }
}
