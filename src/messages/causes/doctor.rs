//! The questions that the rows of `doctor` answer, and their sum.

use crate::messages::form::words::count;
use domain::diagnosis::{Row, RowStatus, Topic};

pub fn about_topic(topic: Topic) -> &'static str {
    match topic {
        Topic::Program => "Which version runs? Was its file replaced since it started?",
        Topic::Git => "Is git there, new enough and patched?",
        Topic::Settings => "Can every server setting be read, and does this version use it?",
        Topic::DataFolder => "Can the service write to its data folder? Has its disk room?",
        Topic::Steps => "In a running service: does some process take the steps that wait?",
        Topic::Address => "Can the service listen at its address?",
        Topic::Database => "Does the database take writes, and can it grow? Are its tables those of this version?",
        Topic::OwnRepository => "On a laptop: is there a repository with a commit here?",
        Topic::Isolation => "Which isolation level does this machine offer, and what keeps it from more?",
        Topic::Agent => "Is each agent's program installed and new enough? Is its key set?",
        Topic::Proxy => "If your organisation has a proxy: does it connect the service with GitHub?",
        Topic::App => "Does GitHub accept the App's id and key? Does the App ask for every permission and event?",
        Topic::CoachApp => "The same for the Coach App.",
        Topic::Clock => "How far is this machine's clock from GitHub's?",
        Topic::Webhook => "Where does GitHub send deliveries? Can it reach that address?",
        Topic::Deliveries => "How were the last deliveries answered?",
        Topic::Installation => "For each account: did it grant every permission and event? Is it suspended?",
        Topic::Repository => "With `--repo`: is the App installed there? Is it read-only?",
        Topic::BranchRules => "With `--repo`: does a rule keep AutoBuild from making or pushing `autobuild/**`?",
        Topic::Approval => "With `--repo`: do rules ask for approvals, and does the Coach's count?",
        Topic::MergeMethods => "With `--repo`: which ways of merging are allowed?",
        Topic::Workflows => "With `--repo`: which workflows would run what an agent wrote?",
        Topic::SettingsFile => "Is `.github/autobuild.yml` there, and without mistakes?",
        Topic::Labels => "With `--repo`: are the labels there that start AutoBuild?",
        Topic::TestCommand => "Which command runs the tests?",
    }
}

/// Sums up all rows in one line.
pub fn summary_of_rows(rows: &[Row]) -> String {
    let number = |status: RowStatus| rows.iter().filter(|row| row.status == status).count();
    match (number(RowStatus::Broken), number(RowStatus::Warning)) {
        (0, 0) => "Everything is as it should be.".to_owned(),
        (0, warnings) => format!("Nothing is broken. {}.", count(warnings, "warning")),
        (broken, warnings) => format!("Broken: {broken}. Warnings: {warnings}."),
    }
}

/// Returns how to get an agent's program that is missing or too old, for an operator.
pub fn how_to_install(program: &str) -> String {
    let package = match program {
        "claude" => "@anthropic-ai/claude-code",
        "codex" => "@openai/codex",
        "claude-agent-acp" => "@agentclientprotocol/claude-agent-acp",
        "codex-acp" => "@agentclientprotocol/codex-acp",
        "gemini" => "@google/gemini-cli",
        "opencode" => "opencode-ai",
        _ => return "install it where AutoBuild's PATH finds it, or name another agent".to_owned(),
    };
    format!("install it: npm install -g {package}")
}

#[cfg(test)]
mod tests {
    use super::how_to_install;

    /// A person who runs it locally has no service.
    #[test]
    fn an_unknown_program_is_installed_where_autobuild_finds_it() {
        let how = how_to_install("no-such-program");
        assert_eq!(how, "install it where AutoBuild's PATH finds it, or name another agent");
    }
}
