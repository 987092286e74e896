//! Test runners, from a repository's files and a runner's output: which command runs the tests, how it names or selects
//! them, and what it found.
//!
//! Pure: text in, data out. It starts no program and reads no file; the Gates do.

pub mod conditions;
pub mod coverage;
pub mod detect;
pub mod exposure;
pub mod results;
pub mod shell;
pub mod test_index;
pub mod test_line;
pub mod workflows;
mod xml;

#[cfg(test)]
mod tests;
