//! The words on the buttons of our check runs. GitHub allows 20 characters for a label, 40 for a description.

use domain::command::Button;

pub fn label(button: Button) -> &'static str {
    match button {
        Button::Resume => "Resume",
        Button::Retry => "Retry",
        Button::RunCi => "Run CI",
    }
}

pub fn description(button: Button) -> &'static str {
    match button {
        Button::Resume => "Give this task more turns",
        Button::Retry => "Start this task again on a new branch",
        Button::RunCi => "Let the repository's CI run on this work",
    }
}

/// Returns the description for a task whose agent asks a question, which a button cannot answer in words.
pub fn description_for_inquiry(button: Button) -> &'static str {
    match button {
        Button::Resume => "Let the agent's own defaults hold",
        Button::Retry | Button::RunCi => description(button),
    }
}

#[cfg(test)]
mod tests {
    use super::{Button, description, description_for_inquiry, label};

    #[test]
    fn the_buttons_are_as_short_as_github_takes_them() {
        for button in Button::ALL {
            assert!(label(button).len() <= 20 && button.identifier().len() <= 20);
            assert!(description(button).len() <= 40, "{button:?}");
            assert!(description_for_inquiry(button).len() <= 40, "{button:?}");
        }
    }
}
