//! Replies to commands and labels.

use crate::messages::{
    links::Links,
    living::state_line,
    measure::{Measure, bullets, first, fitting, sections},
    progress, reasons,
    refusal::{NO_RUN, refusal},
    untrusted,
};
use domain::{command::Command, cost::Spending, effect::Reply, feature::Feature, mistake::SettingsMistake};

/// Returns the text of a reply. `feature` is the run that the thread belongs to, if there is one.
pub fn reply(reply: &Reply, feature: Option<&Feature>, spending: &Spending, links: &Links) -> String {
    fitting(|measure| match reply {
        Reply::Help => help(feature, measure),
        Reply::Status => status(feature, spending, links, measure),
        Reply::Refused(why) => refusal(why, feature, links),
        Reply::BadSettings(mistakes) => bad_settings(mistakes, measure),
    })
}

fn help(feature: Option<&Feature>, measure: &Measure) -> String {
    let settings = feature.map_or_else(Vec::new, |feature| shown_settings(&feature.settings));
    let usage = Command::usage();
    let commands = bullets(&usage, usage.len(), |(form, does)| format!("`{form}`: {does}"));
    let rows = first(
        &settings,
        measure.rows,
        |(name, value)| {
            format!(
                "| {} | {} |",
                untrusted::cell_code(name, 100),
                untrusted::cell_code(value, measure.text.min(300))
            )
        },
        |left| format!("| and {left} more | |"),
    );
    let table = match rows.is_empty() {
        true => String::new(),
        false => format!(
            "The settings of this repository:\n\n| setting | value |\n|---|---|\n{}",
            rows.join("\n")
        ),
    };
    sections(vec![
        "One command per new comment, at the start of a line, by someone with write access:".to_owned(),
        commands,
        table,
    ])
}

/// Returns the settings as last read, by name; settings that are left to the server or to detection have no value.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum is not ours: it has many variants, and more will come"
)]
fn shown_settings(settings: &serde_json::Value) -> Vec<(String, String)> {
    let Some(settings) = settings.as_object() else {
        return Vec::new();
    };
    let mut shown = Vec::new();
    for (name, value) in settings {
        match value {
            serde_json::Value::Object(inner) => shown.extend(
                inner
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (format!("{name}.{key}"), setting(value))),
            ),
            serde_json::Value::Null => {}
            value => shown.push((name.clone(), setting(value))),
        }
    }
    shown
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum is not ours: it has many variants, and more will come"
)]
fn setting(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn status(feature: Option<&Feature>, spending: &Spending, links: &Links, measure: &Measure) -> String {
    let Some(feature) = feature else {
        return NO_RUN.to_owned();
    };
    let table = match feature.tasks.is_empty() {
        true => String::new(),
        false => progress::table(feature, spending, links, measure),
    };
    let living = match feature.living {
        Some(living) => format!(
            "More in {}.",
            links.comment(feature.key.issue, living.comment, "the comment with the plan")
        ),
        None => String::new(),
    };
    sections(vec![
        format!("{}. {}", feature.key.shown(), state_line(feature, links)),
        table,
        progress::remarks(feature, links, measure),
        living,
    ])
}

fn bad_settings(mistakes: &[SettingsMistake], measure: &Measure) -> String {
    sections(vec![
        "Nothing started: the repository's settings, `.github/autobuild.yml` on the default branch, cannot be used."
            .to_owned(),
        bullets(mistakes, measure.rows.min(60), |mistake| {
            untrusted::inline(&reasons::settings_mistake(mistake), measure.text.min(600))
        }),
        "Fix them on the default branch, then give the command or the label again.".to_owned(),
    ])
}
