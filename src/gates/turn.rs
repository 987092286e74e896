//! The data that every Gate of a turn uses: the change, its criteria, and the commit's prepared checkout.

use crate::gates::{
    change::Change,
    run::{
        context::{GateContext, GateError},
        prepared::Prepared,
    },
    subject::Subject,
};
use domain::plan::TaskType;
use git::Blob;
use std::sync::Arc;

/// One run of all Gates.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) context: &'a GateContext,
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) change: &'a Arc<Change>,
    pub(crate) prepared: &'a Prepared<'a>,
}

impl Run<'_> {
    /// Returns the task's type for judging: a documentation task that touches code or tests counts as a feature.
    pub(crate) fn kind(&self) -> TaskType {
        match self.subject.task.kind {
            TaskType::Documentation if self.change.touches_code_or_tests() => TaskType::Feature,
            kind @ (TaskType::Scaffolding
            | TaskType::Feature
            | TaskType::Refactoring
            | TaskType::Testing
            | TaskType::Documentation) => kind,
        }
    }

    /// Returns the regular files of the change's commit with a wanted path and at most `largest` bytes: path, bytes,
    /// mode. Empty if there are more than `most`.
    pub(crate) async fn files(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        most: usize,
        largest: u64,
    ) -> Result<Vec<(String, Vec<u8>, u32)>, GateError> {
        let subject = self.subject;
        let listed = subject.mirror.list_files(subject.head, usize::MAX).await?;
        let regular = listed
            .entries
            .iter()
            .filter(|entry| matches!(entry.mode, 0o100_644 | 0o100_755))
            .filter_map(|entry| Some((entry.path.to_str()?.to_owned(), entry.mode)));
        let files: Vec<(String, u32)> = regular
            .filter(|(path, _)| is_wanted(path) && !path.contains('\n'))
            .collect();
        if files.len() > most {
            return Ok(Vec::new());
        }
        let names = files.iter().map(|(path, _)| format!("{}:{path}", subject.head));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let blobs = subject.mirror.blobs(&names, largest).await?;
        let read = |((path, mode), blob)| match blob {
            Blob::Bytes(bytes) => Some((path, bytes, mode)),
            Blob::Large(_) | Blob::None => None,
        };
        Ok(files.into_iter().zip(blobs).filter_map(read).collect())
    }
}
