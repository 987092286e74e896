//! A function only announces work, or always returns the same value instead of computing one.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        Role,
        capture::Fact,
        outline::{Answer, Function, Mark, Purpose},
    },
    marks::new_marks,
    rules::rule::{ReadingRule, Violation, at_mark, at_place, new_functions},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::Stub, applies: &[Role::Source], check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Stub, Fact::Empty, Fact::Borrowed], Purpose::Product);
    let marks = new.into_iter().filter(|(_, mark)| !is_filled_in(reading, mark));
    let mut found: Vec<Violation> = marks.map(|(file, mark)| at_mark(file, mark)).collect();
    let sources = reading.files.iter().filter(|file| file.role == Role::Source);
    found.extend(sources.flat_map(ignoring));
    found
}

/// `true` if a method is empty because subclasses implement it: another class of the change extends its class, or its
/// class extends another one.
fn is_filled_in(reading: &Reading<'_>, mark: &Mark) -> bool {
    let Some(class) = &mark.class else { return false };
    let mut classes = reading.files.iter().flat_map(|file| &file.after.classes);
    let is_base = classes.any(|other| other.bases.iter().any(|base| base.rsplit('.').next() == Some(&class.name)));
    is_base || mark.fact == Fact::Empty && !class.bases.is_empty()
}

/// Finds new or changed functions that return the same value for all arguments.
fn ignoring(file: &ChangedFile<'_>) -> Vec<Violation> {
    let ignores = |function: &&Function| function.purpose == Purpose::Product && function.answer == Answer::Ignores;
    let new = new_functions(file).filter(ignores);
    new.map(|function| at_place(file.path, function.line, Detail::Function(function.name.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("fees.py", "", "def fee(amount):\n    raise NotImplementedError\n")],
            &[(
                "shapes.py",
                "",
                "class Shape(ABC):\n    @abstractmethod\n    def area(self):\n        raise NotImplementedError\n",
            )],
        );
    }
}
