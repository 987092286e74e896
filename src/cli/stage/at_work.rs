//! Describes current work in words: its task and turn, its duration, and its last tool call.

use crate::{
    config::Role,
    engine::running::{Work, Worker},
    messages::clean,
};
use domain::ids::{Millis, TurnNumber};

/// Describes the work in one line, for output that cannot show the picture.
pub fn plain(work: &Work, now: Millis) -> String {
    let task = work.task.map_or_else(String::new, |task| format!("{task} · "));
    let turn = turn(work).map_or_else(String::new, |turn| format!("turn {turn} · "));
    let (name, elapsed, calls) = (name(work.worker), elapsed(work, now), calls(work));
    let line = format!("{task}{turn}{name} · {elapsed}{calls}");
    match (&work.activity.waiting, last_step(work)) {
        (Some(_), _) => format!("{line} · waits for its model's API"),
        (None, Some(step)) => format!("{line} · {step}"),
        (None, None) => line,
    }
}

/// Returns the number of tool calls, with the mark before it; empty if there are none.
pub fn calls(work: &Work) -> String {
    match work.activity.tool_calls {
        0 => String::new(),
        1 => " · 1 tool call".to_owned(),
        calls => format!(" · {calls} tool calls"),
    }
}

pub fn turn(work: &Work) -> Option<TurnNumber> {
    match work.worker {
        Worker::Agent(Role::Player | Role::Coach) | Worker::Gates => work.task.map(|_| work.turn),
        Worker::Agent(Role::Planner | Role::Designer) | Worker::PreFlight | Worker::WaveGate => None,
    }
}

/// Returns the last tool call, in one line.
pub fn last_step(work: &Work) -> Option<String> {
    let tool = clean(work.activity.last_tool()?);
    Some(tool.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns how long the work has lasted, in seconds.
pub fn seconds(work: &Work, now: Millis) -> i64 {
    now.0.saturating_sub(work.since.0).max(0) / 1_000
}

pub fn name(worker: Worker) -> &'static str {
    match worker {
        Worker::Agent(Role::Planner) => "Planner",
        Worker::Agent(Role::Designer) => "Designer",
        Worker::Agent(Role::Player) => "Player",
        Worker::Agent(Role::Coach) => "Coach",
        Worker::Gates => "Gates",
        Worker::PreFlight => "Pre-flight: set-up and tests of the default branch",
        Worker::WaveGate => "Wave gate: set-up and tests of the merged result",
    }
}

/// Returns how long the work has lasted, in words.
pub fn elapsed(work: &Work, now: Millis) -> String {
    match seconds(work, now) {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Returns how long the work has lasted in few columns, such as `1:02`.
pub fn clock(work: &Work, now: Millis) -> String {
    let seconds = seconds(work, now);
    match seconds / 3_600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Activity;

    fn work(worker: Worker, task: &str) -> Work {
        Work {
            feature: "1/1/1".parse().unwrap(),
            worker,
            task: task.parse().ok(),
            turn: TurnNumber(2),
            since: Millis(1_000),
            activity: Activity::default(),
        }
    }

    #[test]
    fn the_line_says_who_which_turn_how_long_and_the_last_call() {
        let mut player = work(Worker::Agent(Role::Player), "TASK-002");
        assert_eq!(plain(&player, Millis(13_999)), "TASK-002 · turn 2 · Player · 12 s");
        player.activity =
            Activity { tool_calls: 14, recent: ["Bash cargo\ntest\u{1b}[2J".to_owned()].into(), waiting: None };
        let told = "TASK-002 · turn 2 · Player · 1 min 02 s · 14 tool calls · Bash cargo test";
        assert_eq!(plain(&player, Millis(63_000)), told);
        player.activity.waiting = Some("overloaded".to_owned());
        assert!(plain(&player, Millis(3_601_000)).ends_with("1 h 00 min · 14 tool calls · waits for its model's API"));
        let designer = work(Worker::Agent(Role::Designer), "TASK-001");
        assert_eq!(plain(&designer, Millis(0)), "TASK-001 · Designer · 0 s");
        assert_eq!(
            plain(&work(Worker::PreFlight, ""), Millis(8_500)),
            "Pre-flight: set-up and tests of the default branch · 7 s"
        );
        assert_eq!(
            plain(&work(Worker::WaveGate, ""), Millis(1_000)),
            "Wave gate: set-up and tests of the merged result · 0 s"
        );
    }
}
