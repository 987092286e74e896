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

#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) context: &'a GateContext,
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) change: &'a Arc<Change>,
    pub(crate) prepared: &'a Prepared<'a>,
}

impl Run<'_> {
    /// Returns the task's type for judging: a documentation task that alters code or tests, beyond comments and docstrings,
    /// counts as a feature.
    pub(crate) fn kind(&self) -> TaskType {
        let kind = self.subject.task.kind;
        let is_more = kind == TaskType::Documentation && self.change.alters_code_or_tests();
        if is_more { TaskType::Feature } else { kind }
    }

    /// Returns the regular files of the change's commit with a wanted path: path and mode. Paths with line breaks are
    /// left out, since git is asked for one path per line.
    pub(crate) async fn list(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<(String, u32)>, GateError> {
        let listed = self.subject.mirror.list_files(self.subject.head, usize::MAX).await?;
        let mut files = Vec::new();
        for entry in listed.entries {
            let is_regular = matches!(entry.mode, 0o100_644 | 0o100_755);
            let path = entry.path.to_str().filter(|path| is_regular && !path.contains('\n'));
            let path = path.filter(|path| is_wanted(path));
            files.extend(path.map(|path| (path.to_owned(), entry.mode)));
        }
        Ok(files)
    }

    pub(crate) async fn blobs(&self, files: &[(String, u32)], largest: u64) -> Result<Vec<Blob>, GateError> {
        let names = files.iter().map(|(path, _)| format!("{}:{path}", self.subject.head));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(self.subject.mirror.blobs(&names, largest).await?)
    }
}
