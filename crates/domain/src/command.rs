//! Commands that people write in comments, for example `/autobuild resume use the existing parser`. Who may give a
//! command, and whether it makes sense now, is decided elsewhere.

use crate::{ids::TaskId, plan_block};
use serde::{Deserialize, Serialize};
use text::{markdown, nearest::nearest, shorten, words};

const WORD: &str = "/autobuild";

/// The most turns that one `resume` may add.
pub const MAX_TURNS: u32 = 100;

/// The result of reading a comment as a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// No command: no line outside quotes and code starts with `/autobuild`.
    None,
    /// A well-formed command.
    Command(Command),
    /// A command with a mistake.
    Malformed {
        reason: CommandMistake,
        /// The nearest valid form.
        nearest: String,
    },
}

/// A mistake in a command. `given` is the wrong word, shortened for the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandMistake {
    /// The comment names no command after `/autobuild`.
    NoCommand,
    /// There is no such command.
    Unknown {
        /// The wrong word.
        given: String,
    },
    /// The command takes no argument, and one was given.
    Argument {
        verb: String,
        /// The wrong word.
        given: String,
    },
    /// The command takes one argument, and more were given.
    SecondArgument {
        verb: String,
        /// The second argument.
        given: String,
    },
    /// The argument is not the hash of a plan.
    Hash {
        /// The wrong word.
        given: String,
    },
    /// `skip` does not name a task.
    NoTask,
    /// The argument is not the id of a task.
    Task {
        /// The wrong word.
        given: String,
    },
    /// The number of turns is missing, not a number, or outside 1 to [`MAX_TURNS`].
    Turns {
        /// The wrong word.
        given: String,
    },
    /// The number of turns is given more than once.
    TurnsTwice,
}

/// A command, as in section 4 of the product description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verb")]
pub enum Command {
    /// Lists the commands.
    Help,
    /// Makes a new plan; without words and YAML, from the issue alone.
    Plan {
        /// Instructions to the planner.
        words: Option<String>,
        /// The text of a fenced YAML plan that replaces the current one.
        yaml: Option<String>,
    },
    /// Starts a plan that waits for approval, or overrides the Coach.
    Approve {
        /// The plan's hash, or its first digits, at least 8.
        hash: Option<String>,
    },
    /// Continues blocked or paused work.
    Resume {
        /// Guidance for the Player, word for word.
        guidance: Option<String>,
        /// The number of turns to add.
        max_turns: Option<u32>,
    },
    /// Starts a task again from the integration branch.
    Retry {
        /// The task; `None` in a comment on the task's own pull request.
        task: Option<TaskId>,
    },
    /// Gives up a task.
    Skip { task: TaskId },
    /// Pauses the work once the running agents have ended.
    Pause,
    /// Stops the work at once.
    Cancel,
    /// Lets the repository's CI run on the Feature.
    Ci,
    /// Asks for the current state.
    Status,
}

words! {
    /// The forms of the commands, as people write them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CommandForm {
        /// Lists commands and settings.
        Help = "/autobuild help",
        Plan = "/autobuild plan [words or YAML]",
        Approve = "/autobuild approve [hash]",
        Resume = "/autobuild resume [guidance] [--max-turns=N]",
        /// Starts a task again.
        Retry = "/autobuild retry [TASK-001]",
        /// Gives up a task.
        Skip = "/autobuild skip TASK-001",
        Pause = "/autobuild pause",
        Cancel = "/autobuild cancel",
        /// Lets held CI run.
        Ci = "/autobuild ci",
        /// Shows the state.
        Status = "/autobuild status",
    }
}

/// Returns the part of a comment before its first command.
pub fn text_before_command(comment: &str) -> &str {
    let command = markdown::from_line_starting_with(comment, WORD).map_or(0, str::len);
    comment.get(..comment.len() - command).unwrap_or_default()
}

/// A button on one of our check runs, which gives a command without words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    Resume,
    /// Starts the task again.
    Retry,
    /// Lets the repository's CI run.
    RunCi,
}

impl Button {
    /// The buttons of a blocked task, in the order in which they are shown.
    pub const OF_TASK: [Self; 2] = [Self::Resume, Self::Retry];

    pub const ALL: [Self; 3] = [Self::Resume, Self::Retry, Self::RunCi];

    /// Returns the identifier that GitHub sends back when it is pressed, which is also the command's word.
    pub const fn identifier(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Retry => "retry",
            Self::RunCi => "ci",
        }
    }

    pub fn from_identifier(identifier: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.identifier() == identifier)
    }

    pub fn command(self) -> Command {
        match self {
            Self::Resume => Command::Resume { guidance: None, max_turns: None },
            Self::Retry => Command::Retry { task: None },
            Self::RunCi => Command::Ci,
        }
    }
}

/// Reads a comment. Only its first command counts; its arguments may extend to the end of the comment.
pub fn parse(comment: &str) -> Parsed {
    let Some(arguments) = markdown::from_line_starting_with(comment, WORD).and_then(|found| found.strip_prefix(WORD))
    else {
        return Parsed::None;
    };
    let first_line = arguments.lines().next().unwrap_or_default();
    let Some(verb) = first_line.split_whitespace().next() else {
        return malformed(CommandMistake::NoCommand, "/autobuild help");
    };
    let rest = arguments.trim_start().strip_prefix(verb).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    match verb {
        "help" => without_arguments(Command::Help, verb, line),
        "plan" => plan(rest),
        "approve" => approve(line),
        "resume" => resume(rest),
        "retry" => retry(line),
        "skip" => skip(line),
        "pause" => without_arguments(Command::Pause, verb, line),
        "cancel" => without_arguments(Command::Cancel, verb, line),
        "ci" => without_arguments(Command::Ci, verb, line),
        "status" => without_arguments(Command::Status, verb, line),
        unknown => malformed(CommandMistake::Unknown { given: cut(unknown) }, nearest_form(unknown)),
    }
}

fn malformed(reason: CommandMistake, nearest: &str) -> Parsed {
    Parsed::Malformed { reason, nearest: nearest.to_owned() }
}

fn cut(word: &str) -> String {
    shorten::start(word, 40)
}

/// The form of the command that was probably meant; that of `help` if none is near.
fn nearest_form(word: &str) -> &'static str {
    let forms = CommandForm::ALL.map(CommandForm::word);
    let verb = |form: &'static str| form.split(' ').nth(1).unwrap_or_default();
    let meant = nearest(word, forms.map(verb));
    let form = meant.and_then(|meant| forms.into_iter().find(|form| verb(form) == meant));
    form.unwrap_or("/autobuild help")
}

/// The task id that was probably meant: `TASK-002` for `2`, `task2` or `TASK-2`; `TASK-001` if there is no valid
/// number.
fn nearest_task(word: &str) -> TaskId {
    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
    let number = digits.parse().ok().filter(|number| (1..=999).contains(number));
    let planned = || TaskId::Planned(number.unwrap_or(1));
    word.to_ascii_uppercase().parse().unwrap_or_else(|_| planned())
}

/// Reads a command without arguments. Later lines are ignored, so a signature or a quoted mail below it does no harm.
fn without_arguments(command: Command, verb: &str, line: &str) -> Parsed {
    match line.split_whitespace().next() {
        None => Parsed::Command(command),
        Some(extra) => {
            let form = format!("{WORD} {verb}");
            let (verb, given) = (verb.to_owned(), cut(extra));
            malformed(CommandMistake::Argument { verb, given }, &form)
        }
    }
}

fn plan(rest: &str) -> Parsed {
    let yaml = plan_block::find_plan_block(rest);
    let words = not_blank(rest).filter(|_| yaml.is_none());
    Parsed::Command(Command::Plan { words, yaml })
}

fn not_blank(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn approve(line: &str) -> Parsed {
    let mut words = line.split_whitespace();
    let (given, extra) = (words.next().map(str::to_lowercase), words.next());
    let form = "/autobuild approve";
    match (given, extra) {
        (_, Some(extra)) => malformed(second_argument("approve", extra), form),
        (Some(word), None) if !is_hash(&word) => malformed(CommandMistake::Hash { given: cut(&word) }, form),
        (hash, None) => Parsed::Command(Command::Approve { hash }),
    }
}

fn second_argument(verb: &str, extra: &str) -> CommandMistake {
    CommandMistake::SecondArgument { verb: verb.to_owned(), given: cut(extra) }
}

fn is_hash(word: &str) -> bool {
    (8..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn retry(line: &str) -> Parsed {
    let task = one_task("retry", line);
    task.map_or_else(|wrong| wrong, |task| Parsed::Command(Command::Retry { task }))
}

fn skip(line: &str) -> Parsed {
    match one_task("skip", line) {
        Ok(Some(task)) => Parsed::Command(Command::Skip { task }),
        Ok(None) => malformed(CommandMistake::NoTask, "/autobuild skip TASK-001"),
        Err(wrong) => wrong,
    }
}

fn one_task(verb: &str, line: &str) -> Result<Option<TaskId>, Parsed> {
    let mut words = line.split_whitespace();
    let (given, extra) = (words.next(), words.next());
    if let Some(extra) = extra {
        let form = format!("{WORD} {verb} {}", nearest_task(given.unwrap_or_default()));
        return Err(malformed(second_argument(verb, extra), &form));
    }
    let Some(word) = given else { return Ok(None) };
    word.to_ascii_uppercase().parse().map(Some).map_err(|_| {
        let form = format!("{WORD} {verb} {}", nearest_task(word));
        malformed(CommandMistake::Task { given: cut(word) }, &form)
    })
}

const OPTION: &str = "--max-turns";

fn resume(rest: &str) -> Parsed {
    let options: Vec<&str> = rest.split_whitespace().filter(|word| is_option(word)).collect();
    let form = "/autobuild resume --max-turns=3";
    let (guidance, max_turns) = match options.as_slice() {
        [] => (not_blank(rest), None),
        [option] => match turns(option) {
            Some(turns) => (without(rest, option), Some(turns)),
            None => return malformed(CommandMistake::Turns { given: cut(option) }, form),
        },
        [_, _, ..] => return malformed(CommandMistake::TurnsTwice, form),
    };
    Parsed::Command(Command::Resume { guidance, max_turns })
}

fn is_option(word: &str) -> bool {
    let after = word.strip_prefix(OPTION);
    after.is_some_and(|after| after.is_empty() || after.starts_with('='))
}

fn turns(option: &str) -> Option<u32> {
    let number = option.strip_prefix(OPTION)?.strip_prefix('=')?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit());
    let turns = number.parse().ok();
    turns.filter(|turns| plain && (1..=MAX_TURNS).contains(turns))
}

/// Returns the guidance unchanged except for the removed option and one blank before it.
fn without(rest: &str, option: &str) -> Option<String> {
    let mut places =
        rest.match_indices(option).filter_map(|(at, _)| Some((rest.get(..at)?, rest.get(at + option.len()..)?)));
    let is_word = |(before, after): &(&str, &str)| {
        !before.ends_with(|end: char| !end.is_whitespace()) && !after.starts_with(|start: char| !start.is_whitespace())
    };
    let (before, after) = places.find(is_word)?;
    let before = before.strip_suffix(' ').unwrap_or(before);
    not_blank(&format!("{before}{after}"))
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn command(comment: &str) -> Command {
        match parse(comment) {
            Parsed::Command(command) => command,
            other => panic!("{comment:?} is {other:?}"),
        }
    }

    fn resume(guidance: Option<&str>, max_turns: Option<u32>) -> Command {
        Command::Resume { guidance: guidance.map(str::to_owned), max_turns }
    }

    fn plan(words: Option<&str>, yaml: Option<&str>) -> Command {
        Command::Plan { words: words.map(str::to_owned), yaml: yaml.map(str::to_owned) }
    }

    #[test]
    fn every_command_is_read() {
        let hash = |hash: &str| Command::Approve { hash: Some(hash.to_owned()) };
        let table = [
            ("/autobuild help", Command::Help),
            ("/autobuild\tstatus  ", Command::Status),
            ("  /autobuild pause\r\n", Command::Pause),
            ("/autobuild cancel\n\nThanks!\n-- \nAda", Command::Cancel),
            ("/autobuild approve", Command::Approve { hash: None }),
            ("/autobuild approve 1A2B3c4d", hash("1a2b3c4d")),
            ("/autobuild plan", plan(None, None)),
            ("/autobuild plan fewer tasks,\nplease", plan(Some("fewer tasks,\nplease"), None)),
            ("/autobuild plan\n```yaml\ntasks: []\n```\n", plan(None, Some("tasks: []\n"))),
            ("/autobuild plan like\n```yaml\nother: 1\n```", plan(Some("like\n```yaml\nother: 1\n```"), None)),
            ("/autobuild retry", Command::Retry { task: None }),
            ("/autobuild retry TASK-002", Command::Retry { task: Some(TaskId::Planned(2)) }),
            ("/autobuild skip task-012", Command::Skip { task: TaskId::Planned(12) }),
            ("/autobuild skip TASK-FIX-1", Command::Skip { task: TaskId::Fix(1) }),
        ];
        for (comment, expected) in table {
            assert_eq!(command(comment), expected, "{comment:?}");
        }
    }

    #[test]
    fn guidance_is_kept_word_for_word() {
        let table = [
            ("/autobuild resume", resume(None, None)),
            ("/autobuild resume --max-turns=3", resume(None, Some(3))),
            ("/autobuild resume use  two   spaces", resume(Some("use  two   spaces"), None)),
            ("/autobuild resume a --max-turns=2 b", resume(Some("a b"), Some(2))),
            (
                "/autobuild resume as before (--max-turns=30) but --max-turns=3",
                resume(Some("as before (--max-turns=30) but"), Some(3)),
            ),
            (
                "/autobuild resume --max-turns=100\nline `1`\n\n```\n/autobuild cancel\n```",
                resume(Some("line `1`\n\n```\n/autobuild cancel\n```"), Some(100)),
            ),
            (
                "/autobuild resume try\n  indented --max-turns-like words",
                resume(Some("try\n  indented --max-turns-like words"), None),
            ),
        ];
        for (comment, expected) in table {
            assert_eq!(command(comment), expected, "{comment:?}");
        }
    }

    #[test]
    fn quotes_code_and_other_words_are_not_commands() {
        let silent = [
            "",
            "please /autobuild resume",
            "/autobuilder resume",
            "/autobuild-task x",
            "/Autobuild status",
            "> /autobuild cancel",
            "   > /autobuild cancel",
            "```\n/autobuild cancel\n```",
            "````\n```\n/autobuild cancel\n```\n````",
            "~~~ sh\n/autobuild cancel\n~~~",
            "```\n/autobuild cancel",
            "- item\n  ```\n  /autobuild cancel\n  ```",
            "    /autobuild cancel",
            "\t/autobuild cancel",
            "`code\n/autobuild cancel\nmore`",
            "<!--\n/autobuild cancel\n-->",
        ];
        for comment in silent {
            assert_eq!(parse(comment), Parsed::None, "{comment:?}");
        }
    }

    #[test]
    fn the_first_command_outside_quotes_and_code_is_the_one() {
        let table = [
            ("> /autobuild cancel\n\n/autobuild status", Command::Status),
            ("> quoted\n/autobuild status", Command::Status),
            ("```\n/autobuild cancel\n```\n/autobuild pause\n", Command::Pause),
            ("Looks odd.\n\n/autobuild pause\n/autobuild cancel", Command::Pause),
            ("<!-- note -->\n/autobuild status", Command::Status),
            ("~~~\n```\n~~~\n/autobuild status", Command::Status),
        ];
        for (comment, expected) in table {
            assert_eq!(command(comment), expected, "{comment:?}");
        }
    }

    /// A comment, the mistake in it, and the nearest valid form.
    const MISTAKES: &[(&str, &str, &str)] = &[
        ("/autobuild", "no_command", "/autobuild help"),
        ("/autobuild resum now", "unknown resum", "/autobuild resume [guidance] [--max-turns=N]"),
        ("/autobuild Cancel", "unknown Cancel", "/autobuild cancel"),
        ("/autobuild deploy", "unknown deploy", "/autobuild help"),
        ("/autobuild skip", "no_task", "/autobuild skip TASK-001"),
        ("/autobuild skip 2", "task 2", "/autobuild skip TASK-002"),
        ("/autobuild skip TASK-002 TASK-003", "second_argument TASK-003", "/autobuild skip TASK-002"),
        ("/autobuild retry TASK-1000", "task TASK-1000", "/autobuild retry TASK-001"),
        ("/autobuild cancel TASK-003", "argument TASK-003", "/autobuild cancel"),
        ("/autobuild approve this", "hash this", "/autobuild approve"),
        ("/autobuild approve 1a2b3c", "hash 1a2b3c", "/autobuild approve"),
        ("/autobuild approve 1a2b3c4d please", "second_argument please", "/autobuild approve"),
        ("/autobuild resume --max-turns=0", "turns", "/autobuild resume --max-turns=3"),
        ("/autobuild resume --max-turns=101", "turns", "/autobuild resume --max-turns=3"),
        ("/autobuild resume --max-turns=99999999999999999999", "turns", "/autobuild resume --max-turns=3"),
        ("/autobuild resume --max-turns=+3", "turns", "/autobuild resume --max-turns=3"),
        ("/autobuild resume --max-turns 3", "turns", "/autobuild resume --max-turns=3"),
        ("/autobuild resume --max-turns=3 --max-turns=4", "turns_twice", "/autobuild resume --max-turns=3"),
    ];

    #[test]
    fn a_mistake_is_answered_with_the_nearest_valid_form() {
        for (comment, mistake, form) in MISTAKES {
            let Parsed::Malformed { reason, nearest } = parse(comment) else {
                panic!("{comment:?}");
            };
            let stored = serde_json::to_value(&reason).unwrap();
            let (kind, given) = match &stored {
                serde_json::Value::String(kind) => (kind, ""),
                stored => {
                    let (kind, of) = stored.as_object().unwrap().iter().next().unwrap();
                    (kind, of["given"].as_str().unwrap())
                }
            };
            assert!(format!("{kind} {given}").starts_with(mistake), "{comment:?}: {stored}");
            assert_eq!(nearest, *form, "{comment:?}");
            assert_eq!(serde_json::from_value::<CommandMistake>(stored).unwrap(), reason);
        }
    }

    #[test]
    fn what_a_reply_quotes_is_short() {
        let Parsed::Malformed { reason: CommandMistake::Unknown { given }, .. } =
            parse(&format!("/autobuild {}", "é`".repeat(30_000)))
        else {
            panic!("it is a command");
        };
        assert!(given.chars().count() < 80, "{given}");
    }

    proptest! {
        #[test]
        fn no_comment_makes_the_parser_fail(text in "\\PC{0,60}", tail in "[ \n\r\t`>=0-9a-z-]{0,60}") {
            let _ = parse(&text);
            let _ = parse(&format!("{text}\n/autobuild {tail}"));
            let _ = parse(&format!("/autobuild resume {text} --max-turns={tail}"));
        }
    }
}
