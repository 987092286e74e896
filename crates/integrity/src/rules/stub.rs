//! A function is only a promise, or always returns the same value instead of computing one.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        Role,
        capture::Fact,
        outline::{Answer, Class, Function, Mark, Of, is_promise},
    },
    marks::new_marks,
    rules::rule::{ReadingRule, Violation, at, at_mark},
    words::is_one_of,
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::Stub,
    applies: &[Role::Source],
    refuses: &[("fees.py", "", "def fee(amount):\n    raise NotImplementedError\n")],
    accepts: &[(
        "shapes.py",
        "",
        "class Shape(ABC):\n    @abstractmethod\n    def area(self):\n        raise NotImplementedError\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Stub, Fact::Empty, Fact::Borrowed], &[Of::Product]);
    let marks = new.into_iter().filter(|(file, mark)| {
        let is_tool = mark.fact == Fact::Borrowed && !is_shipped(file.path);
        !is_tool && !is_filled_in(reading, mark)
    });
    let mut found: Vec<Violation> = marks.map(at_mark).collect();
    found.extend(constants(reading));
    found
}

/// `true` if a method is empty because subclasses implement it: another class of the change extends its class, or its
/// class extends another one.
fn is_filled_in(reading: &Reading<'_>, mark: &Mark) -> bool {
    let Some(Class { name, bases }) = &mark.class else {
        return false;
    };
    let mut classes = reading.files.iter().flat_map(|file| &file.after.classes);
    let is_base = classes.any(|class| class.bases.iter().any(|base| base.rsplit('.').next() == Some(name)));
    is_base || mark.fact == Fact::Empty && !bases.is_empty()
}

/// `true` if a source file is neither a tool of the repository nor test support.
fn is_shipped(path: &str) -> bool {
    let helping = "scripts tools dev bench benches benchmarks examples demo ci";
    let words = ["test", "mock", "fake", "stub", "fixture", "noxfile", "setup.py"];
    let small = path.to_lowercase();
    !crate::language::folders(path).any(|folder| is_one_of(helping, folder))
        && !words.iter().any(|word| small.contains(word))
}

/// A new or changed function of the product.
struct Changed<'a> {
    path: &'a str,
    now: &'a Function,
    before: Option<&'a Function>,
}

/// Finds functions that computed a value and are now constant; all new functions, if none of the changed ones uses its
/// arguments; and functions whose comments promise the rest.
fn constants(reading: &Reading<'_>) -> Vec<Violation> {
    let sources = reading.files.iter().filter(|file| file.role == Role::Source);
    let changed: Vec<Changed<'_>> = sources.flat_map(changed).collect();
    let only_ignore = changed.iter().all(|one| one.now.answer == Answer::Ignores);
    let computes_elsewhere = |one: &Changed<'_>| {
        let mut others = changed.iter();
        others.any(|other| other.now.name == one.now.name && other.now.answer == Answer::Computed)
    };
    let fell = |one: &Changed<'_>, before: &Function| {
        let computed = before.answer == Answer::Computed && !before.words.iter().any(|word| is_promise(word));
        // The task may ask to simplify this function; its tests show whether it is right.
        let is_meant =
            || reading.change.task.files.iter().any(|file| file == one.path) && reading.explained.names(&one.now.name);
        computed && !computes_elsewhere(one) && !is_meant()
    };
    let promised = |one: &Changed<'_>| {
        let mut comments = one.now.comments.lines();
        comments.any(|line| is_promise(line.trim_start_matches(['#', '/', '*', ' '])))
    };
    let is_wrong = |one: &&Changed<'_>| match (one.now.answer, one.before) {
        (Answer::Computed, _) => false,
        (Answer::Ignores | Answer::IgnoresOpenly | Answer::Constant, Some(before)) => fell(one, before),
        (Answer::Ignores, None) => only_ignore || promised(one),
        (Answer::IgnoresOpenly, None) => promised(one),
        (Answer::Constant, None) => false,
    };
    let found = changed.iter().filter(is_wrong);
    found
        .map(|one| at(one.path, one.now.line, Detail::Function(one.now.name.clone())))
        .collect()
}

fn changed<'a>(file: &'a ChangedFile<'_>) -> impl Iterator<Item = Changed<'a>> {
    let of_product = |function: &&Function| function.of == Of::Product;
    let is_new = |now: &&Function| {
        let mut before = file.before.functions.iter();
        !before.any(|old| old.name == now.name && old.words == now.words)
    };
    let functions = file.after.functions.iter().filter(of_product).filter(is_new);
    functions.map(move |now| Changed {
        path: file.path,
        now,
        before: file.before.functions.iter().find(|old| old.name == now.name),
    })
}
