//! What a Player could do to look finished: the rules, what each weighs by task type, and what was found.
//!
//! How things are found is the Gates' part; here stands what follows from them.

use crate::{plan::TaskType, weight::Weight};
use serde::{Deserialize, Serialize};

/// One way to look finished without being so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A test is gone, its name or its file.
    TestDeleted,
    /// A test is gone, and as many new ones of its file may stand in its place; or only a condition let it run.
    TestReplaced,
    /// A test has no body any more.
    TestEmptied,
    /// A test is called or placed so that its runner does not find it.
    TestRenamedAway,
    /// A test that ran on the base did not run here, and no line of the change says why.
    TestVanished,
    /// A mark that skips or ignores a test is new.
    SkipAdded,
    /// A test runs only under a condition; whether it ran here is for running to show.
    SkipConditional,
    /// A test checks less than before.
    AssertionRemoved,
    /// A test checks something that always holds, or holds of any value.
    AssertionTrivial,
    /// A new test passes although every function that it is about does nothing.
    PseudoTested,
    /// A new test passes although each of its assertions fails.
    SwallowedFailure,
    /// A new test passes whatever value of the same type the code returns.
    WeakAssertion,
    /// A rewritten test no longer notices that the code does nothing.
    WeakenedTest,
    /// Tests rewrite the stored files that they compare with.
    GoldenFileRewritten,
    /// Settings of the test runner exclude, tolerate or shorten.
    RunnerWeakened,
    /// Settings of the coverage tool exclude or ask for less.
    CoverageWeakened,
    /// The repository's CI does less.
    CiWeakened,
    /// A function that is only a promise, or only holds the answers of its tests.
    Stub,
    /// Results of tests written by hand.
    ResultsByHand,
    /// A stored snapshot changed and nothing that it shows did, or the tests write it themselves.
    SnapshotByHand,
    /// A module that shadows a real one.
    ShadowModule,
    /// A test that ends the process.
    ExitInTest,
    /// Set-up rewrites tests, what they need, or the settings of their runner.
    RewrittenBySetup,
    /// A path that no Player may change.
    ProtectedPath,
    /// Something that looks like a credential.
    Secret,
    /// A conflict marker.
    MergeMarker,
    /// A file over the size limit.
    FileTooLarge,
    /// Code that behaves differently under test.
    DiffersUnderTest,
    /// A file is gone that the task does not name.
    FileDeleted,
    /// A file that cannot be parsed, so that only what needs no knowledge of a language was looked for.
    Unreadable,
}

impl Rule {
    /// Every rule, in the order in which people read them.
    pub const ALL: [Self; 30] = [
        Self::TestDeleted,
        Self::TestReplaced,
        Self::TestEmptied,
        Self::TestRenamedAway,
        Self::TestVanished,
        Self::SkipAdded,
        Self::SkipConditional,
        Self::AssertionRemoved,
        Self::AssertionTrivial,
        Self::PseudoTested,
        Self::SwallowedFailure,
        Self::WeakAssertion,
        Self::WeakenedTest,
        Self::GoldenFileRewritten,
        Self::RunnerWeakened,
        Self::CoverageWeakened,
        Self::CiWeakened,
        Self::Stub,
        Self::ResultsByHand,
        Self::SnapshotByHand,
        Self::ShadowModule,
        Self::ExitInTest,
        Self::RewrittenBySetup,
        Self::ProtectedPath,
        Self::Secret,
        Self::MergeMarker,
        Self::FileTooLarge,
        Self::DiffersUnderTest,
        Self::FileDeleted,
        Self::Unreadable,
    ];

    /// Its name, as people read it in reviews.
    pub fn name(self) -> &'static str {
        match self {
            Self::TestDeleted => "test deleted",
            Self::TestReplaced => "test replaced",
            Self::TestEmptied => "test emptied",
            Self::TestRenamedAway => "test renamed away",
            Self::TestVanished => "test no longer runs",
            Self::SkipAdded => "test skipped",
            Self::SkipConditional => "test on a condition",
            Self::AssertionRemoved => "assertion removed",
            Self::AssertionTrivial => "assertion always true",
            Self::PseudoTested => "pseudo-tested",
            Self::SwallowedFailure => "swallowed failure",
            Self::WeakAssertion => "weak assertion",
            Self::WeakenedTest => "weakened test",
            Self::GoldenFileRewritten => "golden file rewritten",
            Self::RunnerWeakened => "test runner weakened",
            Self::CoverageWeakened => "coverage weakened",
            Self::CiWeakened => "CI weakened",
            Self::Stub => "stub",
            Self::ResultsByHand => "results by hand",
            Self::SnapshotByHand => "snapshot by hand",
            Self::ShadowModule => "module shadowed",
            Self::ExitInTest => "exit in test",
            Self::RewrittenBySetup => "rewritten by set-up",
            Self::ProtectedPath => "protected path",
            Self::Secret => "secret",
            Self::MergeMarker => "merge marker",
            Self::FileTooLarge => "file too large",
            Self::DiffersUnderTest => "differs under test",
            Self::FileDeleted => "file deleted",
            Self::Unreadable => "file not readable",
        }
    }

    /// The one table: what a rule weighs in a task of this type. A finding that is demanded sends work back.
    pub fn weight(self, kind: TaskType) -> Weight {
        match (self, kind) {
            (
                Self::TestReplaced
                | Self::SkipConditional
                | Self::DiffersUnderTest
                | Self::FileDeleted
                | Self::Unreadable,
                _,
            )
            | (Self::Stub, TaskType::Scaffolding) => Weight::Shown,
            (
                Self::TestDeleted
                | Self::TestEmptied
                | Self::TestRenamedAway
                | Self::TestVanished
                | Self::SkipAdded
                | Self::AssertionRemoved
                | Self::AssertionTrivial
                | Self::PseudoTested
                | Self::SwallowedFailure
                | Self::WeakAssertion
                | Self::WeakenedTest
                | Self::GoldenFileRewritten
                | Self::RunnerWeakened
                | Self::CoverageWeakened
                | Self::CiWeakened
                | Self::Stub
                | Self::ResultsByHand
                | Self::SnapshotByHand
                | Self::ShadowModule
                | Self::ExitInTest
                | Self::RewrittenBySetup
                | Self::ProtectedPath
                | Self::Secret
                | Self::MergeMarker
                | Self::FileTooLarge,
                TaskType::Scaffolding
                | TaskType::Feature
                | TaskType::Refactoring
                | TaskType::Testing
                | TaskType::Documentation,
            ) => Weight::Demanded,
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
