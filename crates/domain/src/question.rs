//! Questions about a change: a suspicion, or a change that somebody has to want. Running decides nothing here, so the
//! Coach or a person answers each by name.

mod answers;

pub(crate) use answers::short;
pub use answers::{AnswerClaim, OpenQuestion, OpenReason, QuestionAnswer, QuoteFacts, open_questions};

use crate::{
    integrity::{Detail, IntegrityFinding, Rule},
    mistake, shorten,
    test_outcome::TestOutcome,
    words,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most lines of a question's material.
pub const MOST_LINES: usize = 40;

/// The most questions in a turn, unless more topics than these ask.
pub const MOST_QUESTIONS: usize = 12;

/// The most characters of a line of the material.
const LONGEST_LINE: usize = 400;

/// One question. Its number is its place in [`crate::evidence::GateReport::questions`], from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The outcome or rule that asks.
    pub topic: Topic,
    /// The tests, functions or files that it is about, at least one.
    pub about: Vec<String>,
    /// The path and line to look at, in the head's version of the file if it is there.
    pub place: Option<(String, u32)>,
    /// The old and the new form, the diff of the setting, or the failing output; at most [`MOST_LINES`] lines.
    pub material: String,
}

impl Question {
    /// Returns the question that a finding of a rule asks.
    pub fn about_finding(finding: &IntegrityFinding, material: String) -> Self {
        let about = match &finding.what {
            Detail::Test(name)
            | Detail::Tests { first: name, .. }
            | Detail::InTest { test: name, .. }
            | Detail::Function(name)
            | Detail::Setting { name, .. } => name,
            Detail::Nothing
            | Detail::Code(_)
            | Detail::Size { .. }
            | Detail::MeasuringFile(_)
            | Detail::Restored(_)
            | Detail::InstallScript(_)
            | Detail::Uncovered(_)
            | Detail::Criterion { .. }
            | Detail::Unrun(_) => &finding.path,
        };
        Self {
            topic: Topic::Rule(finding.rule),
            about: vec![about.clone()],
            place: Some((finding.path.clone(), finding.line.unwrap_or(1))),
            material,
        }
    }
}

/// The outcome or rule that asks a question, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// A row of the table of the four runs.
    Outcome(TestOutcome),
    /// Functions that nothing notices when they are emptied.
    Unnoticed,
    /// Assertions that fail without failing their test.
    IgnoredAssertions,
    /// A test that was stable on the base and is not on the head.
    Unstable,
    /// A file that tests and product share, without which an old test fails.
    SharedFile,
    /// A rule that reads the change.
    Rule(Rule),
}

words! {
    /// The answer to a question.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AnswerVerdict {
        /// The change is as somebody wants it.
        Fine = "fine",
        /// The Player must mend it.
        NotFine = "not_fine",
    }
}

/// The kinds of quote that count for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteSource {
    /// Words of the issue, the task or a person.
    Words,
    /// Such words, or a place in the change.
    WordsOrPlace,
}

impl Topic {
    /// Returns the topic's name in reviews.
    pub fn name(self) -> &'static str {
        match self {
            Self::Outcome(outcome) => outcome.word(),
            Self::Unnoticed => "unnoticed code",
            Self::IgnoredAssertions => "ignored assertions",
            Self::Unstable => "unstable test",
            Self::SharedFile => "shared file",
            Self::Rule(rule) => rule.name(),
        }
    }

    /// Returns what a quote for it may be. A test of the base may change only if somebody's words want that.
    pub fn quote_source(self) -> QuoteSource {
        match self {
            Self::Outcome(TestOutcome::NeverRan) => QuoteSource::WordsOrPlace,
            Self::Outcome(_) => QuoteSource::Words,
            Self::Unnoticed | Self::IgnoredAssertions | Self::Unstable | Self::SharedFile | Self::Rule(_) => {
                QuoteSource::WordsOrPlace
            }
        }
    }
}

impl Question {
    /// Returns its topic and what it is about, in a few words.
    pub fn title(&self) -> String {
        const MOST: usize = 3;
        let named = self.about.iter().take(MOST);
        let names: Vec<String> = named.map(|name| mistake::quoted(name)).collect();
        let more = match self.about.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}: {}{more}", self.topic.name(), names.join(", "))
    }

    fn lines(&self) -> usize {
        self.material.lines().count()
    }

    /// Adds another question of the same topic. The material of each has a heading.
    fn join(&mut self, other: Self) {
        if self.about.len() == 1 {
            self.material = headed(&self.about, &self.material);
        }
        self.material.push('\n');
        self.material.push_str(&headed(&other.about, &other.material));
        self.about.extend(other.about);
    }
}

fn headed(about: &[String], material: &str) -> String {
    format!("{}:\n{material}", about.join(", "))
}

/// Sorts questions, the gravest first. Those of one topic become one with a list as long as their material fits, or if
/// it is the same. If there are still more than [`MOST_QUESTIONS`], all of a topic do, and their material is cut. None is
/// left out.
pub fn arrange(questions: Vec<Question>) -> Vec<Question> {
    let mut questions = with_each_material_once(questions);
    questions.sort_by_key(|question| question.topic);
    // Each part of a list has a heading.
    let fits =
        |one: &Question, next: &Question| one.material == next.material || one.lines() + next.lines() + 2 <= MOST_LINES;
    let mut arranged = joined(questions.clone(), fits);
    if arranged.len() > MOST_QUESTIONS {
        arranged = joined(with_equal_shares(questions), |_, _| true);
    }
    for question in &mut arranged {
        question.material = cut(&question.material, MOST_LINES);
    }
    arranged
}

/// Makes one question of those of one topic that show the same, such as the rows of one test.
fn with_each_material_once(questions: Vec<Question>) -> Vec<Question> {
    let mut once: Vec<Question> = Vec::new();
    for question in questions {
        let same = |known: &&mut Question| known.topic == question.topic && known.material == question.material;
        match once.iter_mut().find(same) {
            Some(known) => known.about.extend(question.about),
            None => once.push(question),
        }
    }
    once
}

/// Joins neighbours of one topic that `fits` lets be joined.
fn joined(questions: Vec<Question>, fits: impl Fn(&Question, &Question) -> bool) -> Vec<Question> {
    let mut joined: Vec<Question> = Vec::new();
    for question in questions {
        match joined.last_mut() {
            Some(last) if last.topic == question.topic && fits(last, &question) => last.join(question),
            Some(_) | None => joined.push(question),
        }
    }
    joined
}

/// Cuts the material so that each question of a topic has the same share of the lines.
fn with_equal_shares(mut questions: Vec<Question>) -> Vec<Question> {
    let mut number: BTreeMap<Topic, usize> = BTreeMap::new();
    for question in &questions {
        *number.entry(question.topic).or_default() += 1;
    }
    for question in &mut questions {
        let share = MOST_LINES / number.get(&question.topic).copied().unwrap_or(1).max(1);
        question.material = cut(&question.material, share.saturating_sub(1).max(1));
    }
    questions
}

/// Returns the old and the new form of a test, one below the other, without the equal lines at the beginning and the end
/// if there are too many lines.
pub fn both_forms(old: Option<&str>, new: Option<&str>) -> String {
    const HEADINGS: usize = 2;
    let (old, new) = (lines_of(old), lines_of(new));
    let is_long = old.len() + new.len() + HEADINGS > MOST_LINES;
    let equal = |(one, other): &(&&str, &&str)| one == other;
    let start = old.iter().zip(&new).take_while(equal).count();
    let start = if is_long { start } else { 0 };
    let rest = old.len().min(new.len()) - start;
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(equal)
        .count();
    let end = if is_long { end } else { 0 };
    let differing = |lines: &[&str]| {
        let lines = lines.get(start..lines.len() - end).unwrap_or_default();
        cut(&lines.join("\n"), (MOST_LINES - HEADINGS) / 2)
    };
    let form = |name: &str, lines: &[&str]| match lines.is_empty() {
        true => format!("{name}: none"),
        false => format!("{name}:\n{}", differing(lines)),
    };
    format!("{}\n{}", form("before", &old), form("after", &new))
}

fn lines_of(text: Option<&str>) -> Vec<&str> {
    text.map(|text| text.lines().collect()).unwrap_or_default()
}

/// Shortens a text in the middle to a number of lines, and each line to [`LONGEST_LINE`].
fn cut(text: &str, most: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| shorten::start(line, LONGEST_LINE)).collect();
    let room = most.saturating_sub(1);
    let (head, tail) = (room - room / 2, room / 2);
    match lines.len().checked_sub(most) {
        None | Some(0) => lines.join("\n"),
        Some(_) => {
            let note = format!("… {} lines left out", lines.len() - room);
            let start = lines.iter().take(head).cloned();
            let end = lines.iter().skip(lines.len() - tail).cloned();
            start.chain([note]).chain(end).collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(topic: Topic, about: &str, lines: usize) -> Question {
        Question {
            topic,
            about: vec![about.to_owned()],
            place: None,
            material: vec![about; lines].join("\n"),
        }
    }

    fn shape(questions: Vec<Question>) -> Vec<(Topic, usize, usize)> {
        let arranged = arrange(questions).into_iter();
        let shape = arranged.map(|question| (question.topic, question.about.len(), question.lines()));
        shape.collect()
    }

    const ADAPTED: Topic = Topic::Outcome(TestOutcome::Adapted);
    const WEAKENED: Topic = Topic::Outcome(TestOutcome::Weakened);

    #[test]
    fn the_gravest_comes_first_and_one_topic_is_one_question_as_long_as_it_fits() {
        assert_eq!(shape(Vec::new()), []);
        let three = vec![
            question(Topic::Rule(Rule::Stub), "stub", 3),
            question(ADAPTED, "a", 10),
            question(WEAKENED, "w", 1),
            question(ADAPTED, "b", 10),
            question(ADAPTED, "c", 30),
        ];
        let expected = [
            (WEAKENED, 1, 1),
            (ADAPTED, 2, 22),
            (ADAPTED, 1, 30),
            (Topic::Rule(Rule::Stub), 1, 3),
        ];
        assert_eq!(shape(three), expected);
        let long = vec![question(WEAKENED, "w", 900), question(WEAKENED, "x", 1)];
        assert_eq!(shape(long), [(WEAKENED, 1, 40), (WEAKENED, 1, 1)]);
        let row = |name: &str| Question {
            about: vec![name.to_owned()],
            ..question(ADAPTED, "the same test", 30)
        };
        assert_eq!(shape(["t[1]", "t[2]", "t[3]"].map(row).to_vec()), [(ADAPTED, 3, 30)]);
    }

    #[test]
    fn too_many_are_joined_by_topic_and_none_is_left_out() {
        let many: Vec<Question> = (0..30)
            .map(|number| question(ADAPTED, &number.to_string(), 39))
            .chain([question(WEAKENED, "w", 39)])
            .collect();
        assert_eq!(shape(many), [(WEAKENED, 1, 39), (ADAPTED, 30, 40)]);
        let topics = Rule::ALL.map(|rule| question(Topic::Rule(rule), "x", 1));
        assert_eq!(shape(topics.to_vec()).len(), Rule::ALL.len());
    }

    #[test]
    fn both_forms_show_where_they_differ() {
        assert_eq!(both_forms(Some("a\nb"), Some("a\nc")), "before:\na\nb\nafter:\na\nc");
        assert_eq!(both_forms(Some("a"), None), "before:\na\nafter: none");
        let long = |middle: &str| format!("{}{middle}\n{}", "same\n".repeat(50), "end\n".repeat(50));
        let shown = both_forms(Some(&long("assert 1")), Some(&long("assert 2")));
        assert_eq!(shown, "before:\nassert 1\nafter:\nassert 2");
        let other = both_forms(Some(&"x\n".repeat(99)), Some(&"y\n".repeat(99)));
        assert_eq!(other.lines().count(), MOST_LINES);
        assert!(
            both_forms(Some(&"x\n".repeat(99)), Some(&"x\n".repeat(99)))
                .lines()
                .count()
                < 5
        );
        let grown = both_forms(Some(&"x\n".repeat(50)), Some(&"x\n".repeat(51)));
        assert!(grown.lines().count() < 5, "{grown}");
    }

    #[test]
    fn a_test_of_the_base_needs_words_and_other_topics_may_point_at_a_line() {
        for outcome in TestOutcome::ALL {
            let expected = if outcome == TestOutcome::NeverRan {
                QuoteSource::WordsOrPlace
            } else {
                QuoteSource::Words
            };
            assert_eq!(Topic::Outcome(outcome).quote_source(), expected);
        }
        for topic in [Topic::Unnoticed, Topic::Unstable, Topic::Rule(Rule::Stub)] {
            assert_eq!(topic.quote_source(), QuoteSource::WordsOrPlace);
        }
    }
}
