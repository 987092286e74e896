//! Measures how the work of a reader of foreign text grows with the text: eight times the text must not be much more than
//! eight times the work, whatever the text is.
//!
//! The measure is the processor's time for this thread, compared within one run, so a busy machine changes nothing. Tests
//! read small texts; `EFFORT=1` in the environment makes them read 1 and 8 MiB, and print what each reader took.

#![allow(clippy::panic, reason = "a test that cannot go on has failed")]

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// A text of any size: how it starts, what fills its first half, and what repeats to its end, numbered where it says
/// `{n}`.
#[derive(Clone, Copy, Debug)]
pub struct Text(pub &'static str, pub &'static str, pub &'static str);

/// Texts that every reader must read.
const COMMON: [Text; 7] = [
    Text("", "", "a plain line of words, as most programs print it\n"),
    Text("", "", "line \u{1b}[32mok\u{1b}[0m \n"),
    Text("", "", "x"),
    Text("", "", "["),
    Text("", "", "{\"a\":"),
    Text("", "", "\""),
    Text("", "", "`'\"\\"),
];

/// A reader of foreign text.
pub struct Reader<'a> {
    /// Its name.
    pub name: &'a str,
    /// Reads a text.
    pub read: &'a dyn Fn(&str),
    /// Texts that may be hostile to this reader.
    pub own: &'a [Text],
}

/// The growth of the text between the two measurements.
const GROWTH: usize = 8;
/// The growth of the work that is too much. Quadratic work grows by 64.
const MOST: u32 = 24;
/// Work that is over so soon says nothing about its growth.
const NOTHING: Duration = Duration::from_millis(4);

impl Text {
    fn of_size(self, size: usize) -> String {
        let Self(start, filler, unit) = self;
        let times = |part: &str, size: usize| size.checked_div(part.len()).unwrap_or(0);
        let filler = filler.repeat(times(filler, size / 2));
        let units: String = (0..times(unit, size - filler.len()))
            .map(|number| unit.replace("{n}", &number.to_string()))
            .collect();
        [start, &filler, &units].concat()
    }
}

/// Fails if a reader does more than linear work.
pub fn assert_linear(readers: &[Reader<'_>]) {
    let is_large = std::env::var_os("EFFORT").is_some();
    let least = if is_large { 1 << 20 } else { 16 << 10 };
    for Reader { name, read, own } in readers {
        for text in COMMON.iter().chain(*own) {
            let [small, large] = [least, least * GROWTH].map(|size| work(read, &text.of_size(size)));
            if is_large {
                eprintln!("{name}: {small:.1?}, then {large:.1?} for {text:?}");
            }
            assert!(
                large < NOTHING || large < small * MOST,
                "{name} takes {small:?} for {text:?}, and {large:?} for {GROWTH} times as much"
            );
        }
    }
}

fn work(read: &dyn Fn(&str), text: &str) -> Duration {
    let before = now();
    read(text);
    now().saturating_sub(before)
}

fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
