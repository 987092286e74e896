//! The outline of a file: the facts that the rules use, in the same form for every language.

use crate::language::{
    assertions,
    capture::{Capture, Fact, QueryMatch, merged},
    role::Role,
    syntax::At,
    test_parts::whole_lines,
    vocabulary::Vocabulary,
};
use crate::words::is_one_of;
use std::{collections::BTreeSet, ops::Range};

/// A file to read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub path: &'a str,
    pub role: Role,
    /// Its syntax tree.
    pub root: At<'a>,
}

#[derive(Debug, Default)]
pub struct Outline {
    /// The tests that the runner finds if it reads the file.
    pub tests: Vec<Test>,
    /// The calls that may make tests, if the language has them.
    pub makers: Vec<Maker>,
    /// The other functions.
    pub functions: Vec<Function>,
    pub classes: Vec<Class>,
    /// The fixed results of the product for fixed inputs.
    pub answers: Vec<FixedAnswer>,
    /// The names of the product's variables that hold data.
    pub variables: Vec<String>,
    /// The names that the file defines.
    pub defines: Vec<String>,
    /// The facts that a rule may look for in new code.
    pub marks: Vec<Mark>,
    /// The settings, if it is a settings file written in the language.
    pub settings: Vec<Setting>,
}

/// One value of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its full name, such as `test.coverage.thresholds.lines`.
    pub name: String,
    /// Its value, or the values of its list.
    pub values: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Test {
    /// Its own name.
    pub name: String,
    /// The names of the enclosing suites, outermost first.
    pub scope: Vec<String>,
    /// The line where it begins.
    pub line: u32,
    /// The bytes of its statement, with decorators and attributes: whole lines, if nothing else is on these.
    pub range: Range<usize>,
    /// The words of its rows, its body, and the values that its parameters have without an argument.
    pub words: Vec<String>,
    pub checks: Vec<Check>,
    /// The condition under which it returns before its first check.
    pub returns_early: Option<String>,
    /// Everything in the file that may keep it from running, the nearest first.
    pub conditions: Vec<Condition>,
}

/// Code that may keep tests from running.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// The first line of its text.
    pub text: String,
    /// When it keeps them from running.
    pub when: SkipWhen,
}

/// When a test does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipWhen {
    /// Always, while the code is there.
    Always,
    /// It depends on the machine, or on how the tests are started.
    Sometimes,
}

/// A call among the tests of a source file that may make tests. Their names are only known from a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maker {
    /// The names of the enclosing modules, outermost first.
    pub scope: Vec<String>,
    /// The line where it begins.
    pub line: u32,
    /// Its words, and those of the macros that the tests of the file define.
    pub words: Vec<String>,
}

/// A function that is not a test.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its own name.
    pub name: String,
    /// The line where it begins.
    pub line: u32,
    /// The words of its body.
    pub words: Vec<String>,
    pub checks: Vec<Check>,
    pub purpose: Purpose,
    /// How its result depends on its arguments.
    pub answer: Answer,
    /// Its parameters, except its own object.
    pub parameters: Vec<String>,
    /// The parameters that it never reads; empty if its body is empty too.
    pub unread: Vec<String>,
    /// The names, numbers and single words in its body.
    pub content: Vec<String>,
    /// The value that it returns, as it is written, if it does nothing else.
    pub value: Option<String>,
    pub class: Option<String>,
}

/// The use of a piece of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// The product; it is shipped.
    #[default]
    Product,
    /// Only tests use it.
    Tests,
}

/// How a function's result depends on its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    #[default]
    Computed,
    /// It has arguments, but always returns the same value.
    Ignores,
    /// It has no arguments and always returns the same value.
    Constant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    pub name: String,
    pub bases: Vec<String>,
    pub fields: Vec<String>,
}

/// A fixed result for a fixed input, such as an entry of a table or a case of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedAnswer {
    pub line: u32,
    /// Its text, quoted.
    pub text: String,
    /// The node that all answers of one table or function share.
    pub group: usize,
    /// The literals of the input, without quotation marks.
    pub input: Vec<String>,
    /// The literals of the result.
    pub result: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Check {
    pub line: u32,
    pub words: Vec<String>,
    /// How much it checks.
    pub strength: Strength,
    /// Code to put in its place that always fails; `None` if none is known.
    pub failing: Option<FailingReplacement>,
    /// The outcome that the other assertions of its test must have.
    pub expects: ExpectedOutcome,
}

/// The outcome that the other assertions of a test must have for this one to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedOutcome {
    /// All others hold.
    Success,
    /// One other may fail: the test passes if it stops with an error.
    Failure,
}

/// A byte range of a file and its failing replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingReplacement {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    pub text: String,
}

/// How much a check verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Nothing: it always holds.
    Trivial,
    /// Nothing: it is never reached.
    Silenced,
    /// A value's equality with itself, such as two equal calls.
    Same,
    /// Only that something exists or is not an error; or a value, but only under a condition.
    Weak,
    /// A value, after both sides got the same shape.
    Reshaped,
    /// A value.
    Strong,
}

/// A fact that a rule may look for in new code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub fact: Fact,
    pub line: u32,
    /// The first line of its text, quoted.
    pub text: String,
    /// The text that identifies the same mark in another version of the file.
    pub key: String,
    /// The name of the function, test or class that contains it, or that it is.
    pub owner: String,
    pub class: Option<Class>,
    pub purpose: Purpose,
}

/// Returns the first `most` characters of a text.
pub fn shorten(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Quotes a text for a sentence: one line, short, as a code span.
pub fn quoted(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    format!("`{}`", shorten(&line.join(" "), 80).replace('`', "'"))
}

pub(super) fn outline(source: &Source<'_>, found: &[QueryMatch<'_>], vocabulary: &Vocabulary) -> Outline {
    let reader = Reader::new(source, found, vocabulary);
    let mut outline =
        Outline { classes: reader.classes.iter().map(|(_, class)| class.clone()).collect(), ..Outline::default() };
    reader.tests(found, &mut outline);
    reader.functions(found, &mut outline);
    reader.makers(found, &mut outline);
    reader.marks(found, &mut outline);
    reader.data(found, &mut outline);
    let names = |capture| firsts(found, capture).map(|at| at.text().to_owned());
    outline.defines.extend(names(Capture::Definition));
    let classes = outline.classes.iter().map(|class| class.name.clone());
    outline.defines.extend(classes);
    outline
}

struct Reader<'a> {
    source: &'a Source<'a>,
    vocabulary: &'a Vocabulary,
    /// Nodes that classify the code inside them.
    test_code: Vec<At<'a>>,
    uncollected: Vec<At<'a>>,
    uncollected_names: Vec<&'a str>,
    abstracts: Vec<At<'a>>,
    suites: Vec<(At<'a>, String)>,
    classes: Vec<(At<'a>, Class)>,
    functions: Vec<(At<'a>, String)>,
    assertions: Vec<(At<'a>, QueryMatch<'a>)>,
    /// The conditions that may keep tests from running, each with the code that it guards.
    conditions: Vec<(At<'a>, Condition)>,
}

fn firsts<'a>(found: &[QueryMatch<'a>], capture: Capture) -> impl Iterator<Item = At<'a>> {
    found.iter().filter_map(move |one| one.first(capture))
}

fn title(at: Option<At<'_>>) -> String {
    at.map_or("", At::text).trim_matches(['"', '\'', '`']).to_owned()
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source<'a>, found: &'a [QueryMatch<'a>], vocabulary: &'a Vocabulary) -> Self {
        let all = |capture| firsts(found, capture).collect::<Vec<_>>();
        let named = |main, name| {
            let places = merged(found, main).into_iter();
            places.map(|(at, one)| (at, title(one.first(name)))).collect::<Vec<_>>()
        };
        let class = |(at, one): (At<'a>, QueryMatch<'a>)| {
            let bases = one.all(Capture::ClassBase).map(|base| base.text().to_owned());
            let class = Class {
                name: title(one.first(Capture::ClassName)),
                bases: bases.collect(),
                fields: one.all(Capture::ClassField).map(|field| field.text().to_owned()).collect(),
            };
            (at, class)
        };
        let mut suites = named(Capture::Suite, Capture::SuiteName);
        suites.extend(named(Capture::Test, Capture::TestName));
        suites.sort_by_key(|(at, _)| at.index());
        Self {
            source,
            vocabulary,
            test_code: [all(Capture::TestCode), all(Capture::Test)].concat(),
            uncollected: all(Capture::Uncollected),
            uncollected_names: all(Capture::UncollectedName).into_iter().map(At::text).collect(),
            abstracts: all(Capture::Abstract),
            suites,
            classes: merged(found, Capture::Class).into_iter().map(class).collect(),
            functions: named(Capture::Function, Capture::FunctionName),
            assertions: merged(found, Capture::Assertion),
            conditions: Vec::new(),
        }
        .with_conditions(found)
    }

    fn with_conditions(mut self, found: &[QueryMatch<'a>]) -> Self {
        let of = |capture, when| {
            let all = found.iter().flat_map(move |one| one.all(capture));
            all.map(move |at| (at, when))
        };
        let always = of(Capture::Fact(Fact::Skip), SkipWhen::Always);
        let sometimes = of(Capture::Fact(Fact::ConditionalSkip), SkipWhen::Sometimes);
        let others = of(Capture::Condition, SkipWhen::Sometimes);
        let mut all: Vec<(At<'a>, SkipWhen)> = always.chain(sometimes).chain(others).collect();
        all.sort_by_key(|(at, when)| (at.index(), *when));
        all.dedup_by_key(|(at, _)| at.index());
        let condition = |(at, when): (At<'a>, SkipWhen)| {
            let text = at.text().lines().next().unwrap_or_default().to_owned();
            (self.concerned(at), Condition { text, when })
        };
        let conditions = all.into_iter().map(condition).collect();
        self.conditions = conditions;
        self
    }

    /// Returns the code that a condition concerns: the item below an attribute, the definition below a decorator, else
    /// the innermost test, function, suite, class or file around it.
    fn concerned(&self, condition: At<'a>) -> At<'a> {
        let root = self.source.root;
        match condition.kind() {
            "attribute_item" => {
                let below = std::iter::successors(condition.next(), |at| at.next());
                let mut items = below.filter(|at| !at.is(&["attribute_item"]));
                items.next().unwrap_or(root)
            }
            "decorator" => condition.parent().unwrap_or(root),
            _ => {
                let suites = self.suites.iter().map(|(at, _)| *at);
                let functions = self.functions.iter().map(|(at, _)| *at);
                let classes = self.classes.iter().map(|(at, _)| *at);
                let around = suites.chain(functions).chain(classes).filter(|at| at.holds(condition));
                around.max_by_key(|at| at.index()).unwrap_or(root)
            }
        }
    }

    /// Returns the conditions that may keep a test from running, the nearest first.
    fn conditions(&self, test: At<'a>) -> Vec<Condition> {
        let mut around: Vec<&(At<'a>, Condition)> =
            self.conditions.iter().filter(|(code, _)| code.holds(test)).collect();
        around.sort_by_key(|(code, _)| std::cmp::Reverse(code.index()));
        around.into_iter().map(|(_, condition)| condition.clone()).collect()
    }

    fn makers(&self, found: &[QueryMatch<'a>], outline: &mut Outline) {
        if self.source.role != Role::Source {
            return;
        }
        let of_tests = |at: &At<'a>| self.purpose(*at) == Purpose::Tests;
        let definitions = firsts(found, Capture::TestMacro).filter(of_tests);
        let definitions: Vec<String> = definitions.flat_map(At::words).collect();
        let calls = firsts(found, Capture::TestMaker).filter(of_tests);
        outline.makers = calls
            .map(|at| Maker {
                scope: self.scope(at),
                line: at.line(),
                words: at.words().into_iter().chain(definitions.iter().cloned()).collect(),
            })
            .collect();
    }

    fn purpose(&self, at: At<'_>) -> Purpose {
        let is_tests = self.source.role != Role::Source || self.test_code.iter().any(|code| code.holds(at));
        if is_tests { Purpose::Tests } else { Purpose::Product }
    }

    /// Returns the names of the suites and tests around a node, outermost first.
    fn scope(&self, at: At<'_>) -> Vec<String> {
        let around = |(suite, _): &&(At<'_>, String)| suite.holds(at) && !suite.is_same(at);
        let names = self.suites.iter().filter(around).map(|(_, name)| name.clone());
        names.collect()
    }

    fn checks(&self, body: At<'_>) -> Vec<Check> {
        let inside = self.assertions.iter().filter(|(at, _)| body.holds(*at));
        let checks = inside.map(|(at, found)| assertions::check(*at, found, body, self.vocabulary));
        checks.collect()
    }

    fn tests(&self, found: &[QueryMatch<'a>], outline: &mut Outline) {
        for (at, one) in merged(found, Capture::Test) {
            let name = title(one.first(Capture::TestName));
            let body = one.first(Capture::TestBody).unwrap_or(at);
            let scope = self.scope(at);
            let is_named = |name: &String| self.uncollected_names.contains(&name.as_str());
            let is_lost = (self.uncollected.iter()).any(|outer| outer.holds(at) && !self.is_inherited(*outer))
                || is_named(&name)
                || scope.iter().any(is_named)
                || self.uncollected_names.contains(&"*");
            let rows: Vec<At<'_>> = one.all(Capture::TestRows).collect();
            let after_rows = |at: At<'a>| rows.iter().copied().chain([at]);
            let parameters = at.field("parameters").into_iter().flat_map(At::children);
            let defaults = parameters.filter_map(|parameter| parameter.field("value"));
            let words = after_rows(body).chain(defaults).flat_map(At::words).collect();
            if is_lost {
                outline.functions.push(Function {
                    name,
                    line: at.line(),
                    words,
                    checks: self.checks(body),
                    purpose: Purpose::Tests,
                    ..Function::default()
                });
                continue;
            }
            outline.tests.push(Test {
                name,
                scope,
                line: at.line(),
                range: self.whole_test(at, &one),
                words,
                checks: after_rows(body).flat_map(|at| self.checks(at)).collect(),
                returns_early: self.returns_early(body),
                conditions: self.conditions(at),
            });
        }
        keep_last(outline, self.vocabulary);
    }

    /// Returns the bytes of a test's statement, with its rows, decorators and attributes.
    fn whole_test(&self, test: At<'a>, found: &QueryMatch<'a>) -> Range<usize> {
        let outer = test.parent().filter(|outer| outer.is_one_of(&self.vocabulary.words.statements));
        let parts = found.all(Capture::TestRows).chain(found.all(Capture::TestBody));
        let own = outer.unwrap_or(test).range();
        let range = parts.map(At::range).fold(own, |all, part| all.start.min(part.start)..all.end.max(part.end));
        whole_lines(self.source.root.text(), range)
    }

    /// `true` if a node is a class that a collected class of the file inherits: its tests are collected with that class.
    fn is_inherited(&self, node: At<'_>) -> bool {
        let is_collected = |at: &At<'_>| !self.uncollected.iter().any(|outer| outer.holds(*at));
        let collected = self.classes.iter().filter(|(at, _)| is_collected(at));
        let mut bases = collected.flat_map(|(_, class)| &class.bases);
        let own = self.classes.iter().find(|(at, _)| at.is_same(node));
        own.is_some_and(|(_, own)| bases.any(|base| *base == own.name))
    }

    /// Returns the condition under which the test returns before its first assertion.
    fn returns_early(&self, body: At<'a>) -> Option<String> {
        let (first, _) = self.assertions.iter().find(|(at, _)| body.holds(*at))?;
        let flow = &self.vocabulary.words.flow;
        let leaves = |at: &At<'_>| at.is_one_of(&flow.returns) && !at.text().contains("Err(");
        let inner = |statement: At<'a>| {
            let mut below = statement.below();
            below.find(|at| at.is_one_of(&flow.conditions) && at.below().any(|part| leaves(&part)))
        };
        let before = body.children().take_while(|at| !at.holds(*first));
        let leaving = before.filter(|at| !at.below().any(|part| part.is_one_of(&flow.functions)));
        let condition = leaving.filter_map(inner).next()?;
        Some(condition.field("condition").unwrap_or(condition).phrase())
    }

    fn functions(&self, found: &[QueryMatch<'a>], outline: &mut Outline) {
        let is_test = |at: At<'_>| self.suites.iter().any(|(suite, _)| suite.is_same(at));
        for (at, one) in merged(found, Capture::Function) {
            let Some(body) = one.first(Capture::FunctionBody).filter(|_| !is_test(at)) else {
                continue;
            };
            let (name, purpose) = (title(one.first(Capture::FunctionName)), self.purpose(at));
            if purpose == Purpose::Product || self.source.role != Role::Source {
                outline.defines.push(name.clone());
            }
            if firsts(found, Capture::Test).any(|test| test.holds(at)) {
                continue;
            }
            outline.functions.push(Function {
                name,
                line: at.line(),
                words: body.words(),
                checks: self.checks(body),
                purpose,
                answer: self.answer(at, one.first(Capture::FunctionValue)),
                parameters: self.parameter_names(at).into_iter().map(str::to_owned).collect(),
                unread: self.unread(at, body),
                content: content(body),
                value: one.first(Capture::FunctionValue).map(|value| value.text().to_owned()),
                class: self.class_around(at).map(|class| class.name.clone()),
            });
        }
    }

    /// Decides how a function's result depends on its arguments; `value` is all that the function contains, if it is a
    /// single value.
    fn answer(&self, function: At<'a>, value: Option<At<'_>>) -> Answer {
        let is_constant = |value: At<'_>| {
            let text = value.text();
            if !text.is_empty() && self.vocabulary.words.empties.split(", ").any(|empty| empty == text) {
                return true;
            }
            let is_leaf = |at: &At<'_>| at.children().next().is_none() && at.is_named();
            let mut leaves = value.below().filter(is_leaf);
            // Names of types, and of enum variants without fields.
            let is_type = |leaf: At<'_>| leaf.text().starts_with(char::is_uppercase);
            leaves.all(|leaf| leaf.is_one_of(&self.vocabulary.words.literals) || is_type(leaf))
        };
        let of_others = self.abstracts.iter().any(|outer| outer.holds(function));
        if of_others || !value.is_some_and(is_constant) {
            return Answer::Computed;
        }
        if self.parameter_names(function).is_empty() { Answer::Constant } else { Answer::Ignores }
    }

    /// Returns the parameters that a function never reads. Functions whose parameters others prescribe are left out.
    fn unread(&self, function: At<'a>, body: At<'a>) -> Vec<String> {
        let is_inherited = self.class_around(function).is_some_and(|class| !class.bases.is_empty());
        if is_inherited || self.abstracts.iter().any(|outer| outer.holds(function)) {
            return Vec::new();
        }
        let leaves = body.below().filter(|at| at.kind().ends_with("identifier"));
        let read: BTreeSet<&str> = leaves.map(At::text).collect();
        let is_formatted = |name: &str| body.text().contains(&format!("{{{name}"));
        let is_unread = |name: &&str| !name.starts_with('_') && !read.contains(name) && !is_formatted(name);
        let unread = self.parameter_names(function).into_iter().filter(is_unread);
        unread.map(str::to_owned).collect()
    }

    /// Returns the names of a function's parameters, except its own object.
    fn parameter_names(&self, function: At<'a>) -> Vec<&'a str> {
        let given = function.field("parameters").or_else(|| function.field("parameter"));
        let parts: Vec<At<'_>> = given.map_or_else(Vec::new, |given| {
            if given.is(&["identifier"]) { vec![given] } else { given.children().collect() }
        });
        let of_lifetime = |at: &At<'a>| at.parent().is_some_and(|outer| outer.is(&["lifetime"]));
        let is_name = |at: &At<'a>| at.kind().ends_with("identifier") && !of_lifetime(at);
        let name = |part: At<'a>| part.below().find(is_name);
        let names = parts.into_iter().filter_map(name).map(At::text);
        names.filter(|name| !matches!(*name, "" | "self" | "cls" | "this")).collect()
    }

    fn marks(&self, found: &[QueryMatch<'a>], outline: &mut Outline) {
        let mut marks: Vec<(usize, Mark)> = Vec::new();
        for one in found {
            for (fact, at) in one.facts() {
                let message = one.first(Capture::StubMessage);
                let is_other = fact == Fact::Stub && message.is_some_and(|message| !is_promise(message.text()));
                let may_be_open = matches!(fact, Fact::Stub | Fact::Empty);
                let is_open = may_be_open && self.abstracts.iter().any(|outer| outer.holds(at));
                let is_this = |(index, mark): &(usize, Mark)| *index == at.index() && mark.fact == fact;
                let is_known = marks.iter().any(is_this);
                if !is_other && !is_open && !is_known {
                    marks.push((at.index(), self.mark(fact, at)));
                }
            }
        }
        marks.sort_by_key(|(index, _)| *index);
        let of_product = |function: &&Function| function.purpose == Purpose::Product;
        let lines: Vec<u32> = outline.functions.iter().filter(of_product).map(|one| one.line).collect();
        marks.retain(|(_, mark)| mark.fact != Fact::Empty || lines.contains(&mark.line));
        outline.marks = marks.into_iter().map(|(_, mark)| mark).collect();
    }

    fn mark(&self, fact: Fact, at: At<'a>) -> Mark {
        let own = self.functions.iter().chain(&self.suites);
        let around = own.filter(|(outer, _)| outer.holds(at));
        let owner = around.max_by_key(|(outer, _)| outer.index());
        let first_line = at.text().lines().next().unwrap_or_default();
        Mark {
            fact,
            line: at.line(),
            text: quoted(first_line),
            key: shorten(&at.phrase(), 400),
            owner: owner.map(|(_, name)| name.clone()).unwrap_or_default(),
            class: self.class_around(at).cloned(),
            purpose: self.purpose(at),
        }
    }

    fn class_around(&self, at: At<'a>) -> Option<&Class> {
        let around = self.classes.iter().rev().find(|(outer, _)| outer.holds(at));
        around.map(|(_, class)| class)
    }

    /// Reads the fixed results for fixed inputs, and the variables that hold data.
    fn data(&self, found: &[QueryMatch<'a>], outline: &mut Outline) {
        let of_product = |at: &At<'a>| self.purpose(*at) == Purpose::Product;
        let variables = firsts(found, Capture::Variable).filter(of_product);
        outline.variables = variables.map(|at| at.text().to_owned()).collect();
        let answers = merged(found, Capture::Answer).into_iter().filter(|(at, _)| of_product(at));
        let answers = answers.filter_map(|(at, one)| {
            let around = self.functions.iter().filter(|(outer, _)| outer.holds(at));
            let owner = around.max_by_key(|(outer, _)| outer.index()).map(|(outer, _)| *outer);
            Some(FixedAnswer {
                line: at.line(),
                text: quoted(at.text()),
                group: owner.or_else(|| at.parent())?.index(),
                input: self.literals(one.first(Capture::AnswerInput)?)?,
                result: self.literals(one.first(Capture::AnswerResult)?)?,
            })
        });
        outline.answers = answers.collect();
    }

    fn literals(&self, value: At<'a>) -> Option<Vec<String>> {
        let leaves = value.below().filter(|at| at.is_named() && at.children().next().is_none());
        let comparison = &self.vocabulary.words.comparison;
        let mut literals = Vec::new();
        for leaf in leaves {
            let text = leaf.text().trim_matches(['"', '\'', '`']);
            match leaf.is_one_of(&self.vocabulary.words.literals) {
                true if is_one_of(&comparison.truths, text) || is_one_of(&comparison.falsities, text) => {}
                true if text.contains(char::is_alphanumeric) => literals.push(text.to_owned()),
                true => {}
                false if text.starts_with(char::is_uppercase) => {}
                false => return None,
            }
        }
        Some(literals)
    }
}

fn content(body: At<'_>) -> Vec<String> {
    let leaves = body.below().filter(|at| at.is_named() && at.children().next().is_none());
    let words = leaves.map(|at| at.text().to_owned());
    words.filter(|word| word.contains(char::is_alphanumeric) && !word.contains(char::is_whitespace)).collect()
}

/// Drops tests that a later one of the same name hides, in languages in which the last definition is used.
fn keep_last(outline: &mut Outline, vocabulary: &Vocabulary) {
    if !vocabulary.words.last_test_wins {
        return;
    }
    let tests = std::mem::take(&mut outline.tests);
    let mut kept: Vec<Test> = Vec::new();
    for test in tests.into_iter().rev() {
        let is_same = |later: &Test| later.name == test.name && later.scope == test.scope;
        if !kept.iter().any(is_same) {
            kept.push(test);
        }
    }
    kept.reverse();
    outline.tests = kept;
}

/// Words with which a message promises work, with commas between them.
const PROMISES: &str = "\
    not implemented, not yet implemented, unimplemented, to be implemented, implement me, notimplemented, \
    not_implemented, not supported yet, not yet supported, coming soon, will be implemented, \
    needs to be implemented, placeholder implementation, in a real implementation, next iteration, next sprint, \
    next milestone, yet to come";

/// `true` if a message in a program says that something still has to be done.
pub fn is_promise(message: &str) -> bool {
    let text = message.to_lowercase();
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    PROMISES.split(", ").any(|words| text.contains(words)) || matches!(first, "todo" | "fixme") || text == "stub"
}
