//! Measures how the work of a reader of foreign text grows with the text: for any text, eight times its length must not
//! need much more than eight times the work.
//!
//! The measure is the processor's time for this thread, compared within one run, so a busy machine makes no difference.
//! Tests read small texts; `EFFORT=1` in the environment makes them read 1, 2, 4 and 8 MiB, and print the time of each
//! reader.

#![allow(clippy::panic, reason = "a test that cannot go on has failed")]

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// A text of any size: its beginning, the filling of its first half, and the part that repeats to its end, in which
/// `{n}` becomes a number.
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

/// The sizes of the texts that tests read.
const SMALL: [usize; 2] = [16 << 10, 128 << 10];
/// The sizes of the texts that `EFFORT=1` reads.
const LARGE: [usize; 4] = [1 << 20, 2 << 20, 4 << 20, 8 << 20];
/// The most measurements of a reader with one text.
const TRIES: usize = 2;
/// The time of work that is too short to measure its growth.
const NOTHING: Duration = Duration::from_millis(4);

impl Text {
    fn of_size(self, size: usize) -> String {
        let Self(start, filler, unit) = self;
        let times = |part: &str, size: usize| size.checked_div(part.len()).unwrap_or(0);
        let filler = filler.repeat(times(filler, size / 2));
        let units: String =
            (0..times(unit, size - filler.len())).map(|number| unit.replace("{n}", &number.to_string())).collect();
        [start, &filler, &units].concat()
    }
}

/// Fails if a reader does more than linear work, after all are measured.
pub fn assert_linear(readers: &[Reader<'_>]) {
    let too_slow: Vec<String> = readers.iter().flat_map(too_slow).collect();
    assert!(too_slow.is_empty(), "(bytes, time): {too_slow:#?}");
}

/// Returns the texts for which a reader does more than linear work.
fn too_slow<'a>(Reader { name, read, own }: &'a Reader<'_>) -> impl Iterator<Item = String> + 'a {
    COMMON.iter().chain(*own).filter_map(move |text| {
        // Other work of the machine can make a single measurement long.
        let works = (0..TRIES).map(|_| works(read, *text)).find(|works| is_linear(works));
        if is_large() {
            eprintln!("{name}: {works:.1?} for {text:?}");
        }
        works.is_none().then(|| format!("{name}: {:.1?} for {text:?}", self::works(read, *text)))
    })
}

fn is_large() -> bool {
    std::env::var_os("EFFORT").is_some()
}

fn works(read: &dyn Fn(&str), text: Text) -> Vec<(usize, Duration)> {
    let sizes = if is_large() { &LARGE[..] } else { &SMALL[..] };
    sizes.iter().map(|&size| (size, work(read, &text.of_size(size)))).collect()
}

/// Twice the text may need three times the work; with quadratic work it would be four times.
fn is_linear(works: &[(usize, Duration)]) -> bool {
    works.windows(2).all(|pair| match pair {
        &[(small_size, small), (large_size, large)] => {
            large < NOTHING || large < small * 3_u32.pow((large_size / small_size).ilog2())
        }
        _ => true,
    })
}

fn work(read: &dyn Fn(&str), text: &str) -> Duration {
    let before = now();
    read(text);
    now().saturating_sub(before)
}

fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
