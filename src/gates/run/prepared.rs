//! Set-up and tests of one commit, in a place of their own.

use crate::{
    config::RepositorySettings,
    gates::{
        bench::{Bench, GateError},
        cache,
        cache::Warmed,
        commands,
        commands::Chosen,
        files,
        overlay::Overlay,
        place::{Order, Place},
    },
};
use domain::{
    evidence::{Absence, Evidence, Finding},
    ids::Sha,
    shell_command::ShellCommand,
};
use git::Mirror;
use tokio_util::sync::CancellationToken;

/// What a place starts from besides the commit's files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// Nothing at all.
    Nothing,
    /// Nothing either, but what is built will be kept for others.
    NothingYet,
    /// What pre-flight built on the default branch, where that fits.
    Cache,
}

/// A prepared place and what set-up said.
pub(crate) struct Stand<'a> {
    bench: &'a Bench,
    pub(crate) place: Place<'a>,
    pub(crate) chosen: Chosen,
    pub(crate) setup: Option<Evidence>,
    /// Files of the commit, or put over them, that set-up rewrote and that were put back.
    pub(crate) rewritten: Vec<String>,
    /// Whether files of another commit were put over the commit's own.
    laid: Laid,
    coverage_file: Option<String>,
}

/// Whose files stand in a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Laid {
    /// The commit's alone.
    Nothing,
    /// Some of another commit too.
    Files,
}

impl<'a> Stand<'a> {
    /// A fresh checkout of `commit`, set up.
    pub(crate) async fn new(
        bench: &'a Bench,
        mirror: &Mirror,
        commit: &Sha,
        settings: &RepositorySettings,
        from: From,
        cancel: &'a CancellationToken,
    ) -> Result<Self, GateError> {
        let chosen = commands::at(mirror, commit, settings).await?;
        Self::with(bench, (mirror, commit), settings, (chosen, from), None, cancel).await
    }

    /// A fresh checkout of `commit` with some files put in place of its own, set up by commands chosen elsewhere.
    pub(crate) async fn with(
        bench: &'a Bench,
        (mirror, commit): (&Mirror, &Sha),
        settings: &RepositorySettings,
        (chosen, from): (Chosen, From),
        overlay: Option<&Overlay>,
        cancel: &'a CancellationToken,
    ) -> Result<Self, GateError> {
        let mut place = Place::new(bench, mirror, commit, cancel).await?;
        let warmed = match from {
            From::Cache => cache::warm(bench, mirror, commit, &chosen, overlay, &place).await?,
            From::Nothing | From::NothingYet => Warmed::No,
        };
        if from == From::NothingYet {
            cache::prepare(mirror, commit, &place).await?;
        }
        if warmed == Warmed::InPart {
            place = Place::new(bench, mirror, commit, cancel).await?;
        }
        let mut prepared = place.prepared(mirror, overlay, &chosen).await?;
        // What was built elsewhere may not fit here; only without it a failure of set-up says something.
        if warmed == Warmed::Yes && !is_ready(prepared.setup.as_ref()) {
            place = Place::new(bench, mirror, commit, cancel).await?;
            prepared = place.prepared(mirror, overlay, &chosen).await?;
        }
        Ok(Self {
            bench,
            place,
            chosen,
            setup: prepared.setup,
            rewritten: prepared.rewritten,
            laid: overlay.map_or(Laid::Nothing, |_| Laid::Files),
            coverage_file: settings.coverage.file.clone(),
        })
    }

    /// Whether commands can be run here.
    pub(crate) fn is_ready(&self) -> bool {
        is_ready(self.setup.as_ref())
    }

    /// Runs the tests.
    pub(crate) async fn tests(&self) -> Result<Evidence, GateError> {
        let Some(command) = &self.chosen.test else {
            return Ok(Evidence::Absent(Absence::NoCommand));
        };
        if !self.is_ready() {
            return Ok(Evidence::Absent(Absence::NotReached));
        }
        if let Some(file) = &self.coverage_file {
            // Coverage that was there before is nobody's measurement. What cannot be cleared is refused when it is read.
            let _ = files::clear(self.place.path(), file);
        }
        let order = Order {
            command,
            line: &self.chosen.test_line,
            deadline: self.bench.deadlines.test,
            report: self.chosen.report.as_deref(),
            reaches: &self.chosen.reaches,
        };
        self.place
            .run(&order)
            .await
            .map(|evidence| self.with_rewritten(evidence))
    }

    /// Says beside the output what was put back: of a commit's own files integrity tells, of files laid over them nobody
    /// else does.
    fn with_rewritten(&self, evidence: Evidence) -> Evidence {
        let told = |mut finding: Finding| {
            let files = self.rewritten.join(", ");
            finding.output = format!("{}\nAutoBuild put back what set-up rewrote: {files}", finding.output);
            finding
        };
        match (self.laid, self.rewritten.is_empty(), evidence) {
            (Laid::Files, false, Evidence::Passed(finding)) => Evidence::Passed(told(finding)),
            (Laid::Files, false, Evidence::Failed(finding)) => Evidence::Failed(told(finding)),
            (Laid::Files | Laid::Nothing, _, evidence) => evidence,
        }
    }

    /// Runs one command as it was written in a plan, in the settings, or by a model.
    pub(crate) async fn command(&self, command: &str) -> Result<Evidence, GateError> {
        if !self.is_ready() {
            return Ok(Evidence::Absent(Absence::NotReached));
        }
        match command.parse::<ShellCommand>() {
            Ok(command) => {
                let order = Order {
                    command: &command,
                    line: command.text(),
                    deadline: self.bench.deadlines.test,
                    report: None,
                    reaches: &self.chosen.reaches,
                };
                self.place.run(&order).await
            }
            Err(error) => Ok(Evidence::Absent(Absence::CouldNotStart {
                command: command.to_owned(),
                reason: error.to_string(),
            })),
        }
    }
}

fn is_ready(setup: Option<&Evidence>) -> bool {
    !matches!(setup, Some(Evidence::Failed(_) | Evidence::Absent(_)))
}
