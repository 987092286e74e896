//! The annotations of a check run, on lines that exist on its commit. GitHub appends what it is given, so a repeat goes on
//! where the count says that the last try ended: the order is that of the stored verdict, and a request is taken whole.

use crate::{
    engine::{job::EffectError, perform::EffectContext},
    github::{AnnotationLevel, CheckAnnotation, CheckOutput, MOST_ANNOTATIONS},
    messages,
    messages::{Annotation, Level},
};
use domain::{
    ids::{CheckRunId, Sha},
    task::{Task, Turn},
};
use std::collections::HashMap;

/// What is read of a file to count its lines, in bytes.
const CAP: usize = 4 << 20;

/// What a turn's findings come to on its commit.
pub(super) async fn of_turn(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    head: &Sha,
) -> Result<Vec<CheckAnnotation>, EffectError> {
    let files = messages::annotated_files(task, turn);
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mirror = context.holding(head).await?;
    let mut lines: HashMap<String, u32> = HashMap::new();
    for path in files {
        if let Some(file) = mirror.read_file(head, &path, CAP).await? {
            lines.insert(path, count(&file.bytes));
        }
    }
    let found = messages::annotations(task, turn, &|path| lines.get(path).copied());
    Ok(found.into_iter().map(annotation).collect())
}

/// Lines of a file, also a last one without its newline.
fn count(bytes: &[u8]) -> u32 {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    let open = usize::from(bytes.last().is_some_and(|byte| *byte != b'\n'));
    u32::try_from(ends.saturating_add(open)).unwrap_or(u32::MAX)
}

fn annotation(found: Annotation) -> CheckAnnotation {
    CheckAnnotation {
        path: found.path,
        start_line: found.line,
        end_line: found.line,
        level: match found.level {
            Level::Failure => AnnotationLevel::Failure,
            Level::Warning => AnnotationLevel::Warning,
            Level::Notice => AnnotationLevel::Notice,
        },
        title: found.title,
        message: found.message,
    }
}

/// Puts annotations on a check run, as many at a time as GitHub takes.
pub(super) async fn append(
    context: &EffectContext<'_>,
    run: CheckRunId,
    output: &CheckOutput,
    annotations: &[CheckAnnotation],
) -> Result<(), EffectError> {
    for batch in annotations.chunks(MOST_ANNOTATIONS) {
        context.may_write_again().await?;
        context.repo().annotate_check(run, output, batch).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn a_last_line_counts_with_and_without_its_newline() {
        let table: [(&[u8], u32); 5] = [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)];
        for (bytes, lines) in table {
            assert_eq!(count(bytes), lines, "{bytes:?}");
        }
    }
}
