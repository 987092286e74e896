//! Questions about a change: a suspicion, or a change that needs somebody's words. No run can decide them, so the Coach
//! or a person answers each one.

mod answers;

pub use answers::{AnswerClaim, OpenQuestion, OpenReason, QuestionAnswer, QuoteFacts, Unsettled, open_questions};

use crate::{
    evidence::absence::Absence,
    integrity::{Detail, IntegrityFinding, Rule},
    test_outcome::TestOutcome,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use text::{mistake, shorten, words};

/// The most lines of a question's material.
pub const MOST_LINES: usize = 40;

/// The most parts of a list in a question's material, each of four lines or more.
const MOST_PARTS: usize = 8;

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
    /// The reason why the tests, as they were, gave no result.
    pub absence: Option<Absence>,
}

impl Question {
    /// Returns the question that a finding of a rule asks.
    pub fn about_finding(finding: &IntegrityFinding, material: String) -> Self {
        let about = match &finding.what {
            Detail::Test(name)
            | Detail::Tests { first: name, .. }
            | Detail::InTest { test: name, .. }
            | Detail::Function(name) => name,
            Detail::Nothing | Detail::Code(_) | Detail::Size { .. } | Detail::Restored(_) | Detail::RunBy(_) => {
                &finding.path
            }
        };
        Self {
            topic: Topic::Rule(finding.rule),
            about: vec![about.clone()],
            place: Some((finding.path.clone(), finding.line.unwrap_or(1))),
            material,
            absence: None,
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
    /// A rule that reads the change.
    Rule(Rule),
}

words! {
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
            Self::Rule(rule) => rule.name(),
        }
    }

    /// Returns the kind of quote that it needs. A test of the base may change only if somebody's words ask for that.
    pub fn quote_source(self) -> QuoteSource {
        match self {
            Self::Outcome(TestOutcome::NeverRan) => QuoteSource::WordsOrPlace,
            Self::Outcome(_) => QuoteSource::Words,
            Self::Unnoticed | Self::IgnoredAssertions | Self::Rule(_) => QuoteSource::WordsOrPlace,
        }
    }
}

impl Question {
    /// Returns it without its material, which is long.
    pub(crate) fn without_material(&self) -> Self {
        Self {
            topic: self.topic,
            about: self.about.clone(),
            place: self.place.clone(),
            material: String::new(),
            absence: None,
        }
    }

    /// Returns its topic and its subject, in a few words.
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
}

/// Sorts questions, the gravest first. Those of one topic become one with a list, each part below a heading. If the list
/// is too long, its parts are cut, and it ends with the number of those that it does not show.
pub fn arrange(questions: Vec<Question>) -> Vec<Question> {
    let mut topics: BTreeMap<Topic, Vec<Question>> = BTreeMap::new();
    for question in questions {
        let parts = topics.entry(question.topic).or_default();
        // All rows of a table test have the same material.
        match parts.iter_mut().find(|part| part.material == question.material) {
            Some(part) => part.about.extend(question.about),
            None => parts.push(question),
        }
    }
    topics.into_values().filter_map(joined).collect()
}

/// Joins questions of one topic.
fn joined(parts: Vec<Question>) -> Option<Question> {
    let material = match parts.as_slice() {
        [only] => cut(&only.material, MOST_LINES),
        _ => list(&parts),
    };
    let about = parts.iter().flat_map(|part| part.about.clone()).collect();
    let absence = parts.iter().find_map(|part| part.absence.clone());
    let first = parts.into_iter().next()?;
    Some(Question { about, material, absence, ..first })
}

/// Returns the parts that the questions show, one below the other. Long parts are cut to one length, as long as there
/// is room.
fn list(parts: &[Question]) -> String {
    let is_whole = parts.len() <= MOST_PARTS;
    let (end, most_parts) = if is_whole { (0, MOST_PARTS) } else { (1, MOST_PARTS - 1) };
    let shown = parts.get(..most_parts).unwrap_or(parts);
    let lines = |most: usize| -> usize {
        let part = |part: &Question| part.material.lines().count().min(most) + 1;
        shown.iter().map(part).sum()
    };
    let most = (1..MOST_LINES).rev().find(|most| lines(*most) + end <= MOST_LINES);
    let part = |part: &Question| {
        let heading = shorten::start(&part.about.join(", "), LONGEST_LINE);
        format!("{heading}:\n{}", cut(&part.material, most.unwrap_or(1)))
    };
    let more = (!is_whole).then(|| format!("… {} more are not shown", parts.len() - shown.len()));
    shown.iter().map(part).chain(more).collect::<Vec<_>>().join("\n")
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
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(equal).count();
    let end = if is_long { end } else { 0 };
    let differing = |lines: &[&str]| {
        let lines = lines.get(start..lines.len() - end).unwrap_or_default();
        cut(&lines.join("\n"), (MOST_LINES - HEADINGS) / 2)
    };
    let form = |name: &str, lines: &[&str]| {
        if lines.is_empty() { format!("{name}: none") } else { format!("{name}:\n{}", differing(lines)) }
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
            absence: None,
        }
    }

    fn shape(questions: Vec<Question>) -> Vec<(Topic, usize, usize)> {
        let arranged = arrange(questions).into_iter();
        let shape = arranged.map(|question| (question.topic, question.about.len(), question.material.lines().count()));
        shape.collect()
    }

    const ADAPTED: Topic = Topic::Outcome(TestOutcome::Adapted);
    const WEAKENED: Topic = Topic::Outcome(TestOutcome::Weakened);

    #[test]
    fn the_gravest_comes_first_and_one_topic_is_one_question() {
        assert_eq!(shape(Vec::new()), []);
        let some = vec![
            question(Topic::Rule(Rule::Stub), "stub", 3),
            question(ADAPTED, "a", 10),
            question(WEAKENED, "w", 1),
            question(ADAPTED, "b", 10),
            question(ADAPTED, "c", 30),
        ];
        let expected = [(WEAKENED, 1, 1), (ADAPTED, 3, 40), (Topic::Rule(Rule::Stub), 1, 3)];
        assert_eq!(shape(some), expected);
        let row = |name: &str| Question { about: vec![name.to_owned()], ..question(ADAPTED, "the same test", 30) };
        assert_eq!(shape(["t[1]", "t[2]", "t[3]"].map(row).to_vec()), [(ADAPTED, 3, 30)]);
        let topics = Rule::ALL.map(|rule| question(Topic::Rule(rule), "x", 1));
        assert_eq!(shape(topics.to_vec()).len(), Rule::ALL.len());
    }

    #[test]
    fn a_list_is_cut_where_it_is_long_and_says_so() {
        let material = |lengths: &[usize]| {
            let named = lengths.iter().enumerate();
            let all = named.map(|(number, lines)| question(WEAKENED, &format!("t{number}"), *lines));
            arrange(all.collect()).pop().unwrap().material
        };
        assert_eq!(material(&[1, 2]), "t0:\nt0\nt1:\nt1\nt1");
        let table: [(&[usize], usize, &str); 5] = [
            (&[900], 40, "… 861 lines left out"),
            (&[900, 1], 40, "… 864 lines left out"),
            (&[39; 8], 40, "… 36 lines left out"),
            (&[39; 9], 36, "… 2 more are not shown"),
            (&[1; 300], 15, "… 293 more are not shown"),
        ];
        for (lengths, lines, note) in table {
            let material = material(lengths);
            let is_noted = material.lines().any(|line| line == note);
            assert!(is_noted && material.lines().count() == lines, "{lengths:?} {material}");
        }
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
        assert!(both_forms(Some(&"x\n".repeat(99)), Some(&"x\n".repeat(99))).lines().count() < 5);
        let grown = both_forms(Some(&"x\n".repeat(50)), Some(&"x\n".repeat(51)));
        assert!(grown.lines().count() < 5, "{grown}");
    }

    #[test]
    fn a_test_of_the_base_needs_words_and_other_topics_may_point_at_a_line() {
        for outcome in TestOutcome::ALL {
            let expected =
                if outcome == TestOutcome::NeverRan { QuoteSource::WordsOrPlace } else { QuoteSource::Words };
            assert_eq!(Topic::Outcome(outcome).quote_source(), expected);
        }
        for topic in [Topic::Unnoticed, Topic::IgnoredAssertions, Topic::Rule(Rule::Stub)] {
            assert_eq!(topic.quote_source(), QuoteSource::WordsOrPlace);
        }
    }
}
