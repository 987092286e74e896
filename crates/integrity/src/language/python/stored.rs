//! Python tests that write the stored file first with which they compare.

use super::names::{assigned, root};
use crate::language::{flow::is_asked_for, syntax::At};

/// Whether a check reads a file of the repository that the same function writes, unless somebody asks for that.
pub(super) fn is_written_first(check: At<'_>, body: At<'_>) -> bool {
    let files = |place: At<'_>, is_wanted: fn(&str) -> bool| -> Vec<(String, bool)> {
        let calls = place.below().filter(|part| part.is(&["call"]));
        let named = calls.filter_map(|call| Some((file_of(call, is_wanted)?, call)));
        named
            .filter(|(file, _)| is_of_repository(*file))
            .map(|(file, call)| (file.phrase(), is_asked_for(call)))
            .collect()
    };
    let read = files(check, |how| matches!(how, "read_text" | "read_bytes" | "open r"));
    if read.is_empty() {
        return false;
    }
    let written = files(body, |how| matches!(how, "write_text" | "write_bytes" | "open w"));
    let mut unasked = written.iter().filter(|(_, asked)| !asked);
    unasked.any(|(file, _)| read.iter().any(|(known, _)| known == file))
}

/// The file that a call reads or writes.
fn file_of(call: At<'_>, is_wanted: fn(&str) -> bool) -> Option<At<'_>> {
    let function = call.field("function")?;
    if function.is(&["attribute"]) {
        return function
            .field("object")
            .filter(|_| is_wanted(function.field_text("attribute")));
    }
    let mut given = call.field("arguments")?.children();
    let file = given.next()?;
    let writes = given.next().is_some_and(|mode| mode.text().contains('w'));
    let how = if writes { "open w" } else { "open r" };
    (function.text() == "open" && is_wanted(how)).then_some(file)
}

/// Whether a path is written out, or made from a name of the whole file.
fn is_of_repository(path: At<'_>) -> bool {
    if path.is(&["string"]) {
        return !path.text().contains("tmp");
    }
    let of_file = |name: At<'_>| {
        name.text() == "__file__"
            || root(name)
                .children()
                .flat_map(At::children)
                .any(|part| part.is(&["assignment"]) && part.field_text("left") == name.text())
    };
    let meant = assigned(path).filter(|_| path.is(&["identifier"])).unwrap_or(path);
    meant.below().any(|part| part.is(&["identifier"]) && of_file(part))
}
