//! Set-up and tests of one commit, in a place of their own.

use crate::config::RepositorySettings;
use crate::domain::evidence::Absence;
use crate::domain::evidence::Evidence;
use crate::domain::ids::Sha;
use crate::gates::bench::Bench;
use crate::gates::bench::GateError;
use crate::gates::commands;
use crate::gates::commands::Chosen;
use crate::gates::place::Order;
use crate::gates::place::Place;
use crate::git::Mirror;
use tokio_util::sync::CancellationToken;

/// A prepared place and what set-up said.
pub(crate) struct Stand<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) chosen: Chosen,
    pub(crate) setup: Option<Evidence>,
}

impl<'a> Stand<'a> {
    /// A fresh checkout of `commit`, set up.
    pub(crate) async fn new(
        bench: &'a Bench,
        mirror: &Mirror,
        commit: &Sha,
        settings: &RepositorySettings,
        cancel: &'a CancellationToken,
    ) -> Result<Self, GateError> {
        let chosen = commands::at(mirror, commit, settings).await?;
        let place = Place::new(bench, mirror, commit, cancel).await?;
        let setup = match &chosen.setup {
            Some(command) => {
                let order = Order {
                    command,
                    naming: &[],
                    deadline: bench.deadlines.setup,
                };
                Some(place.run(&order).await?)
            }
            None => None,
        };
        Ok(Self { place, chosen, setup })
    }

    /// Whether commands can be run here.
    pub(crate) fn is_ready(&self) -> bool {
        !matches!(self.setup, Some(Evidence::Failed(_) | Evidence::Absent(_)))
    }

    /// Runs the tests.
    pub(crate) async fn tests(&self, bench: &Bench) -> Result<Evidence, GateError> {
        let Some(command) = &self.chosen.test else {
            return Ok(Evidence::Absent(Absence::NoCommand));
        };
        if !self.is_ready() {
            return Ok(Evidence::Absent(Absence::NotReached));
        }
        let order = Order {
            command,
            naming: &self.chosen.naming,
            deadline: bench.deadlines.test,
        };
        self.place.run(&order).await
    }
}
