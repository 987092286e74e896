//! Who is at work now, in one line: for which task and turn, for how long, and what it called last.

use crate::{
    config::Role,
    engine::running::{Work, Worker},
    messages::clean,
};
use domain::ids::Millis;

/// What turns in front of a line that moves.
const WHEEL: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Beats for which one of several that work is shown.
const BEATS_EACH: usize = 12;

/// The line that moves; `beat` counts how often it was asked for. Of several that work each is shown in turn.
pub fn moving(works: &[Work], now: Millis, beat: usize) -> String {
    let Some(work) = works.get((beat / BEATS_EACH).checked_rem(works.len()).unwrap_or(0)) else {
        return String::new();
    };
    let wheel = WHEEL.get(beat % WHEEL.len()).unwrap_or(&' ');
    let others = match works.len() {
        1 => String::new(),
        all => format!(" · {} more at work", all - 1),
    };
    format!("{wheel} {}{others}", plain(work, now))
}

/// The same as a plain line.
pub fn plain(work: &Work, now: Millis) -> String {
    let whose = work.task.map_or_else(String::new, |task| match work.worker {
        Worker::Agent(Role::Planner | Role::Designer) => format!("{task} · "),
        Worker::Agent(Role::Player | Role::Coach) | Worker::Gates => format!("{task} · turn {} · ", work.turn),
        Worker::PreFlight | Worker::WaveGate => String::new(),
    });
    let mut line = format!("{whose}{} · {}", name(work.worker), elapsed(work, now));
    match work.activity.tool_calls {
        0 => {}
        1 => line.push_str(" · 1 tool call"),
        calls => line.push_str(&format!(" · {calls} tool calls")),
    }
    if work.activity.waiting.is_some() {
        line.push_str(" · waits for its model's API");
    } else if let Some(tool) = work.activity.last_tool() {
        line.push_str(&format!(" · {}", clean(tool).replace('\n', " ")));
    }
    line
}

/// For how long it has worked, in seconds.
pub fn seconds(work: &Work, now: Millis) -> i64 {
    now.0.saturating_sub(work.since.0).max(0) / 1_000
}

fn name(worker: Worker) -> &'static str {
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

fn elapsed(work: &Work, now: Millis) -> String {
    match seconds(work, now) {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Activity;
    use domain::ids::TurnNumber;

    fn work(worker: Worker, task: &str) -> Work {
        Work {
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
        player.activity = Activity {
            tool_calls: 14,
            recent: ["Bash cargo\ntest\u{1b}[2J".to_owned()].into(),
            waiting: None,
        };
        let told = "TASK-002 · turn 2 · Player · 1 min 02 s · 14 tool calls · Bash cargo test";
        assert_eq!(plain(&player, Millis(63_000)), told);
        assert_eq!(
            moving(std::slice::from_ref(&player), Millis(63_000), 0),
            format!("⠋ {told}")
        );
        player.activity.waiting = Some("overloaded".to_owned());
        assert!(plain(&player, Millis(3_601_000)).ends_with("1 h 00 min · 14 tool calls · waits for its model's API"));
        assert_eq!(
            plain(&work(Worker::Agent(Role::Planner), ""), Millis(0)),
            "Planner · 0 s"
        );
        assert_eq!(
            plain(&work(Worker::PreFlight, ""), Millis(8_500)),
            "Pre-flight: set-up and tests of the default branch · 7 s"
        );
        assert_eq!(
            plain(&work(Worker::WaveGate, ""), Millis(1_000)),
            "Wave gate: set-up and tests of the merged result · 0 s"
        );
        assert_eq!(moving(&[], Millis(0), 5), "");
    }

    #[test]
    fn of_several_each_is_shown_in_turn() {
        let both = [
            work(Worker::Gates, "TASK-001"),
            work(Worker::Agent(Role::Coach), "TASK-002"),
        ];
        let shown = |beat| moving(&both, Millis(1_000), beat);
        assert_eq!(shown(0), "⠋ TASK-001 · turn 2 · Gates · 0 s · 1 more at work");
        assert!(shown(BEATS_EACH).contains("TASK-002 · turn 2 · Coach"));
        assert!(shown(2 * BEATS_EACH).contains("TASK-001"));
    }
}
