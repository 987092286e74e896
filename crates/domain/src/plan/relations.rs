//! Checks the relations between the tasks of a plan: ids, dependencies, files. `read` checks each value.

use crate::{
    ids::TaskId,
    plan::{Check, read::TaskSketch},
    quote, wave,
    wave::Needs,
};
use std::collections::{BTreeMap, BTreeSet};
use text::mistake::{Mistakes, quoted};

/// Notes every broken rule between tasks.
pub fn check_relations(tasks: &[TaskSketch<'_>], file_exists: &dyn Fn(&str) -> bool, mistakes: &mut Mistakes) {
    duplicate_ids(tasks, mistakes);
    unknown_and_own_needs(tasks, mistakes);
    let needs = wave::needs(tasks.iter().map(|sketch| &sketch.task));
    // The first cycle of more than one task, from its lowest id back to it.
    if let Some(cycle) = needs.keys().find_map(|start| shortest_cycle(*start, &needs)) {
        let shown: Vec<String> = cycle.iter().map(TaskId::to_string).collect();
        let first = tasks.iter().find(|sketch| cycle.first() == Some(&sketch.task.id));
        let place = first.and_then(|sketch| sketch.place);
        mistakes.add(format!("the dependencies form a cycle: {}", shown.join(" → ")), place);
    }
    checked_files(tasks, &needs, file_exists, mistakes);
}

/// Notes every file that no Player may add or change: a task that names it could not be done.
pub fn check_protected_files(
    tasks: &[TaskSketch<'_>],
    protecting: &dyn Fn(&str) -> Option<String>,
    file_exists: &dyn Fn(&str) -> bool,
    mistakes: &mut Mistakes,
) {
    for sketch in tasks {
        for file in &sketch.task.files {
            let Some(pattern) = protecting(file) else { continue };
            let act = if file_exists(file) { "change" } else { "add" };
            let (id, file, pattern) = (sketch.task.id, quoted(file), quoted(&pattern));
            let rule = format!("no Player may {act} it; leave it out, and let a person {act} it");
            mistakes
                .add(format!("{id}: files names {file}, which the pattern {pattern} protects: {rule}"), sketch.place);
        }
    }
}

/// Notes every change or removal whose quoted reason stands in none of `words`.
pub fn check_quotes(tasks: &[TaskSketch<'_>], words: &[&str], mistakes: &mut Mistakes) {
    for sketch in tasks {
        let task = &sketch.task;
        for (key, intents) in [("changes", &task.changes), ("removes", &task.removes)] {
            for intent in intents {
                let Some(because) = &intent.because else { continue };
                if !quote::stands_in(because, words.iter().copied()) {
                    let (id, name, because) = (task.id, quoted(&intent.name), quoted(because));
                    let rule = "stands neither in the issue nor in a maintainer's comment; quote it word for word";
                    mistakes.add(format!("{id}: {key} names {name} because of {because}, which {rule}"), sketch.place);
                }
            }
        }
    }
}

fn duplicate_ids(tasks: &[TaskSketch<'_>], mistakes: &mut Mistakes) {
    let mut seen = BTreeSet::new();
    for sketch in tasks {
        if !seen.insert(sketch.task.id) {
            let sentence = format!("{}: this id is used more than once", sketch.task.id);
            mistakes.add(sentence, sketch.place);
        }
    }
}

fn unknown_and_own_needs(tasks: &[TaskSketch<'_>], mistakes: &mut Mistakes) {
    let known: BTreeSet<TaskId> = tasks.iter().map(|sketch| sketch.task.id).collect();
    for sketch in tasks {
        let id = sketch.task.id;
        for (needed, place) in &sketch.needs {
            if *needed == id {
                mistakes.add(format!("{id}: dependencies names the task itself"), *place);
            } else if !known.contains(needed) {
                let sentence = format!("{id}: dependencies names {needed}, which is not a task of this plan");
                mistakes.add(sentence, *place);
            }
        }
    }
}

/// Returns the shortest cycle of dependencies from `start` back to it, through higher ids only: lower ones were
/// tried as starts before.
fn shortest_cycle(start: TaskId, needs: &Needs) -> Option<Vec<TaskId>> {
    let mut came_from: BTreeMap<TaskId, TaskId> = BTreeMap::new();
    let mut frontier = vec![start];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for at in frontier {
            for needed in needs.get(&at).into_iter().flatten().filter(|needed| **needed != at) {
                if *needed == start {
                    return Some(trace_cycle(start, at, &came_from));
                }
                if *needed > start && !came_from.contains_key(needed) {
                    came_from.insert(*needed, at);
                    next.push(*needed);
                }
            }
        }
        frontier = next;
    }
    None
}

fn trace_cycle(start: TaskId, last: TaskId, came_from: &BTreeMap<TaskId, TaskId>) -> Vec<TaskId> {
    let mut cycle = vec![start];
    let mut at = Some(last).filter(|last| *last != start);
    while let Some(id) = at {
        cycle.push(id);
        at = came_from.get(&id).copied().filter(|before| *before != start);
    }
    cycle.push(start);
    cycle.reverse();
    cycle
}

fn checked_files(tasks: &[TaskSketch<'_>], needs: &Needs, file_exists: &dyn Fn(&str) -> bool, mistakes: &mut Mistakes) {
    for sketch in tasks {
        let mut available: Option<BTreeSet<&str>> = None;
        for criterion in &sketch.task.acceptance_criteria {
            let Check::File(path) = &criterion.check else { continue };
            let named = available.get_or_insert_with(|| files_named(sketch.task.id, tasks, needs));
            if !named.contains(path.as_str()) && !file_exists(path) {
                let id = sketch.task.id;
                let rule = "neither exists nor is among the files of this task or of one that it needs";
                mistakes.add(format!("{id}: the checked file {} {rule}", quoted(path)), sketch.place);
            }
        }
    }
}

fn files_named<'a>(id: TaskId, tasks: &'a [TaskSketch<'_>], needs: &Needs) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        let needed = needs.get(&at).into_iter().flatten();
        open.extend(needed.filter(|needed| reached.insert(**needed)));
    }
    let within = tasks.iter().filter(|sketch| reached.contains(&sketch.task.id));
    within.flat_map(|sketch| &sketch.task.files).map(String::as_str).collect()
}
