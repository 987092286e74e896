//! Finds new facts: in the new version of a file, not in the old one, and not moved from another file of the change.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        capture::Fact,
        outline::{Mark, Purpose},
    },
};

pub(crate) fn new_marks<'a>(
    reading: &Reading<'a>,
    facts: &[Fact],
    purpose: Purpose,
) -> Vec<(&'a ChangedFile<'a>, &'a Mark)> {
    let is_wanted = |mark: &&Mark| facts.contains(&mark.fact) && mark.purpose == purpose;
    let mut new: Vec<(&ChangedFile<'a>, &Mark)> = Vec::new();
    let mut dropped: Vec<&Mark> = Vec::new();
    for file in reading.files {
        let mut known: Vec<&Mark> = file.before.marks.iter().filter(is_wanted).collect();
        for mark in file.after.marks.iter().filter(is_wanted) {
            match known.iter().position(|known| is_same(known, mark)) {
                Some(at) => drop(known.swap_remove(at)),
                None => new.push((file, mark)),
            }
        }
        dropped.extend(known);
    }
    new.retain(|(_, mark)| match dropped.iter().position(|old| is_same(old, mark)) {
        Some(at) => {
            dropped.swap_remove(at);
            false
        }
        None => true,
    });
    new
}

fn is_same(one: &Mark, other: &Mark) -> bool {
    let is_function = one.fact == Fact::Empty && one.owner == other.owner;
    one.fact == other.fact && (one.key == other.key || is_function)
}
