//! Judges the fate of each test by its results in four runs.
//!
//! [`rows`] runs the base's tests on the head's code and the head's tests on the base's, if the change makes it
//! necessary, and reads the table of [`domain::test_outcome`]. [`report`] turns rows into findings and questions, and
//! [`witness`] looks for proof of the change.

mod loosened;
pub(crate) mod mixed;
mod pairs;
mod reasons;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod witness;

pub(crate) use rows::{OldTests, TestTable};
