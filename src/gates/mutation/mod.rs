//! Experiments run the tests again with something broken that they should notice, such as every new function emptied.
//! A test that does not notice it does not check it.
//!
//! [`ALL`] is the table, one file per experiment; [`runner`] runs them within one [`budget`]. To add one, write its
//! file and add its line here. This is mutation testing; emptying whole functions is extreme mutation (Niedermayr,
//! Jürgens, Wagner, "Will my tests tell me if I break this code?", 2016).

mod budget;
pub(crate) mod code;
mod empty_bodies;
mod experiment;
mod failing_assertions;
mod golden_files;
mod return_values;
mod runner;
mod weakened_tests;

pub(crate) use experiment::{Facts, Witness};
pub(crate) use runner::{Tried, experiments};

use experiment::Experiment;

/// The experiments, cheapest and most revealing first: if the budget runs out, the last ones are left out.
static ALL: &[&Experiment] = &[
    &empty_bodies::EXPERIMENT,
    &failing_assertions::EXPERIMENT,
    &return_values::EXPERIMENT,
    &weakened_tests::EXPERIMENT,
    &golden_files::EXPERIMENT,
];
