//! Detects projects that are configured by autoconf and tested by `make check`.

use crate::detect::repository::{Detection, Repository};
use integrity::make::rules;

pub(super) const FILES: &[&str] = &["configure.ac", "configure.in", "configure", "Makefile.am", "Makefile.in"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let [source, old_source, script, automake, template] = FILES else {
        return None;
    };
    let file = repository.first(&[source, old_source, script])?;
    let template = repository.text(template).unwrap_or_default();
    let has = |target: &str| rules(&template).any(|rule| rule.contains(&target));
    let target = match repository.has(automake) || has("check") {
        true => "check",
        false if has("test") => "test",
        false => return None,
    };
    let generate = match (repository.has(script), repository.has("autogen.sh")) {
        (true, _) => "",
        // Without this variable, some of these scripts would also configure.
        (false, true) => "NOCONFIGURE=1 sh ./autogen.sh && ",
        (false, false) => "autoreconf --install && ",
    };
    Some(Detection::new(format!("{generate}sh ./configure"), format!("make {target}"), file))
}
