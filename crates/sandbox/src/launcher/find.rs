//! Finds the file of a program by its name.

use crate::protocol::{LaunchRequest, Report};
use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

/// Returns the folder to start in and the file to execute. A name with a slash is a path; other names are looked up on
/// `PATH`.
pub(super) fn find(request: &LaunchRequest) -> Result<(PathBuf, PathBuf), Report> {
    let cwd = PathBuf::from(&request.cwd);
    if !cwd.is_dir() {
        return Err(Report::NoFolder(cwd.display().to_string()));
    }
    let program = program(request, &cwd)?;
    Ok((cwd, program))
}

fn program(request: &LaunchRequest, cwd: &Path) -> Result<PathBuf, Report> {
    let program = &request.program;
    let shown = program.to_string_lossy().into_owned();
    let candidates: Vec<PathBuf> = if program.as_bytes().contains(&b'/') {
        vec![cwd.join(program)]
    } else {
        let path = request.env.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| value.clone()).unwrap_or_default();
        std::env::split_paths(&path).map(|folder| cwd.join(folder).join(program)).collect()
    };
    let files: Vec<PathBuf> = candidates.into_iter().filter(|file| file.is_file()).collect();
    let executable = |file: &&PathBuf| fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    match files.iter().find(executable) {
        _ if program.is_empty() => Err(Report::NotFound(shown)),
        Some(file) => Ok(file.clone()),
        None if files.is_empty() => Err(Report::NotFound(shown)),
        None => Err(Report::NotExecutable(shown)),
    }
}

/// Returns the report for a file that was found but could not be executed.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours: it has many variants, and more will come")]
pub(super) fn refused(program: &Path, error: &std::io::Error) -> Report {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => Report::NotExecutable(program.display().to_string()),
        _ => Report::Refused(format!("{}: {error}", program.display())),
    }
}
