//! The picture of a Feature's waves: a column for each, a box for each task, a line for each need.

use domain::{
    feature::Feature,
    ids::TaskId,
    secret::Secrets,
    task::{State, Task},
};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// More would not be readable.
const MOST_TASKS: usize = 60;
/// A box, the room between two, and the room for the waves' names, in pixels.
const WIDTH: usize = 190;
const HEIGHT: usize = 58;
const BESIDE: usize = 48;
const BELOW: usize = 16;
const TOP: usize = 26;
/// Characters of a name.
const NAME: usize = 26;

/// The picture, or nothing if there is nothing to draw, or too much.
pub(super) fn waves(secrets: &Secrets, feature: &Feature) -> Markup {
    let count = feature.tasks.len();
    if count == 0 || count > MOST_TASKS {
        return html! {};
    }
    let mut columns: BTreeMap<u32, Vec<&Task>> = BTreeMap::new();
    for task in &feature.tasks {
        columns.entry(task.wave).or_default().push(task);
    }
    let tallest = columns.values().map(Vec::len).max().unwrap_or(0);
    let (width, height) = (
        columns.len() * (WIDTH + BESIDE) - BESIDE + 4,
        TOP + tallest * (HEIGHT + BELOW),
    );
    let places: BTreeMap<TaskId, (usize, usize)> = columns
        .values()
        .enumerate()
        .flat_map(|(column, tasks)| {
            let x = 2 + column * (WIDTH + BESIDE);
            tasks
                .iter()
                .enumerate()
                .map(move |(row, task)| (task.id, (x, TOP + row * (HEIGHT + BELOW))))
        })
        .collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Waves" {
            svg.waves role="group" aria-labelledby="waves-title" width=(width) height=(height)
                viewBox=(format!("0 0 {width} {height}")) {
                title id="waves-title" { (in_words(&columns)) }
                @for (column, wave) in columns.keys().enumerate() {
                    text.wave x=(2 + column * (WIDTH + BESIDE)) y="16" { "Wave " (wave) }
                }
                @for task in &feature.tasks {
                    @for need in &task.plan.dependencies {
                        @if let (Some(from), Some(to)) = (places.get(need), places.get(&task.id)) {
                            path.edge d=(edge(*from, *to)) {}
                        }
                    }
                }
                @for task in &feature.tasks {
                    @if let Some(place) = places.get(&task.id) { (node(secrets, task, *place)) }
                }
            }
        }
    }
}

fn node(secrets: &Secrets, task: &Task, (x, y): (usize, usize)) -> Markup {
    html! {
        a id=(format!("node-{}", task.id)) href=(format!("#{}", task.id)) class=(colour(task)) {
            rect x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="6" {}
            text.id x=(x + 10) y=(y + 18) { (task.id) }
            text x=(x + 10) y=(y + 34) { (short(&secrets.mask(&task.plan.name))) }
            text.state x=(x + 10) y=(y + 50) { (task.state.word().replace('_', " ")) }
        }
    }
}

fn edge((from_x, from_y): (usize, usize), (to_x, to_y): (usize, usize)) -> String {
    let (x1, y1, x2, y2) = (from_x + WIDTH, from_y + HEIGHT / 2, to_x, to_y + HEIGHT / 2);
    let middle = usize::midpoint(x1, x2);
    format!("M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}")
}

/// For those who hear the page.
fn in_words(columns: &BTreeMap<u32, Vec<&Task>>) -> String {
    let wave = |(wave, tasks): (&u32, &Vec<&Task>)| {
        let tasks: Vec<String> = tasks
            .iter()
            .map(|task| format!("{} {}", task.id, task.state.word().replace('_', " ")))
            .collect();
        format!("Wave {wave}: {}.", tasks.join(", "))
    };
    columns.iter().map(wave).collect::<Vec<_>>().join(" ")
}

fn short(name: &str) -> String {
    match name.chars().count() > NAME {
        true => format!("{}…", name.chars().take(NAME).collect::<String>().trim_end()),
        false => name.to_owned(),
    }
}

fn colour(task: &Task) -> &'static str {
    match task.state {
        State::Pending => "pending",
        State::PreLoop { .. } | State::PlayerTurn { .. } | State::CoachTurn { .. } => "working",
        State::Approved { .. } => "approved",
        State::Completed { .. } => "done",
        State::Blocked { .. } => "blocked",
        State::Skipped { .. } | State::Cancelled => "gone",
    }
}
