//! Detects .NET solutions and projects.

use crate::detect::repository::{Detection, Repository};

/// The names of .NET's files suffice, so none is read.
pub(super) const FILES: &[&str] = &[];

const SOLUTIONS: [&str; 3] = [".sln", ".slnx", ".slnf"];
pub(super) const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    // If a folder has several solutions or projects, .NET needs to be told which one to use.
    let only = |endings: &[&str]| {
        let is_one = |path: &&str| !path.contains('/') && endings.iter().any(|ending| path.ends_with(ending));
        let mut all = repository.paths_below().filter(is_one);
        all.next().filter(|_| all.next().is_none())
    };
    let file = only(&SOLUTIONS).or_else(|| only(&PROJECTS))?;
    Some(Detection::new("dotnet restore", "dotnet test --no-restore", file))
}
