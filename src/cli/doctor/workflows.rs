//! Finds the GitHub Actions workflows that would run an agent's code, and what they would expose to it. It reads them
//! and never runs them.

use std::collections::BTreeSet;
use text::node::Node;

/// The largest workflow file that is read, in bytes.
pub(super) const MAX_BYTES: usize = 256 * 1024;

/// An example of the branches that AutoBuild makes.
const OURS: &str = "autobuild/1/task-001";

/// The triggers that run the head of a branch or pull request.
const OF_THE_HEAD: [&str; 6] = [
    "push",
    "pull_request",
    "create",
    "merge_group",
    "pull_request_review",
    "pull_request_review_comment",
];
/// The triggers that run the default branch's workflow, which may check out the head.
const BESIDE_IT: [&str; 3] = ["pull_request_target", "workflow_run", "issue_comment"];

/// Something that an agent's code could get hold of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Risk {
    Secrets,
    /// A self-hosted runner.
    OwnRunner,
    /// A token with write permission.
    Token,
}

impl Risk {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Secrets => "secrets",
            Self::OwnRunner => "a self-hosted runner",
            Self::Token => "a token that may write",
        }
    }
}

/// A workflow that an agent's work would start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) file: String,
    /// The events that start the workflow.
    pub(super) triggers: Vec<&'static str>,
    pub(super) risks: Vec<Risk>,
}

/// Returns the workflow if an agent's work starts it. An unreadable workflow counts as not started: GitHub refuses it.
pub(super) fn started(file: &str, text: &str) -> Option<Started> {
    let node = Node::from_yaml(text, MAX_BYTES).ok()?;
    let on = entry(&node, "on")?;
    let takes_the_head = text.contains(".head.") || text.contains("head_");
    let beside = BESIDE_IT.into_iter().filter(|_| takes_the_head);
    let triggers: Vec<&str> = OF_THE_HEAD
        .into_iter()
        .chain(beside)
        .filter(|trigger| fires(on, trigger))
        .collect();
    let writes = entry(&node, "permissions").is_none_or(may_write);
    let shows_secrets = text.contains("secrets.") || text.contains("secrets: inherit");
    let risks = [
        (shows_secrets, Risk::Secrets),
        (text.contains("self-hosted"), Risk::OwnRunner),
        (writes || text.contains(": write"), Risk::Token),
    ];
    let risks = risks
        .into_iter()
        .filter_map(|(is_there, risk)| is_there.then_some(risk));
    (!triggers.is_empty()).then(|| Started {
        file: file.to_owned(),
        triggers,
        risks: risks.collect(),
    })
}

fn entry<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    let (_, value) = node.entries()?.iter().find(|(key, _)| key.name == name)?;
    Some(value)
}

/// Returns the texts of a list, or a single text.
fn texts(node: &Node) -> Vec<&str> {
    let listed = node.items().unwrap_or_default().iter();
    listed.filter_map(Node::text).chain(node.text()).collect()
}

/// `true` if our branches fire the trigger. A filter of a pull request's branches names the base, and the Feature's
/// pull request has the same base as everybody's.
fn fires(on: &Node, trigger: &str) -> bool {
    let Some(filters) = entry(on, trigger) else {
        return texts(on).contains(&trigger);
    };
    if trigger != "push" {
        return true;
    }
    let named = |name: &str| entry(filters, name).map(texts);
    match (named("branches"), named("branches-ignore")) {
        (Some(wanted), _) => last_word(&wanted),
        (None, Some(ignored)) => !last_word(&ignored),
        (None, None) => named("tags").is_none() && named("tags-ignore").is_none(),
    }
}

/// `true` if the patterns include our branch: the last match decides.
fn last_word(patterns: &[&str]) -> bool {
    patterns
        .iter()
        .fold(false, |so_far, pattern| match pattern.strip_prefix('!') {
            Some(not) => so_far && !fits(not, OURS),
            None => so_far || fits(pattern, OURS),
        })
}

/// Matches a pattern in which `*` stands for any text without a slash, and `**` for any text. It goes through the
/// pattern once with the set of all possible positions in the name, so a pattern of many stars is no slower.
fn fits(pattern: &str, name: &str) -> bool {
    let mut places: Vec<usize> = vec![0];
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let (star, after) = match (rest.strip_prefix("**"), rest.strip_prefix('*')) {
            (Some(after), _) => (Some("**"), after),
            (None, Some(after)) => (Some("*"), after),
            (None, None) => (None, rest.get(letter.len_utf8()..).unwrap_or_default()),
        };
        let from = |place: &usize| name.get(*place..).unwrap_or_default();
        places = match star {
            None => places
                .iter()
                .filter(|place| from(place).starts_with(letter))
                .map(|place| place.saturating_add(letter.len_utf8()))
                .collect(),
            Some(star) => {
                let ends = |place: &usize| match star {
                    "**" => name.len(),
                    _ => from(place)
                        .find('/')
                        .map_or(name.len(), |slash| place.saturating_add(slash)),
                };
                let reached: BTreeSet<usize> = places.iter().flat_map(|place| *place..=ends(place)).collect();
                reached.into_iter().collect()
            }
        };
        rest = after;
    }
    places.contains(&name.len())
}

/// `true` if the workflow's `permissions:` give its token more than reading; `read-all` and a map of only `read` do
/// not.
fn may_write(permissions: &Node) -> bool {
    match (permissions.text(), permissions.entries()) {
        (Some(word), _) => word != "read-all",
        (None, Some(entries)) => entries.iter().any(|(_, level)| level.text() == Some("write")),
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agents_work_starts_may_answer_with_what_it_hands_over() {
        let read = "permissions: read-all\n";
        let table: [(&str, Option<&[&str]>); 13] = [
            ("on: push\n", Some(&["push"])),
            ("on: [push, pull_request, release]\n", Some(&["push", "pull_request"])),
            ("on:\n  push:\n    branches: [main]\n", None),
            ("on:\n  push:\n    branches: ['**']\n", Some(&["push"])),
            ("on:\n  push:\n    branches: ['*']\n", None),
            ("on:\n  push:\n    branches: ['**', '!autobuild/**']\n", None),
            ("on:\n  push:\n    branches-ignore: ['autobuild/**']\n", None),
            ("on:\n  push:\n    tags: ['v*']\n", None),
            ("on:\n  pull_request:\n    branches: [main]\n", Some(&["pull_request"])),
            ("on: workflow_dispatch\n", None),
            ("on: pull_request_target\n", None),
            (
                "on: pull_request_target\nenv:\n  REF: ${{ github.event.pull_request.head.sha }}\n",
                Some(&["pull_request_target"]),
            ),
            ("on: [unclosed", None),
        ];
        for (text, expected) in table {
            let found = started("ci.yml", &format!("{read}{text}")).map(|started| started.triggers);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn secrets_own_machines_and_tokens_that_write_are_risks() {
        let risks = |rest: &str| started("ci.yml", &format!("on: push\n{rest}")).unwrap().risks;
        assert_eq!(risks("permissions: read-all\n"), []);
        assert_eq!(risks("permissions: { contents: read }\n"), []);
        assert_eq!(risks(""), [Risk::Token]);
        assert_eq!(risks("permissions: { contents: write }\n"), [Risk::Token]);
        let all = "permissions: {}\nenv:\n  K: ${{ secrets.K }}\njobs:\n  a:\n    runs-on: self-hosted\n    permissions:\n      packages: write\n";
        assert_eq!(risks(all), [Risk::Secrets, Risk::OwnRunner, Risk::Token]);
    }
}
