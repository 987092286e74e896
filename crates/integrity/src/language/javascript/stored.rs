//! JavaScript tests that write the stored file first with which they compare.

use super::{
    checks::arguments,
    names::{assigned, root},
};
use crate::language::{flow::is_asked_for, syntax::At};

/// Whether a check reads a file of the repository that the same function writes, unless somebody asks for that.
pub(super) fn is_written_first(check: At<'_>, body: At<'_>) -> bool {
    let files = |place: At<'_>, start: &str| -> Vec<(String, bool)> {
        let calls = place.below().filter(|part| part.is(&["call_expression"]));
        let named = calls.filter(|call| {
            let called = call.field_text("function").rsplit('.').next().unwrap_or_default();
            called == start || called == format!("{start}Sync")
        });
        named
            .filter_map(|call| Some((*arguments(call).first()?, call)))
            .filter(|(file, _)| is_of_repository(*file))
            .map(|(file, call)| (file.phrase(), is_asked_for(call)))
            .collect()
    };
    let read = files(check, "readFile");
    if read.is_empty() {
        return false;
    }
    let written = files(body, "writeFile");
    let mut unasked = written.iter().filter(|(_, asked)| !asked);
    unasked.any(|(file, _)| read.iter().any(|(known, _)| known == file))
}

/// Whether a path is written out, or made from a name of the whole file.
fn is_of_repository(path: At<'_>) -> bool {
    if path.is(&["string"]) {
        return !path.text().contains("tmp");
    }
    let of_file = |name: At<'_>| {
        let declared = |part: At<'_>| part.is(&["variable_declarator"]) && part.field_text("name") == name.text();
        matches!(name.text(), "__dirname" | "__filename")
            || root(name).children().flat_map(At::children).any(declared) && !is_of_tools(name)
    };
    let meant = assigned(path).filter(|_| path.is(&["identifier"])).unwrap_or(path);
    meant.text().contains("import.meta") || meant.below().any(|part| part.is(&["identifier"]) && of_file(part))
}

/// `path`, `fs`: names of modules.
fn is_of_tools(name: At<'_>) -> bool {
    assigned(name).is_none_or(|value| value.text().starts_with("require("))
}
