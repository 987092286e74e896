//! Test runners: detects the test command from a repository's files, adds arguments that name or select tests, and
//! reads the results from a runner's output.
//!
//! Pure: text in, data out. It starts no program and reads no file; the Gates do.

#![allow(missing_docs, reason = "a name and a type that say what an item is need no comment")]

pub mod called;
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
