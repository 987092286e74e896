//! The picture of the work at one moment, as lines for a terminal: one for each running task, a bar for the waves and
//! one for the budget. Pure: nothing here writes, waits or reads the clock.

use crate::{
    cli::stage::{
        at_work::{calls, clock, elapsed, last_step, name, turn},
        terminal::Tone,
        wrap,
    },
    engine::running::Work,
};
use domain::{
    budget::dollars,
    cost::Cost,
    feature::Feature,
    ids::{FeatureKey, Millis},
    task,
};
use unicode_width::UnicodeWidthStr;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The most tasks that are drawn; the others are counted.
const MOST_TASKS: usize = 8;

/// The width in columns below which only the most important parts are drawn.
const NARROW: usize = 60;

/// The cells of a bar.
const BAR: usize = 24;
const NARROW_BAR: usize = 12;

/// The share of the budget, in percent, from which its bar warns.
const WARNS_AT: u64 = 80;

/// A piece of a line in one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub tone: Tone,
}

pub type Line = Vec<Span>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The open wave, counted from 1, and the number of waves.
    wave: (u32, u32),
    tasks: (usize, usize),
    /// The money spent and its limit, in millionths of a dollar.
    budget: Option<(u64, u64)>,
}

impl Progress {
    /// Returns the progress of a planned Feature; `None` before there are tasks.
    pub fn of(feature: &Feature, cost: &Cost, limit: Option<u64>) -> Option<Self> {
        let waves = feature.tasks.iter().map(|task| task.wave).max()?;
        let is_approved =
            |task: &&task::Task| matches!(task.state, task::State::Approved { .. } | task::State::Completed { .. });
        Some(Self {
            wave: (feature.wave, waves),
            tasks: (feature.tasks.iter().filter(is_approved).count(), feature.tasks.len()),
            budget: cost.usd_micros.zip(limit),
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    pub works: &'a [Work],
    /// The watched Feature; work of another Feature shows that one's name.
    pub feature: Option<FeatureKey>,
    pub progress: Option<Progress>,
    pub now: Millis,
    /// The number of earlier drawings; it selects the spinner's frame.
    pub beat: usize,
}

impl Picture<'_> {
    /// Returns the lines, each at most `columns` wide.
    pub fn lines(&self, columns: usize) -> Vec<Line> {
        let is_narrow = columns < NARROW;
        let works = self.works.iter().take(MOST_TASKS);
        let mut lines: Vec<Line> = works.map(|work| self.work(work, is_narrow)).collect();
        if let more @ 1.. = self.works.len().saturating_sub(MOST_TASKS) {
            lines.push(vec![span(format!("  and {more} more at work"), Tone::Quiet)]);
        }
        if let Some(progress) = &self.progress {
            lines.push(progress.waves(is_narrow));
            lines.extend(progress.money(is_narrow));
        }
        lines.into_iter().map(|line| fitted(line, columns)).collect()
    }

    fn work(&self, work: &Work, is_narrow: bool) -> Line {
        let other = self.feature.filter(|feature| *feature != work.feature);
        let other = other.map(|_| format!("{} ", work.feature.name()));
        let task = work.task.map(|task| format!("{task} "));
        let whose: String = other.into_iter().chain(task).collect();
        let turn = turn(work).filter(|_| !is_narrow).map(|turn| format!(" · turn {turn}"));
        let time = if is_narrow {
            format!(" · {}", clock(work, self.now))
        } else {
            format!(" · {}{}", elapsed(work, self.now), calls(work))
        };
        let step = match (&work.activity.waiting, last_step(work)) {
            (Some(_), _) => span(" · waits for its model's API".to_owned(), Tone::Warning),
            (None, Some(step)) => span(format!(" · {step}"), Tone::Plain),
            (None, None) => span(String::new(), Tone::Plain),
        };
        vec![
            span(format!("{} ", spinner(self.beat)), Tone::Working),
            span(whose, Tone::Loud),
            span(format!("{}{}", name(work.worker), turn.unwrap_or_default()), Tone::Plain),
            span(time, Tone::Quiet),
            step,
        ]
    }
}

impl Progress {
    fn waves(&self, is_narrow: bool) -> Line {
        let ((wave, waves), (approved, tasks)) = (self.wave, self.tasks);
        let said = if is_narrow {
            format!(" {wave}/{waves} · {approved}/{tasks} tasks")
        } else {
            format!(" wave {wave} of {waves} · {approved} of {tasks} tasks approved")
        };
        let (done, all) = (approved.try_into().unwrap_or(0), tasks.try_into().unwrap_or(1));
        bar("waves ", done, all, Tone::Good, said, is_narrow)
    }

    fn money(&self, is_narrow: bool) -> Option<Line> {
        let (spent, limit) = self.budget?;
        let tone = match spent.saturating_mul(100) / limit.max(1) {
            100.. => Tone::Bad,
            WARNS_AT.. => Tone::Warning,
            _ => Tone::Good,
        };
        let of = if is_narrow { "/" } else { " of " };
        let said = format!(" {}{of}{}", dollars(spent), dollars(limit));
        Some(bar("budget", spent, limit, tone, said, is_narrow))
    }
}

/// Returns the spinner's frame after `beat` earlier ones.
pub fn spinner(beat: usize) -> &'static str {
    SPINNER.get(beat % SPINNER.len()).unwrap_or(&" ")
}

/// Returns a bar with its name before it and its meaning after it.
fn bar(name: &str, part: u64, whole: u64, tone: Tone, said: String, is_narrow: bool) -> Line {
    let cells = if is_narrow { NARROW_BAR } else { BAR };
    let filled = u128::from(part) * u128::try_from(cells).unwrap_or(0) / u128::from(whole.max(1));
    let filled = usize::try_from(filled).map_or(cells, |filled| filled.min(cells));
    vec![
        span(format!("  {name} "), Tone::Quiet),
        span("█".repeat(filled), tone),
        span("░".repeat(cells - filled), Tone::Quiet),
        span(said, Tone::Plain),
    ]
}

pub fn span(text: String, tone: Tone) -> Span {
    Span { text, tone }
}

/// Shortens a line to at most `columns` columns.
pub fn fitted(line: Line, columns: usize) -> Line {
    let mut left = columns;
    let mut fitting = Line::new();
    let mut rest = line.into_iter().filter(|span| !span.text.is_empty()).peekable();
    while let Some(Span { text, tone }) = rest.next() {
        let is_last = rest.peek().is_none();
        if text.width() < left || text.width() == left && is_last {
            left -= text.width();
            fitting.push(span(text, tone));
            continue;
        }
        // The mark `…` takes a column.
        match left {
            0 => {}
            1 => fitting.push(span("…".to_owned(), tone)),
            _ => fitting.push(span(wrap::cut(&format!("{text} "), left), tone)),
        }
        break;
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        agents::Activity,
        cli::stage::terminal::{Colours, painted},
        config::Role,
        engine::running::Worker,
    };
    use domain::ids::TurnNumber;

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

    fn drawn(works: &[Work], progress: Option<Progress>, columns: usize) -> String {
        let picture =
            Picture { works, feature: Some("1/1/1".parse().unwrap()), progress, now: Millis(63_000), beat: 2 };
        let lines = picture.lines(columns);
        for line in &lines {
            let width: usize = line.iter().map(|span| span.text.width()).sum();
            assert!(width <= columns, "{width} of {columns}: {line:?}");
        }
        let text = |line: &Line| line.iter().map(|span| span.text.as_str()).collect::<String>();
        lines.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    fn works() -> [Work; 4] {
        let mut player = work(Worker::Agent(Role::Player), "TASK-002");
        player.activity = Activity {
            tool_calls: 14,
            recent: ["Bash cargo test --workspace\n\u{1b}[2J --all-features -- --nocapture".to_owned()].into(),
            waiting: None,
        };
        let mut coach = work(Worker::Agent(Role::Coach), "TASK-003");
        coach.activity.waiting = Some("overloaded".to_owned());
        let mut other = work(Worker::Gates, "TASK-001");
        other.feature = "2/2/1".parse().unwrap();
        [player, coach, other, work(Worker::WaveGate, "")]
    }

    const PROGRESS: Progress = Progress { wave: (2, 3), tasks: (2, 5), budget: Some((8_500_000, 10_000_000)) };

    #[test]
    fn a_line_for_each_task_and_two_bars() {
        let widths = [40, 80, 200].map(|columns| {
            let drawn = drawn(&works(), Some(PROGRESS), columns);
            format!("{columns} columns:\n{drawn}\n")
        });
        insta::assert_snapshot!("picture_at_three_widths", widths.join("\n"));
    }

    #[test]
    fn colours_say_what_is_meant() {
        let works = works();
        let picture = Picture { works: &works, feature: None, progress: Some(PROGRESS), now: Millis(63_000), beat: 0 };
        let lines = picture.lines(60);
        let painted: Vec<String> = lines.iter().map(|line| painted(line, Colours::On)).collect();
        insta::assert_snapshot!("picture_in_colour", painted.join("\n").replace('\u{1b}', "ESC"));
    }

    #[test]
    fn nothing_at_work_is_no_line_and_many_are_counted() {
        assert_eq!(drawn(&[], None, 80), "");
        let many = vec![work(Worker::Gates, "TASK-001"); 11];
        let shown = drawn(&many, None, 80);
        assert!(shown.ends_with("\n  and 3 more at work") && shown.lines().count() == 9, "{shown}");
    }

    #[test]
    fn the_budget_warns_before_it_is_spent() {
        let tone = |spent| {
            let progress = Progress { budget: Some((spent, 10_000_000)), ..PROGRESS };
            progress.money(false).unwrap().get(1).map(|span| (span.tone, span.text.chars().count()))
        };
        assert_eq!(tone(5_000_000), Some((Tone::Good, 12)));
        assert_eq!(tone(8_000_000), Some((Tone::Warning, 19)));
        assert_eq!(tone(30_000_000), Some((Tone::Bad, 24)), "a bar never leaves its frame");
    }

    #[test]
    fn wide_characters_are_measured_in_columns() {
        let mut player = work(Worker::Agent(Role::Player), "TASK-002");
        player.activity.recent = ["中文字符".repeat(20)].into();
        for columns in [1, 10, 39, 40, 41, 79, 80, 120] {
            drawn(std::slice::from_ref(&player), Some(PROGRESS), columns);
        }
    }
}
