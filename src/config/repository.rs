//! A repository's settings: `.github/autobuild.yml`, read from the default branch only.

use crate::config::{
    budgets::Budget,
    repository_keys::{KEYS, LONGEST_LABEL},
    repository_values::{
        Checks, Commands, CommitsBy, Coverage, Inquiring, Network, PreLoop, Remarks, RoleTimeouts, TestDemand,
    },
    role::ByRole,
    shapes::{Offer, Reading},
};
use domain::{
    ci::CiPolicy,
    ci_definitions,
    feature::{Mode, PlanApproval, Records, WaivedConclusion},
    task::MergePolicy,
    titles::TitleForm,
};
use serde::{Deserialize, Serialize};
use text::{
    mistake::{Position, SettingsMistake},
    node::{Node, Shape as Value},
    shell_command::ShellCommand,
};

/// The path of a repository's settings.
pub const SETTINGS_FILE: &str = ".github/autobuild.yml";

const MAX_BYTES: usize = 64 * 1024;

/// Files and folders in which a repository instructs agents of any kind; they count at any depth, as file, folder or
/// link.
pub const INSTRUCTION_PATHS: [&str; 15] = [
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".claude",
    ".codex",
    ".agents",
    ".gemini",
    ".cursor",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".mcp.json",
    "/.github",
];

/// The start of the path of each of AutoBuild's own records, which no test of a repository reads.
pub const RECORDS_FOLDER: &str = ".autobuild/";

/// The pattern of AutoBuild's records.
const RECORDS: &str = "/.autobuild";

/// The places besides `.github` in which GitHub reads who has to review a file.
const CODE_OWNERS: [&str; 2] = ["/CODEOWNERS", "/docs/CODEOWNERS"];

/// The settings of one repository; a key that the file leaves out has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RepositorySettings {
    pub label: String,
    /// The rule for when a plan waits for a person's approval.
    pub plan_approval: PlanApproval,
    /// The turns of a Task before it is blocked.
    pub max_turns: u32,
    pub max_tasks: u32,
    /// The most Tasks of a Feature that run at the same time.
    pub max_parallel_tasks: u32,
    /// Who merges an approved Task.
    pub merge: MergePolicy,
    /// When a Task is designed before its first turn.
    pub pre_loop: PreLoop,
    /// Who answers an agent's questions; `None` to ask people if only people with write access wrote the issue.
    pub inquiries: Option<Inquiring>,
    /// The rule for new tests, which may have to fail on the old code.
    pub mode: Mode,
    /// How much work the Gates do to prove the tests.
    pub checks: Checks,
    /// How the repository's own CI counts as evidence.
    pub ci: CiPolicy,
    /// How long the plan and its tasks are kept in files on the integration branch, if they are.
    pub records: Records,
    /// The conclusion of the check on work that holds only because a person waived something.
    pub waived: WaivedConclusion,
    /// Who creates the commits that are pushed.
    pub commits: CommitsBy,
    /// The command that prepares a checkout; `None` to detect it.
    pub setup: Option<ShellCommand>,
    /// The command that runs the tests; `None` to detect it.
    pub test: Option<ShellCommand>,
    /// The rule for a Feature if no command runs the repository's tests: it waits or starts.
    pub tests: TestDemand,
    /// The JUnit XML file that the test command writes; `None` to read the runner's own output.
    pub test_report: Option<String>,
    /// The time limit of set-up, in seconds.
    pub setup_timeout: u64,
    /// The time limit of the tests and of every other command, in seconds.
    pub test_timeout: u64,
    /// The form of the titles of pull requests and commits.
    pub titles: TitleForm,
    pub coverage: Coverage,
    /// The agents by role; `None` for the server's choice.
    pub agent: ByRole<Option<String>>,
    /// The models by role; `None` for the server's choice.
    pub model: ByRole<Option<String>>,
    /// The most model calls in one run of an agent, if its program counts them.
    pub agent_turns: u32,
    /// The time limit of an agent's run by role.
    pub timeouts: RoleTimeouts,
    pub budget: Budget,
    /// Patterns of paths that no Player may change, besides those that are always protected.
    pub protected_paths: Vec<String>,
    /// The people whose commands AutoBuild follows.
    pub commands: Commands,
    /// The people whose remarks reach the Coach.
    pub remarks: Remarks,
    /// The network that the repository's commands may reach.
    pub network: Network,
}

impl Default for RepositorySettings {
    fn default() -> Self {
        Self {
            label: "autobuild".to_owned(),
            plan_approval: PlanApproval::From(7),
            max_turns: 5,
            max_tasks: 20,
            max_parallel_tasks: 2,
            merge: MergePolicy::Auto,
            pre_loop: PreLoop::Auto,
            inquiries: None,
            mode: Mode::Tdd,
            checks: Checks::default(),
            ci: CiPolicy::Auto,
            records: Records::WhileBuilding,
            waived: WaivedConclusion::Neutral,
            commits: CommitsBy::Git,
            setup: None,
            test: None,
            tests: TestDemand::Required,
            test_report: None,
            setup_timeout: 20 * 60,
            test_timeout: 30 * 60,
            titles: TitleForm::default(),
            coverage: Coverage::default(),
            agent: ByRole::default(),
            model: ByRole::default(),
            agent_turns: 30,
            timeouts: RoleTimeouts::default(),
            budget: Budget::default(),
            protected_paths: Vec::new(),
            commands: Commands::default(),
            remarks: Remarks::default(),
            network: Network::default(),
        }
    }
}

impl RepositorySettings {
    /// Reads the file.
    ///
    /// `offered` holds the names that the server offers: a repository can name an agent but never supplies a command
    /// line for one.
    pub fn parse(text: &str, offered: &Offer) -> Result<Self, Vec<SettingsMistake>> {
        let whole_file = |place: Position, said: String| {
            vec![SettingsMistake::Invalid { place, key: String::new(), said, valid: String::new() }]
        };
        let node = Node::from_yaml(text, MAX_BYTES)
            .map_err(|wrong| whole_file(wrong.place.unwrap_or(Position::START), wrong.sentence))?;
        if node.value == Value::Null {
            return Ok(Self::default());
        }
        let mut reading = Reading { offered, mistakes: Vec::new() };
        let found = reading.table("", KEYS, &node);
        if !reading.mistakes.is_empty() {
            return Err(reading.mistakes);
        }
        serde_json::from_value(found).map_err(|error| whole_file(Position::START, error.to_string()))
    }

    /// Returns the label that a settings file names, even if the file has mistakes elsewhere: the person who sets that
    /// label must learn about them. A label that GitHub cannot have is a mistake itself, which the usual label shows.
    pub fn label_in(text: &str) -> Option<String> {
        let node = Node::from_yaml(text, MAX_BYTES).ok()?;
        let (_, label) = node.entries()?.iter().find(|(key, _)| key.name == "label")?;
        let label = label.text()?.to_owned();
        (1..=LONGEST_LABEL).contains(&label.chars().count()).then_some(label)
    }

    /// `true` if a settings file has this setting, such as `budget.usd_per_task`.
    pub fn sets(text: &str, setting: &str) -> bool {
        let inner = |node: Node, name: &str| {
            let entries = node.entries()?.iter();
            entries.clone().find(|(key, _)| key.name == name).map(|(_, value)| value.clone())
        };
        Node::from_yaml(text, MAX_BYTES).is_ok_and(|file| setting.split('.').try_fold(file, inner).is_some())
    }

    /// Returns every pattern of paths that no Player may change.
    pub fn protected(&self) -> Vec<String> {
        let always = INSTRUCTION_PATHS.iter().chain([&RECORDS]).chain(&CODE_OWNERS);
        let own = self.protected_paths.iter();
        let folders = own.clone().filter_map(|pattern| folder_itself(pattern));
        let always = always.map(|path| (*path).to_owned());
        always.chain(ci_definitions::protected_patterns()).chain(own.cloned()).chain(folders).collect()
    }
}

/// If a pattern names the content of a folder, returns the pattern of the folder itself: otherwise a file or a link
/// could replace the folder.
fn folder_itself(pattern: &str) -> Option<String> {
    let folder = pattern.trim_end_matches(['*', '/']);
    // A slash before a pattern's end anchors the pattern at the root.
    let is_tied = pattern.strip_prefix(folder).is_some_and(|end| end.starts_with("/*"));
    let is_folder = pattern.strip_prefix(folder).is_some_and(|end| end.starts_with('/'));
    match (is_folder && !folder.is_empty(), is_tied && !folder.contains('/')) {
        (false, _) => None,
        (true, true) => Some(format!("/{folder}")),
        (true, false) => Some(folder.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::RepositorySettings;
    use crate::config::{
        Mode, Records, Role, json_schema,
        repository_keys::KEYS,
        repository_values::{CommitsBy, Depth, Inquiring, Permission, PreLoop, Remarks, TestDemand},
        shapes::Offer,
    };
    use domain::{ci::CiPolicy, feature::PlanApproval, task::MergePolicy};
    use text::mistake::SettingsMistake;

    fn offer(agents: &[&str]) -> Offer {
        Offer { agents: agents.iter().map(|name| (*name).to_owned()).collect(), models: vec!["gpt-x".to_owned()] }
    }

    fn parse(text: &str) -> RepositorySettings {
        RepositorySettings::parse(text, &offer(&["house", "fast"])).unwrap()
    }

    fn mistakes(text: &str) -> Vec<String> {
        let mistakes = RepositorySettings::parse(text, &offer(&["house"])).unwrap_err();
        let told = |mistake| match mistake {
            SettingsMistake::Invalid { place, key, said, .. } if key.is_empty() => format!("{place}: {said}"),
            SettingsMistake::Invalid { place, key, said, valid } => format!("{place}: `{key}`: {said}; valid: {valid}"),
            other @ (SettingsMistake::TooLarge { .. } | SettingsMistake::NoFile) => {
                panic!("{other:?}")
            }
        };
        mistakes.into_iter().map(told).collect()
    }

    #[test]
    fn an_empty_file_is_the_defaults() {
        for text in ["", "# nothing yet\n", "label:\nbudget:\n"] {
            assert_eq!(parse(text), RepositorySettings::default(), "{text:?}");
        }
    }

    #[test]
    fn a_form_of_titles_without_sense_is_a_mistake_with_its_place() {
        let said = mistakes("titles: '{kind}: {name}'\n");
        assert!(said[0].starts_with("line 1, column 9: `titles`: `{kind}` is unknown"), "{said:?}");
        let said = mistakes("label: a\ntitles: fixed\n");
        assert!(said[0].contains("a title needs `{name}` or `{subject}`"), "{said:?}");
    }

    #[test]
    fn every_setting_is_read() {
        let settings = parse(
            "label: build\nplan_approval: never\nmax_turns: 3\nmax_tasks: 7\nmax_parallel_tasks: 4\nmerge: human\n\
             setup: npm ci\ntest: npm test -- --run\nagent: {player: fast, coach: house}\n\
             timeouts: {player: 90, coach: 30m, planner: 1h}\nprotected_paths: [infra/**, '*.lock']\n\
             commands: {permission: admin}\npre_loop: always\ninquiries: default\nmode: standard\nchecks: {depth: quick}\nci: ignore\nrecords: keep\nwaived: success\ncommits: github\n\
             model: {player: gpt-x, coach: strong}\nagent_turns: 9\n\
             test_report: ./out//junit.xml\ncoverage: {command: make cov, file: lcov.info, threshold: 75}\n\
             setup_timeout: 45m\ntest_timeout: 90\ntitles: '{type}: {subject}'\ntests: optional\nremarks: anyone\n",
        );
        assert_eq!((settings.setup_timeout, settings.test_timeout), (2_700, 90));
        assert_eq!(settings.titles.to_string(), "{type}: {subject}");
        assert_eq!(settings.tests, TestDemand::Optional);
        assert_eq!(settings.remarks, Remarks::Anyone);
        assert_eq!(settings.label, "build");
        assert_eq!(settings.plan_approval, PlanApproval::Never);
        assert_eq!((settings.max_turns, settings.max_tasks, settings.max_parallel_tasks), (3, 7, 4));
        assert_eq!(settings.merge, MergePolicy::Human);
        assert_eq!(settings.test.as_ref().unwrap().text(), "npm test -- --run");
        assert_eq!(settings.agent.of(Role::Player).as_deref(), Some("fast"));
        assert_eq!(settings.agent.of(Role::Planner).as_deref(), None);
        let seconds = Role::ALL.map(|role| settings.timeouts.of(role).as_secs());
        assert_eq!(seconds, [3_600, 1_200, 90, 1_800]);
        assert_eq!(settings.protected_paths, ["infra/**", "*.lock"]);
        let protected = settings.protected();
        for pattern in ["/.autobuild", "/.github", "AGENTS.override.md", ".cursor", "infra/**", "/infra", "*.lock"] {
            assert!(protected.iter().any(|known| known == pattern), "{pattern}");
        }
        assert_eq!(settings.commands.permission, Permission::Admin);
        assert_eq!(
            (settings.pre_loop, settings.mode, settings.ci, settings.records, settings.commits),
            (PreLoop::Always, Mode::Standard, CiPolicy::Ignore, Records::Keep, CommitsBy::Github)
        );
        assert_eq!(settings.inquiries, Some(Inquiring::Default));
        assert_eq!(settings.waived, domain::feature::WaivedConclusion::Success);
        assert_eq!(settings.checks.depth, Depth::Quick);
        assert_eq!(settings.test_report.as_deref(), Some("out/junit.xml"));
        assert_eq!(settings.model.of(Role::Player).as_deref(), Some("gpt-x"));
        assert_eq!(settings.model.of(Role::Coach).as_deref(), Some("strong"));
        assert_eq!((settings.model.of(Role::Planner).as_deref(), settings.agent_turns), (None, 9));
        assert_eq!(settings.coverage.file.as_deref(), Some("lcov.info"));
        assert_eq!(settings.coverage.threshold, 75.0);
    }

    #[test]
    fn what_this_version_does_not_act_on_is_accepted_and_named() {
        let settings = parse("budget: {usd_per_task: 0}\nnetwork: {allow: ['*.example.com']}\n");
        assert_eq!(settings.network.allow, ["*.example.com".parse().unwrap()]);
        assert_eq!(settings.budget.usd_per_task, 0.0);
        assert_eq!(settings.budget.usd_per_feature, 50.0);
    }

    #[test]
    fn every_mistake_has_its_place_and_the_valid_values() {
        insta::assert_snapshot!(
            mistakes(
                "max_turn: 3\nmax_tasks: many\nplan_approval: 11\nmerge: yes\nlabel: ''\ntest: \"cargo 'test\"\nsetup: true\n\
                 agent: \"command: rm -rf /\"\nbudget:\n  usd_per_task: -1\n  usd_per_wave: 3\ntimeouts: {coach: 2d}\n\
                 protected_paths: [ok, ../x, '[']\ncommands: 3\nnetwork: {allow: 'a b'}\nagent_turns: 1.5\nmodel: gpt-9\ncolour: red\n\
                 pre_loop: sometimes\nmode: true\nci: on\ntest_report: ../junit.xml\ncoverage: {file: /lcov.info}\n"
            )
            .join("\n")
        );
    }

    #[test]
    fn a_number_that_is_too_large_is_a_mistake() {
        for text in [
            "max_turns: 4294967296",
            "max_tasks: 18446744073709551615",
            "agent_turns: 99999999999999999999999",
            "budget: {tokens_per_task: 9999999999999999999}",
            "budget: {usd_per_feature: 1e308}",
            "budget: {hours_per_task: 10000001}",
        ] {
            let said = mistakes(text);
            assert!(matches!(&said[..], [one] if one.contains("the number is too large")), "{text}: {said:?}");
        }
        assert!(mistakes("max_turns: -1")[0].contains("valid: a whole number, at least 0"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_one_mistake() {
        assert_eq!(mistakes("a: 1\na: 2").len(), 1);
        assert_eq!(mistakes("[1, 2]").len(), 1);
        assert_eq!(mistakes(&"x".repeat(70_000)), ["line 1, column 1: the file is larger than 65536 bytes"]);
        let endless = (0..900).map(|k| format!("x{k}: 1\n")).collect::<String>();
        assert_eq!(mistakes(&endless).len(), 50);
    }

    #[test]
    fn settings_are_stored_and_read_back_also_by_an_older_or_newer_version() {
        let settings = parse("plan_approval: always\ntest: make test\nagent: fast\n");
        let stored = serde_json::to_value(&settings).unwrap();
        assert_eq!(serde_json::from_value::<RepositorySettings>(stored.clone()).unwrap(), settings);
        let mut other = stored;
        other.as_object_mut().unwrap().insert("later".to_owned(), 1.into());
        other.as_object_mut().unwrap().remove("merge");
        assert_eq!(serde_json::from_value::<RepositorySettings>(other).unwrap(), settings);
    }

    #[test]
    fn table_type_and_schema_name_the_same_keys() {
        let sorted = |object: &serde_json::Value| {
            let mut names: Vec<String> = object.as_object().unwrap().keys().cloned().collect();
            names.sort();
            names
        };
        let mut table: Vec<String> = KEYS.iter().map(|key| key.name.to_owned()).collect();
        table.sort();
        let typed = serde_json::to_value(RepositorySettings::default()).unwrap();
        let schema = json_schema();
        assert_eq!(sorted(&typed), table);
        assert_eq!(sorted(&schema["properties"]), table);
        for inner in ["coverage", "budget", "commands", "network"] {
            assert_eq!(sorted(&typed[inner]), sorted(&schema["properties"][inner]["properties"]));
        }
        assert_eq!(schema["additionalProperties"], false);
    }
}
