//! Reads settings files that are written in a programming language.

use crate::language::{
    outline::{Setting, Source},
    role::Role,
    syntax::At,
};

pub(super) fn of_code(source: &Source<'_>) -> Vec<Setting> {
    if source.role != Role::Settings {
        return Vec::new();
    }
    let pairs = source.root.below().filter(|at| at.is(&["pair"]));
    pairs.filter_map(setting).collect()
}

fn setting(at: At<'_>) -> Option<Setting> {
    let plain = |text: &str| text.trim_matches(['"', '\'', '`']).to_owned();
    let value = at.field("value").filter(|value| !value.is(&["object"]))?;
    let around = at.ancestors().filter(|outer| outer.is(&["pair"]));
    let pairs = std::iter::once(at).chain(around);
    let mut names: Vec<String> = pairs.map(|pair| plain(pair.field_text("key"))).collect();
    names.reverse();
    let values = if value.is(&["array"]) {
        value.children().map(|item| plain(item.text())).collect()
    } else {
        vec![plain(value.text())]
    };
    Some(Setting { name: names.join("."), values })
}
