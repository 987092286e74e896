//! Makes Go functions return another value of the same type, or the zero value, after they ran. Only types with a known
//! other value are supported.

use super::bodies::{FUNCTIONS, basic_values, results};
use crate::language::{outline::Source, return_values::ReturnValueChanges, syntax::At};
use std::collections::BTreeSet;

pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let is_wanted = |at: At<'_>| at.is(&FUNCTIONS) && names.contains(at.field_text("name"));
    ReturnValueChanges::of_bodies(source.root, is_wanted, |function, body| {
        let results = results(function);
        let (result_type, targets, more_results) = match results.as_slice() {
            [only] => (only, "made", ""),
            [first, error] if error == "error" => (first, "made, err", ", err"),
            _ => return None,
        };
        let [_, other] = basic_values(result_type)?;
        let calls = format!("{targets} := func() {} {}()", function.field_text("result"), body.text());
        Some([
            format!("{{ {calls}; return {other}{more_results} }}"),
            format!("{{ {calls}; _ = made; return *new({result_type}){more_results} }}"),
        ])
    })
}
