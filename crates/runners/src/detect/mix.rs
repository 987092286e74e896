//! Detects Elixir's Mix.

use crate::detect::repository::{Detection, Repository};

pub(super) const FILES: &[&str] = &["mix.exs"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    let text = repository.text(file)?;
    let lines = text.lines().map(str::trim_start);
    // A dependency is a tuple that begins with its name: `{:jason, "~> 1.4"}`.
    let needs = lines.filter(|line| !line.starts_with('#')).any(|line| line.contains("{:"));
    let setup = "mix local.hex --force --if-missing && mix local.rebar --force --if-missing && mix deps.get";
    Some(Detection::new(if needs { setup } else { "" }, "mix test", file))
}
