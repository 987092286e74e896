//! Finds work of others that the steps of a workflow look for by themselves: branches, pull requests, or results of another
//! run. Such steps may run the code of AutoBuild whatever starts the workflow.

use crate::exposure::entry;
use text::node::{Node, Shape};

/// Words that take work of others, in lower case.
const TAKING: [&str; 6] =
    ["action-download-artifact", "run download", "actions/artifacts", "pr checkout", "origin pull/", OURS];

/// The beginning of the names of our branches.
const OURS: &str = "autobuild/";

/// Words that list heads of branches and pull requests. Many steps only show them.
const LISTING: [&str; 10] = [
    ".head.sha",
    ".head.ref",
    "headrefname",
    "headrefoid",
    "branch -r",
    "branch -a",
    "branch --remotes",
    "branch --all",
    "for-each-ref refs/remotes",
    "ls-remote --heads",
];

/// Options with which a list of branches only answers whether one is there, or a commit is in one.
const ASKING: [&str; 3] = ["--contains", "--merged", "--exit-code"];

/// Commands of git that put other code into the work tree.
const CHECKING_OUT: [&str; 5] = ["git checkout", "git switch", "git worktree", "git merge", "git cherry-pick"];

/// Parts of values that a step gets from the steps and jobs before it.
const PASSED: [&str; 3] = ["outputs.", "env.", "matrix."];

/// The findings about the steps that were read so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Seeking {
    takes: bool,
    lists: bool,
    checks_out: bool,
}

impl Seeking {
    /// `true` if work of others may be run.
    pub(super) fn may_run_work_of_others(self) -> bool {
        self.takes || self.lists && self.checks_out
    }

    /// Reads the values that a workflow or a job sets.
    pub(super) fn read_values(&mut self, part: &Node) {
        let mut text = String::new();
        let parts = ["env", "strategy", "with"].into_iter().filter_map(|key| entry(part, key));
        parts.for_each(|part| add_texts(part, &mut text));
        self.takes |= text.to_lowercase().contains(OURS);
    }

    pub(super) fn read_step(&mut self, step: &Node) {
        let mut text = String::new();
        let parts = ["run", "with", "env", "uses"].into_iter().filter_map(|key| entry(step, key));
        parts.for_each(|part| add_texts(part, &mut text));
        // The pull request that started the workflow is no work that it looks for.
        let text = text.to_lowercase().replace("pull_request.head.", "");
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        // A quotation mark after it ends the beginning of a name, which `startsWith(github.ref, 'refs/pull/')` compares.
        let is_own = |rest: &str| rest.starts_with(['\'', '"']) || rest.starts_with("${{ github.event.");
        let takes_pull = text.split("refs/pull/").skip(1).any(|rest| !is_own(rest));
        let takes_run = text.contains("actions/runs/") && text.contains("/artifacts");
        let uses = |action| entry(step, "uses").and_then(Node::text).is_some_and(|uses| uses.contains(action));
        let input = |name| entry(step, "with").and_then(|with| entry(with, name));
        let is_passed = |text: &str| PASSED.iter().any(|passed| text.contains(passed));
        let head = input("ref").and_then(Node::text).unwrap_or_default();
        let fetches = uses("checkout") || has(&CHECKING_OUT) || text.contains("git fetch");
        // Another service says what to check out.
        let takes_sent = text.contains("client_payload") && fetches;
        let takes_files = uses("download-artifact") && input("run-id").is_some();
        self.takes |= has(&TAKING) || takes_pull || takes_run || takes_sent || takes_files;
        self.lists |= has(&LISTING) && !has(&ASKING);
        self.checks_out |= has(&CHECKING_OUT) || uses("checkout") && is_passed(head);
    }
}

fn add_texts(node: &Node, all: &mut String) {
    match &node.value {
        Shape::Text(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Shape::List(items) => items.iter().for_each(|item| add_texts(item, all)),
        Shape::Map(entries) => entries.iter().for_each(|(_, value)| add_texts(value, all)),
        Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) => {}
    }
}
