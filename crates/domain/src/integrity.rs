//! The rules of integrity: the ways in which a change can look finished without being so, and the weight of each by
//! task type.
//!
//! The Gates find the violations; this module decides their consequences.

use crate::plan::TaskType;
use serde::{Deserialize, Serialize};

/// The weight of the result of a rule or a Gate in an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// A failure sends work back, and if the Gate could not run, the task blocks.
    Required,
    /// It becomes a question, and an approval that leaves the question unanswered does not hold.
    Asked,
    /// People and the Coach see it, and nothing follows from it.
    Informational,
}

/// The rules as a table: a description, the variant, its name in reviews, and its weight.
macro_rules! rules {
    ($(#[doc = $about:literal] $rule:ident = $name:literal, $weight:ident;)*) => {
        /// A way to look finished without being so.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule {
            $(#[doc = $about] $rule),*
        }

        impl Rule {
            /// All rules, in the order in which reviews list them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$rule),*];

            /// Returns the rule's name in reviews.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name),*
                }
            }

            /// Returns the rule's description above, for the page of rules.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$rule => $about.trim_ascii_start()),*
                }
            }

            /// Returns the rule's weight in most tasks. A required rule that is broken sends work back.
            fn usual_weight(self) -> Weight {
                match self {
                    $(Self::$rule => Weight::$weight),*
                }
            }
        }
    };
}

rules! {
    /// A number in test code, such as that of random cases, is half of what it was or less.
    FewerCases = "fewer cases", Asked;
    /// A test asserts nothing, something that always holds, or only on a condition.
    CannotFail = "test cannot fail", Asked;
    /// No test fails when every function of the change is emptied (extreme mutation).
    PseudoTested = "pseudo-tested", Required;
    /// A new test passes even if each of its assertions fails.
    SwallowedFailure = "swallowed failure", Required;
    /// New tests pass for any return value of the right type.
    WeakAssertion = "weak assertion", Asked;
    /// The test command, its settings, or what it or another check runs, changes.
    RunnerWeakened = "test runner weakened", Asked;
    /// Code is marked so that the coverage tool leaves it out.
    CoverageWeakened = "coverage weakened", Asked;
    /// The repository's CI, what it runs, or what its coverage service asks for, changes.
    CiWeakened = "CI weakened", Asked;
    /// A function only promises its work, or only returns the answers of its tests.
    Stub = "stub", Asked;
    /// An equality always holds or leaves out fields, or a test first gives both sides the same shape.
    ComparesLess = "compares less", Asked;
    /// The product holds the answers that its tests expect, for the inputs that they give.
    HardCoded = "hard-coded answers", Asked;
    /// New code never reads a parameter, or only tests call a new function.
    NotUsed = "not used", Asked;
    /// A function of the tests computes what they expect as the product does.
    RepeatsCode = "test repeats the code", Asked;
    /// Tests write data of the product that the change brings.
    SetByTests = "set by tests", Asked;
    /// Tests write the snapshot, golden file or results that they are compared with.
    WritesExpectation = "expectation written by tests", Asked;
    /// The change contains a file of results that is read after the test run.
    ResultsByHand = "results by hand", Required;
    /// A stored snapshot is gone, or changed although no code did.
    SnapshotByHand = "snapshot by hand", Asked;
    /// A file, code or a setting takes the place of a module or a test tool.
    ShadowModule = "module shadowed", Asked;
    /// A test ends its process.
    ExitInTest = "exit in test", Asked;
    /// Set-up now rewrites tests or their settings. They are put back.
    RewrittenBySetup = "rewritten by set-up", Required;
    /// A Player changed a protected path.
    ProtectedPath = "protected path", Required;
    /// A line looks like a credential. Nobody can waive this.
    Secret = "secret", Required;
    /// A merge conflict is not resolved.
    MergeMarker = "merge marker", Required;
    /// People cannot read a part: unseen characters, another encoding, compiled code, or code that GitHub does not show.
    HiddenText = "hidden text", Asked;
    /// Packages come from a new host that is no public registry, one has another content, or installing them runs other code.
    PackageSource = "package source", Asked;
    /// A task for documentation changes a file that is no document and that its plan does not name.
    BeyondDocuments = "beyond documents", Asked;
    /// A file is over the size limit.
    FileTooLarge = "file too large", Required;
    /// Code behaves differently under test.
    DiffersUnderTest = "differs under test", Asked;
    /// A file is gone that the task does not name.
    FileDeleted = "file deleted", Asked;
    /// A file cannot be parsed, so its syntax was not checked.
    Unreadable = "file not readable", Informational;
}

impl Rule {
    /// Returns the rule's weight in a task of this type. Scaffolding may leave stubs.
    pub fn weight(self, kind: TaskType) -> Weight {
        let may_stay = self == Self::Stub && kind == TaskType::Scaffolding;
        if may_stay { Weight::Informational } else { self.usual_weight() }
    }
}

/// A violation of a rule at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IntegrityFinding {
    pub rule: Rule,
    /// The path, relative to the repository's root.
    pub path: String,
    /// The line, from 1, in the new version of the file; `None` if the line is gone.
    pub line: Option<u32>,
    /// The details. Never a secret's value.
    pub what: Detail,
    /// The author of the lines.
    pub by: Author,
}

/// The details that a sentence about a finding needs: names, code, numbers. Code in it is shortened and in code marks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// No details: the rule and the place are enough.
    Nothing,
    /// The code at that place.
    Code(String),
    /// A test, by its title.
    Test(String),
    /// A test, and the number of further tests in the same file.
    Tests {
        first: String,
        /// The number of further tests.
        more: usize,
    },
    /// Code that a test has, or no longer has.
    InTest { test: String, code: String },
    /// A function, by its name.
    Function(String),
    /// A number, and the largest that is allowed.
    Size {
        is: u64,
        /// The largest that is allowed.
        most: u64,
    },
    /// A file that set-up rewrote and that was restored before the tests ran.
    Restored(String),
    /// A command that runs the place, directly or by steps.
    RunBy(String),
}

/// The author of the lines of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The Player wrote them.
    Player,
    /// Only people touched them. The finding is informational and never sends work back.
    Person,
}

impl IntegrityFinding {
    pub fn weight(&self, kind: TaskType) -> Weight {
        match self.by {
            Author::Person => Weight::Informational,
            Author::Player => self.rule.weight(kind),
        }
    }
}
