//! Replies to commands and labels.

use crate::messages::{
    causes::reasons,
    form::{
        links::Links,
        measure::{Measure, bullets, fitting, rendered, sections, table, titled},
        untrusted,
        untrusted::Medium,
    },
    issue::{
        living::state_line,
        progress,
        refusal::{NO_RUN, refusal},
    },
};
use domain::{command::CommandForm, cost::Spending, effect::Reply, feature::Feature};
use serde_json::Value;
use text::mistake::SettingsMistake;

/// Returns the text of a reply. `feature` is the run that the thread belongs to, if there is one.
pub fn reply(reply: &Reply, feature: Option<&Feature>, spending: &Spending, links: &Links) -> String {
    fitting(|measure| match reply {
        Reply::Help => help(feature, measure),
        Reply::Status => status(feature, spending, links, measure),
        Reply::Refused(why) => refusal(why, feature, links, measure),
        Reply::BadSettings(mistakes) => bad_settings(mistakes, measure),
    })
}

/// Returns, for a terminal, why a command or label was refused; `None` for replies that are pages.
pub fn reply_in_terminal(reply: &Reply, feature: Option<&Feature>) -> Option<String> {
    match reply {
        Reply::Help | Reply::Status => None,
        Reply::Refused(why) => Some(rendered(Medium::Terminal, |measure| refusal(why, feature, &Links::NONE, measure))),
        Reply::BadSettings(mistakes) => Some(rendered(Medium::Terminal, |measure| bad_settings(mistakes, measure))),
    }
}

fn help(feature: Option<&Feature>, measure: &Measure) -> String {
    let settings = feature.map_or_else(Vec::new, |feature| shown_settings(&feature.settings));
    let forms = CommandForm::ALL;
    let commands = bullets(&forms, forms.len(), |form| format!("`{form}`: {}", about_command(*form)));
    let table = table("| setting | value |", &settings, measure.rows, |(name, value)| {
        let value = untrusted::cell_code(value, measure.text.min(300));
        format!("| {} | {value} |", untrusted::cell_code(name, 100))
    });
    sections(vec![
        "One command per new comment, at the start of a line, by someone with write access:".to_owned(),
        commands,
        titled("The settings of this repository:", &table),
    ])
}

/// Describes a command's effect.
pub fn about_command(form: CommandForm) -> &'static str {
    match form {
        CommandForm::Help => "Lists the commands and the repository's settings.",
        CommandForm::Plan => {
            "Plans again, or labels an issue and plans it. Words go to the planner; a fenced YAML block replaces the plan."
        }
        CommandForm::Approve => "Starts a plan that waits. On a blocked task's pull request, overrides the Coach.",
        CommandForm::Resume => "Continues blocked or paused work, with guidance for the Player and N more turns.",
        CommandForm::Retry => "Starts a task again from the integration branch.",
        CommandForm::Skip => "Gives up a task.",
        CommandForm::Pause => "Stops after the running agents.",
        CommandForm::Cancel => "Stops at once. Branches stay.",
        CommandForm::Ci => "Lets held CI run.",
        CommandForm::Status => "Shows the current state.",
    }
}

/// Returns the settings as they were last read, by name; settings that the server or detection decides have no value.
fn shown_settings(settings: &Value) -> Vec<(String, String)> {
    let setting = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut shown = Vec::new();
    for (name, value) in settings.as_object().into_iter().flatten() {
        let inner = value.as_object().into_iter().flatten();
        shown.extend(inner.map(|(key, value)| (format!("{name}.{key}"), value)));
        if !value.is_object() {
            shown.push((name.clone(), value));
        }
    }
    shown.retain(|(_, value)| !value.is_null());
    shown.into_iter().map(|(name, value)| (name, setting(value))).collect()
}

fn status(feature: Option<&Feature>, spending: &Spending, links: &Links, measure: &Measure) -> String {
    let Some(feature) = feature else {
        return NO_RUN.to_owned();
    };
    let living = match feature.living {
        Some(living) => {
            format!("More in {}.", links.comment(feature.key.issue, living.comment, "the comment with the plan"))
        }
        None => String::new(),
    };
    sections(vec![
        format!("{}. {}", feature.key.name(), state_line(feature, links)),
        progress::table(feature, spending, links, measure),
        progress::remarks(feature, links, measure),
        living,
    ])
}

fn bad_settings(mistakes: &[SettingsMistake], measure: &Measure) -> String {
    sections(vec![
        "Nothing started: the repository's settings, `.github/autobuild.yml` on the default branch, cannot be used."
            .to_owned(),
        bullets(mistakes, measure.rows.min(60), |mistake| {
            untrusted::inline(&reasons::settings_mistake(mistake), measure.room(600))
        }),
        "Fix them on the default branch, then give the command or the label again.".to_owned(),
    ])
}
