//! Describes the commands that run for a repository, and their sources.

use domain::chosen_commands::{ChosenCommand, ChosenCommands, CommandSource, UnmetNeeds};

/// Names the commands with their sources, and the tests of the repository's own CI that they do not cover.
pub fn chosen_commands(chosen: &ChosenCommands) -> String {
    let tests = match &chosen.test {
        Some(test) => format!("Tests run with {}.", command(test)),
        None => format!(
            "No test command is set in `.github/autobuild.yml` and none was found: looked for {}.",
            chosen.looked_for
        ),
    };
    let setup = chosen.setup.iter().map(|setup| format!(" Set-up is {}.", command(setup)));
    std::iter::once(tests).chain(setup).chain(chosen.unmet.as_ref().map(unmet)).collect()
}

fn command(chosen: &ChosenCommand) -> String {
    let source = match &chosen.source {
        CommandSource::Settings => "set in `.github/autobuild.yml`".to_owned(),
        CommandSource::Files(files) => format!("found {files}"),
    };
    format!("`{}` ({source})", chosen.command)
}

fn unmet(needs: &UnmetNeeds) -> String {
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let starts = (!needs.services.is_empty()).then(|| format!("starts {}", list(&needs.services)));
    let installs = (!needs.packages.is_empty()).then(|| format!("installs {} with apt", list(&needs.packages)));
    let does: Vec<String> = starts.into_iter().chain(installs).collect();
    format!(
        " `{}` {}, which AutoBuild does not: tests that need it fail unless this machine has it.",
        needs.workflow,
        does.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::{ChosenCommand, ChosenCommands, CommandSource, UnmetNeeds, chosen_commands};

    #[test]
    fn each_command_is_named_with_its_source() {
        let command = |command: &str, source| Some(ChosenCommand { command: command.parse().unwrap(), source });
        let none = ChosenCommands { test: None, setup: None, looked_for: "Cargo, npm".to_owned(), unmet: None };
        let found = ChosenCommands {
            test: command("make test", CommandSource::Files("the target test in Makefile".to_owned())),
            setup: command("true", CommandSource::Settings),
            unmet: Some(UnmetNeeds {
                workflow: ".github/workflows/ci.yml".to_owned(),
                services: vec!["db".to_owned()],
                packages: vec!["libpq-dev".to_owned()],
            }),
            ..none.clone()
        };
        assert_eq!(
            [chosen_commands(&none), chosen_commands(&found)],
            [
                "No test command is set in `.github/autobuild.yml` and none was found: looked for Cargo, npm.",
                "Tests run with `make test` (found the target test in Makefile). Set-up is `true` (set in \
                 `.github/autobuild.yml`). `.github/workflows/ci.yml` starts `db` and installs `libpq-dev` with apt, \
                 which AutoBuild does not: tests that need it fail unless this machine has it."
            ]
        );
    }
}
