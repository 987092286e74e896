//! What a Player could do to look finished: the rules, what each weighs by task type, and what was found.
//!
//! How things are found is the Gates' part; here stands what follows from them.

use crate::{plan::TaskType, weight::Weight};
use serde::{Deserialize, Serialize};

/// The rules as a table: what a rule is about, its variant, its name as people read it in reviews, and what it weighs.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal, $weight:ident;)*) => {
        /// One way to look finished without being so.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule {
            $($(#[$doc])* $rule),*
        }

        impl Rule {
            /// Every rule, in the order in which people read them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$rule),*];

            /// Its name, as people read it in reviews.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name),*
                }
            }

            /// What it weighs in most tasks. A finding that is demanded sends work back.
            fn usual_weight(self) -> Weight {
                match self {
                    $(Self::$rule => Weight::$weight),*
                }
            }
        }
    };
}

rules! {
    /// A test is gone, its name or its file.
    TestDeleted = "test deleted", Demanded;
    /// A test is gone, and as many new ones of its file may stand in its place; or only a condition let it run.
    TestReplaced = "test replaced", Shown;
    /// A test has no body any more.
    TestEmptied = "test emptied", Demanded;
    /// A test is called or placed so that its runner does not find it.
    TestRenamedAway = "test renamed away", Demanded;
    /// A test that ran on the base did not run here, and no line of the change says why.
    TestVanished = "test no longer runs", Demanded;
    /// A mark that skips or ignores a test is new.
    SkipAdded = "test skipped", Demanded;
    /// A test runs only under a condition; whether it ran here is for running to show.
    SkipConditional = "test on a condition", Shown;
    /// A test checks less than before.
    AssertionRemoved = "assertion removed", Demanded;
    /// A test checks something that always holds, or holds of any value.
    AssertionTrivial = "assertion always true", Demanded;
    /// A new test passes although every function that it is about does nothing.
    PseudoTested = "pseudo-tested", Demanded;
    /// A new test passes although each of its assertions fails.
    SwallowedFailure = "swallowed failure", Demanded;
    /// A new test passes whatever value of the same type the code returns.
    WeakAssertion = "weak assertion", Demanded;
    /// A rewritten test no longer notices that the code does nothing.
    WeakenedTest = "weakened test", Demanded;
    /// Tests rewrite the stored files that they compare with.
    GoldenFileRewritten = "golden file rewritten", Demanded;
    /// Settings of the test runner exclude, tolerate or shorten.
    RunnerWeakened = "test runner weakened", Demanded;
    /// Settings of the coverage tool exclude or ask for less.
    CoverageWeakened = "coverage weakened", Demanded;
    /// The repository's CI does less.
    CiWeakened = "CI weakened", Demanded;
    /// A function that is only a promise, or only holds the answers of its tests.
    Stub = "stub", Demanded;
    /// Results of tests written by hand.
    ResultsByHand = "results by hand", Demanded;
    /// A stored snapshot changed and nothing that it shows did, or the tests write it themselves.
    SnapshotByHand = "snapshot by hand", Demanded;
    /// A module that shadows a real one.
    ShadowModule = "module shadowed", Demanded;
    /// A test that ends the process.
    ExitInTest = "exit in test", Demanded;
    /// Set-up rewrites tests, what they need, or the settings of their runner.
    RewrittenBySetup = "rewritten by set-up", Demanded;
    /// A path that no Player may change.
    ProtectedPath = "protected path", Demanded;
    /// Something that looks like a credential.
    Secret = "secret", Demanded;
    /// A conflict marker.
    MergeMarker = "merge marker", Demanded;
    /// A file over the size limit.
    FileTooLarge = "file too large", Demanded;
    /// Code that behaves differently under test.
    DiffersUnderTest = "differs under test", Shown;
    /// A file is gone that the task does not name.
    FileDeleted = "file deleted", Shown;
    /// A file that cannot be parsed, so that only what needs no knowledge of a language was looked for.
    Unreadable = "file not readable", Shown;
}

impl Rule {
    /// What it weighs in a task of this type: scaffolding may leave stubs.
    pub fn weight(self, kind: TaskType) -> Weight {
        match kind {
            TaskType::Scaffolding if self == Self::Stub => Weight::Shown,
            TaskType::Scaffolding
            | TaskType::Feature
            | TaskType::Refactoring
            | TaskType::Testing
            | TaskType::Documentation => self.usual_weight(),
        }
    }

    /// Whether a person may waive it by overriding the Coach: everything but a secret.
    pub fn can_be_waived(self) -> bool {
        self != Self::Secret
    }
}

/// One place where a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IntegrityFinding {
    /// Which rule.
    pub rule: Rule,
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1, in the new version of the file; none where the line is gone.
    pub line: Option<u32>,
    /// What is there. Never a secret's value.
    pub what: Detail,
    /// Whose lines these are.
    pub by: Author,
}

/// What is there, as far as a sentence about it needs it: names, code as it is written, numbers. Code in it is shortened and
/// in code marks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The rule and the place say it all.
    Nothing,
    /// What is written there.
    Code(String),
    /// A test, by its title.
    Test(String),
    /// A test, and how many more of its file.
    Tests {
        /// The first of them.
        first: String,
        /// How many more.
        more: usize,
    },
    /// What a test says, or no longer says.
    InTest {
        /// The test.
        test: String,
        /// What it says.
        code: String,
    },
    /// What a test said, and what it says in its place.
    Instead {
        /// The test.
        test: String,
        /// What it said.
        was: String,
        /// What it says now.
        is: String,
    },
    /// A function, by its name.
    Function(String),
    /// Another path.
    Path(String),
    /// A number, and the most that is allowed.
    Size {
        /// The number.
        is: u64,
        /// The most.
        most: u64,
    },
    /// A value of a settings file.
    Setting {
        /// Its name.
        name: String,
        /// What it does less.
        change: SettingChange,
    },
    /// A sentence; what running found is told so.
    Sentence(String),
}

/// What a value of a settings file does less than before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingChange {
    /// It asked for more; for how much it asks now, if it still does.
    Lowered {
        /// What it asked for.
        from: String,
        /// What it asks for.
        to: Option<String>,
    },
    /// It leaves this out now.
    LeavesOut(String),
    /// It no longer takes this in.
    NoLongerTakesIn(String),
    /// It was switched on, and tolerates.
    SwitchedOn,
    /// It was switched off, and demanded.
    SwitchedOff,
    /// This option, program, package or value decides now what runs.
    Is(String),
    /// It ran this.
    Ran(String),
}

impl From<String> for Detail {
    fn from(sentence: String) -> Self {
        Self::Sentence(sentence)
    }
}

impl From<&str> for Detail {
    fn from(sentence: &str) -> Self {
        Self::Sentence(sentence.to_owned())
    }
}

/// Whose lines a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The Player's.
    Player,
    /// Lines that only people touched: shown, never sent back.
    Person,
}

impl IntegrityFinding {
    /// What it weighs in a task of this type.
    pub fn weight(&self, kind: TaskType) -> Weight {
        match self.by {
            Author::Person => Weight::Shown,
            Author::Player => self.rule.weight(kind),
        }
    }
}
