//! Counts how often each fault met each kind of effect.

use crate::draws::Fault;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// The widest name of an effect's kind.
const WIDTH: usize = 20;

/// How often each fault met each kind of effect, over all rounds.
#[derive(Default)]
pub struct Table {
    met: BTreeMap<(String, Fault), usize>,
    /// The strikes that did not happen, and why.
    pub missed: Vec<String>,
}

impl Table {
    /// Adds the pairs that met in a round.
    pub fn add(&mut self, met: &[(String, Fault)]) {
        for pair in met {
            *self.met.entry(pair.clone()).or_default() += 1;
        }
    }

    /// Renders the table for these kinds of effects, and lists the pairs that did not meet.
    pub fn render(&self, kinds: &BTreeSet<String>) -> String {
        let faults = Fault::ALL;
        let mut text = format!("{:WIDTH$}", "");
        faults.iter().for_each(|fault| write!(text, " | {fault}").unwrap());
        let mut never = Vec::new();
        for kind in kinds {
            write!(text, "\n{kind:WIDTH$}").unwrap();
            for fault in faults {
                let width = fault.to_string().len();
                match self.met.get(&(kind.clone(), fault)) {
                    Some(count) => write!(text, " | {count:width$}").unwrap(),
                    None => {
                        write!(text, " | {:>width$}", "-").unwrap();
                        never.push(format!("{kind} × {fault}"));
                    }
                }
            }
        }
        let pairs = kinds.len() * faults.len();
        writeln!(text, "\n{} of {pairs} pairs met; not met: {}", pairs - never.len(), never.join(", ")).unwrap();
        self.missed.iter().for_each(|missed| writeln!(text, "{missed}").unwrap());
        text
    }
}

#[test]
fn the_table_shows_what_met_and_what_did_not() {
    let mut table = Table::default();
    table.add(&[("play".to_owned(), Fault::Kill), ("play".to_owned(), Fault::Kill)]);
    let text = table.render(&BTreeSet::from(["play".to_owned()]));
    let row = text.lines().nth(1).unwrap();
    assert!(row.starts_with("play                 |    2 |"), "{row}");
    assert!(text.contains("1 of 13 pairs met; not met: play × machine lost, "), "{text}");
}
