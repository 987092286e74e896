//! The stories: their repository, their agents, and the moves of people whenever everything rests.

use crate::{
    beside::{MONA, REPO},
    world::{EVE, World},
};
use forge::NewCiJob;
use std::path::Path;

/// The number of the issue.
pub const ISSUE: u64 = 1;

const PLANNED: &str = r#"
- role: planner
  answer:
    name: Count lines
    description: Give tally an option that counts lines.
    tasks:
      - id: TASK-001
        name: Count lines
        type: feature
        description: lines.sh prints the number of lines of standard input.
        acceptance_criteria:
          - text: A last line without a newline counts
            check: { test: all }
        files: [lines.sh]
        factors: { integration_points: 0, tests: unit, risks: [] }
        dependencies: []
"#;

const INQUIRY: &str = r#"
- role: player
  answer:
    inquiries: [{ question: Which lines count?, default: all }]
"#;

const FIRST_TURN: &str = r#"
- role: player
  write: { lines.sh: "wc -l\n" }
  answer:
    summary: lines.sh counts lines.
    files_modified: []
    files_created: [lines.sh]
    tests_run: true
    tests_passed: true
    ready_for_validation: true
- role: coach
  answer:
    decision: feedback
    summary: A last line without a newline is not counted.
    issues:
      - severity: must_fix
        category: requirement
        description: wc -l counts newlines.
        file: lines.sh
        line: 1
"#;

/// The files in the report of the second turn's Player, and in its report if there was no first turn.
const MODIFIED: &str = "files_modified: [lines.sh]\n    files_created: []";
const CREATED: &str = "files_modified: []\n    files_created: [lines.sh]";

const SECOND_TURN: &str = r#"
- role: player
  write: { lines.sh: "awk 'END { print NR }'\n" }
  answer:
    summary: lines.sh counts with awk.
    files_modified: [lines.sh]
    files_created: []
    tests_run: true
    tests_passed: true
    ready_for_validation: true
- role: coach
  answer:
    decision: approve
    summary: Every line counts now.
    criteria:
      - { criterion: 1, met: true, evidence: "test all" }
"#;

/// A planner that first asks a question, and a designer.
const DESIGNED: &str = r#"
- role: planner
  answer:
    inquiries: [{ question: Which lines count?, default: all }]
PLANNED
- role: designer
  answer:
    plan: 1. Write lines.sh.
    pattern: none
    architecture_review: { score: 91, findings: [] }
    complexity: 1
"#;

/// A change that works alone but not together with the changes of people meanwhile, and a first turn with more remarks
/// than fit into one request for annotations.
const BROKEN: &str = r#"
- role: planner
  answer:
    name: Count words
    tasks:
      - id: TASK-001
        name: Count words
        type: scaffolding
        acceptance_criteria:
          - text: words.sh is there
            check: { file: words.sh }
        files: [words.sh]
        factors: { integration_points: 0, tests: unit, risks: [] }
- role: player
  task: TASK-001
  turn: 1
  write: { words.sh: "LINES" }
  answer: { summary: words.sh counts words., files_modified: [], files_created: [words.sh], ready_for_validation: true }
- role: coach
  task: TASK-001
  turn: 1
  answer:
    decision: feedback
    summary: Every line could be better.
    issues:
REMARKS
- role: player
  task: TASK-001
  turn: 2
  write: { words.sh: "wc -w\n" }
  answer: { summary: Now it does., files_modified: [words.sh], files_created: [], ready_for_validation: true }
- role: coach
  task: TASK-001
  turn: 2
  answer: { decision: approve, summary: Fine., criteria: [{ criterion: 1, met: true, evidence: words.sh }] }
"#;

/// The tasks that are added to the plan: the repair of the combination that fails, and the conflict with the next
/// change of people.
const MENDED: &str = r#"
- role: player
  task: TASK-FIX-1
  write: { both.txt: "both\n" }
  answer: { summary: Both hold., files_modified: [], files_created: [both.txt], ready_for_validation: true }
- role: coach
  task: TASK-FIX-1
  answer: { decision: approve, summary: Fine., criteria: [{ criterion: 1, met: true, evidence: both.txt }] }
- role: player
  task: TASK-SYNC-1
  write: { words.sh: "wc -w # theirs\n" }
  answer: { summary: Both sides stay., files_modified: [words.sh], files_created: [], ready_for_validation: true }
- role: coach
  task: TASK-SYNC-1
  answer: { decision: approve, summary: Fine., criteria: [{ criterion: 1, met: true, evidence: words.sh }] }
"#;

/// Each of words and notes works alone; together they need code that handles both.
const TOGETHER: &str =
    "[ ! -f words.sh ] || [ ! -f NOTES.md ] || [ -f both.txt ] || { echo 'not ok 1 - all'; echo 1..1; exit 1; }";

/// A commit status that each push gets.
const GREEN: NewCiJob<'static> = NewCiJob {
    app: None,
    branches: "autobuild/*",
    name: "build",
    conclusion: Some("success"),
    summary: "All is well.",
};

/// The number of remarks: two full requests, and some more.
const REMARKS: usize = 98;

/// An action of people.
pub enum Move {
    /// The issue is filed and labelled.
    Label,
    /// A comment: the author, the thread, the text.
    Comment(&'static str, u64, &'static str),
    /// A person changes the default branch.
    PushToDefault,
    /// A person changes the same lines on the default branch as the Feature.
    PushConflict,
    /// A person pushes to the branch of a pull request.
    PushToPull(u64),
    /// A person merges a pull request.
    Merge(u64),
}

/// A Player that is a program and reports when it runs.
const PLAYER: &str = r#"
echo run >> FOLDER/player.runs
case $AUTOBUILD_TURN in
1) echo 'wc -l' > lines.sh; modified='' created='"lines.sh"' ;;
*) echo "awk 'END { print NR }'" > lines.sh; modified='"lines.sh"' created='' ;;
esac
WAIT
echo '{"summary": "lines.sh counts lines.", "files_modified": ['"$modified"'], "files_created": ['"$created"'],
"tests_run": true, "tests_passed": true, "ready_for_validation": true}'
"#;

/// Reports that it runs, and waits until it may continue.
const WAIT: &str = "echo NAME > FOLDER/started; read -r line < FOLDER/go";

/// Takes long enough for a fault to strike.
const TAKE: &str = "sleep 0.7";

/// The duration of a story's Player and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// They end at once.
    Immediate,
    /// They report that they run, and wait.
    Waiting,
    /// They take a while.
    Slow,
}

/// A story.
pub struct Story {
    /// Its unique name.
    pub name: &'static str,
    /// The agents' script.
    pub agents: String,
    /// The duration of its programs.
    pub pace: Pace,
    /// `true` if the Player is a program instead of a script.
    player_is_program: bool,
    /// Its settings, with the end of its test command.
    settings: &'static str,
    tests: &'static str,
    /// The jobs of the repository's CI.
    pub ci: &'static [NewCiJob<'static>],
    /// The moves of people, one after the other, each when nothing is left to do.
    pub moves: Vec<Move>,
}

impl Story {
    /// Every kind of effect on the way to a completed Feature: feedback, blocked, a refused command, resume, approval,
    /// merges, the feature pull request, clean-up.
    pub fn completed() -> Self {
        Self {
            name: "completed",
            agents: [PLANNED, FIRST_TURN, SECOND_TURN].concat(),
            pace: Pace::Immediate,
            player_is_program: false,
            settings: "max_turns: 1\nci: ignore\n",
            tests: "",
            ci: &[],
            moves: vec![
                Move::Label,
                Move::Comment(EVE, 2, "/autobuild resume"),
                Move::PushToDefault,
                Move::Comment(MONA, 2, "/autobuild resume Use awk."),
                Move::Merge(3),
            ],
        }
    }

    /// Runs that report their costs, within a budget; one turn, without any move of people.
    pub fn paid() -> Self {
        let paid = |step: &str, usd: &str| {
            let usage = format!("\n  usage: {{ usd: {usd}, input: 9000, output: 800 }}\n  answer:");
            step.replacen("\n  answer:", &usage, 1)
        };
        let (player, coach) = SECOND_TURN.split_at(SECOND_TURN.rfind("- role:").unwrap_or_default());
        let player = player.replace(MODIFIED, CREATED);
        Self {
            name: "paid",
            agents: [paid(PLANNED, "0.03"), paid(&player, "0.25"), paid(coach, "0.07")].concat(),
            pace: Pace::Immediate,
            player_is_program: false,
            settings: "ci: ignore\nbudget: { usd_per_task: 4, usd_per_feature: 20 }\n",
            tests: "",
            ci: &[],
            moves: vec![Move::Label],
        }
    }

    /// The other kinds of effects: an inquiry and its answer, a second attempt, an override, a cancelled Feature.
    pub fn cancelled() -> Self {
        Self {
            name: "cancelled",
            agents: [PLANNED, INQUIRY, FIRST_TURN, FIRST_TURN].concat(),
            pace: Pace::Immediate,
            player_is_program: false,
            settings: "max_turns: 1\nci: ignore\n",
            tests: "",
            ci: &[],
            moves: vec![
                Move::Label,
                Move::Comment(MONA, ISSUE, "/autobuild resume 'All of them.'"),
                Move::Comment(MONA, 2, "/autobuild retry"),
                Move::Comment(MONA, 3, "/autobuild approve"),
                Move::Comment(MONA, ISSUE, "/autobuild cancel"),
            ],
        }
    }

    /// Tasks that AutoBuild adds to a plan: a red wave gate, the merge that broke it, its repair, a conflict with the
    /// default branch. Also a check run with more annotations than fit into one request.
    pub fn mended() -> Self {
        let remark = |line| {
            format!(
                "      - {{ severity: must_fix, category: design, description: d{line}, file: words.sh, line: {line} }}"
            )
        };
        let remarks: Vec<String> = (1..=REMARKS).map(remark).collect();
        let broken = BROKEN.replace("LINES", &"true\\n".repeat(REMARKS));
        Self {
            name: "mended",
            agents: broken.replace("REMARKS", &remarks.join("\n")) + MENDED,
            pace: Pace::Immediate,
            player_is_program: false,
            settings: "merge: human\nci: ignore\ncommits: github\n",
            tests: TOGETHER,
            ci: &[],
            moves: vec![
                Move::Label,
                Move::PushToDefault,
                Move::Merge(2),
                Move::PushConflict,
                Move::Merge(3),
                Move::Merge(5),
            ],
        }
    }

    /// The same with tests that can be interrupted while they run.
    pub fn caught_mended() -> Self {
        Self { name: "caught_mended", pace: Pace::Waiting, ..Self::mended() }
    }

    /// A Feature that is blocked before it has a plan; then a design, and a check of the default branch.
    pub fn designed() -> Self {
        let planned = DESIGNED.replace("PLANNED", PLANNED.trim());
        Self {
            name: "designed",
            agents: [&planned, SECOND_TURN].concat().replace(MODIFIED, CREATED),
            pace: Pace::Immediate,
            player_is_program: false,
            settings: "pre_loop: always\nci: ignore\n",
            tests: "",
            ci: &[],
            moves: vec![
                Move::Label,
                Move::Comment(MONA, ISSUE, "/autobuild help"),
                Move::Comment(MONA, ISSUE, "/autobuild resume 'All of them.'"),
                Move::PushToDefault,
                Move::Merge(3),
            ],
        }
    }

    /// A Feature that waits for the repository's CI, for the two minutes per commit within which CI must begin.
    fn checked() -> Self {
        Self {
            name: "checked",
            agents: [PLANNED, SECOND_TURN].concat().replace(MODIFIED, CREATED),
            pace: Pace::Slow,
            player_is_program: false,
            settings: "ci: wait\n",
            tests: "",
            ci: &[GREEN],
            moves: vec![Move::Label],
        }
    }

    /// The stories in which faults are drawn: slow ones that have every kind of effect together.
    pub fn slow() -> [Self; 5] {
        let slow = |name, story| Self { name, pace: Pace::Slow, ..story };
        let completed = Self { player_is_program: true, ..Self::completed() };
        let mut cancelled = Self::cancelled();
        // The new head of a blocked task, which was not judged.
        cancelled.moves.insert(2, Move::PushToPull(2));
        [
            slow("slow_completed", completed),
            slow("slow_cancelled", cancelled),
            slow("slow_mended", Self::mended()),
            slow("slow_designed", Self::designed()),
            Self::checked(),
        ]
    }

    /// The same as [`Story::completed`], with a Player and tests that can be interrupted while they run.
    pub fn caught() -> Self {
        Self { name: "caught", pace: Pace::Waiting, player_is_program: true, ..Self::completed() }
    }

    /// The repository's files.
    pub fn files(&self, folder: &Path) -> Vec<(&'static str, String)> {
        let wait = self.wait("tests", folder);
        vec![
            ("README.md", "# tally\n".to_owned()),
            ("run.sh", format!("{wait}\n{}\necho 'ok 1 - all'\necho 1..1\n", self.tests)),
            (".github/autobuild.yml", format!("mode: standard\n{}test: sh run.sh\n", self.settings)),
        ]
    }

    /// The variables that name the agents to the service.
    pub fn agents(&self, folder: &Path) -> Vec<(&'static str, String)> {
        let script = folder.join("agents.yml");
        std::fs::write(&script, &self.agents).unwrap();
        let mut agents = vec![("AUTOBUILD_AGENT", format!("scripted:{}", script.display()))];
        if self.player_is_program {
            let program = folder.join("player.sh");
            let text = PLAYER.replace("WAIT", &self.wait("player", folder));
            std::fs::write(&program, text.replace("FOLDER", &folder.display().to_string())).unwrap();
            agents.push(("AUTOBUILD_AGENT_PLAYER", format!("command:sh {}", program.display())));
        }
        agents
    }

    fn wait(&self, name: &str, folder: &Path) -> String {
        let line = match self.pace {
            Pace::Immediate => "",
            Pace::Waiting => WAIT,
            Pace::Slow => TAKE,
        };
        line.replace("NAME", name).replace("FOLDER", &folder.display().to_string())
    }
}

impl Move {
    /// Performs the move.
    pub async fn play(&self, world: &World) {
        let forge = &world.forge;
        let mona = forge.as_user(MONA).unwrap();
        match self {
            Self::Label => {
                let number = mona.open_issue(REPO, "Count lines", "An option for lines, please.", &[]).unwrap();
                assert_eq!(number, ISSUE);
                mona.label(REPO, number, "autobuild").unwrap();
            }
            Self::Comment(who, number, text) => {
                let said = forge.as_user(who).unwrap().comment(REPO, *number, text);
                assert!(said.is_ok(), "{said:?} at #{number}\n{}", world.log());
            }
            Self::PushToDefault => {
                let files = [("NOTES.md", Some("Meanwhile.\n"))];
                mona.push(REPO, "main", "Add notes", &files).await.unwrap();
            }
            Self::PushConflict => {
                let files = [("words.sh", Some("echo theirs\n"))];
                mona.push(REPO, "main", "Count otherwise", &files).await.unwrap();
            }
            Self::PushToPull(number) => {
                let pull = forge.look(REPO, &format!("pulls/{number}")).await.unwrap();
                let branch = pull["head"]["ref"].as_str().unwrap();
                let files = [("NOTES.md", Some("By hand.\n"))];
                mona.push(REPO, branch, "Add notes", &files).await.unwrap();
            }
            Self::Merge(number) => {
                mona.merge(REPO, *number, "merge").await.unwrap();
            }
        }
    }
}
