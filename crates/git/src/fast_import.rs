//! The `fast-import` stream that makes one commit. Git sees bytes and quoted names, never a folder.

use crate::{
    blocking::blocking,
    changes::{Changes, TakeOutError},
    commit::{CommitError, CommitRequest},
    diff::RawChange,
    failure::local_failure,
    names::RepoPath,
    process::GitCall,
    quote::quoted,
    walk::{FileKind, Stamp, open_file, read_link},
};
use bytes::Bytes;
use domain::ids::Sha;
use rustix::{fd::OwnedFd, io::Errno};
use std::{collections::BTreeMap, io::Read, path::Path};
use tokio::sync::mpsc;

/// The number of bytes sent to git at once.
const CHUNK: usize = 64 << 10;

/// The source of a commit's content.
pub(crate) enum Source {
    /// The changes found in a checkout, read through the handle of its top folder.
    Tree { root: OwnedFd, changes: Changes },
    /// Files that we wrote ourselves; `None` removes the file.
    Files(BTreeMap<String, Option<Vec<u8>>>),
    /// Changes whose objects the repository has.
    Objects(Vec<RawChange>),
}

/// Makes one commit in `repository` on `refname`. It starts from `tree`, or from the first parent's tree if that is
/// `None`.
pub(crate) async fn import(
    repository: &Path,
    refname: &str,
    request: &CommitRequest,
    tree: Option<&Sha>,
    source: Source,
) -> Result<Sha, CommitError> {
    let (sender, receiver) = mpsc::channel(4);
    let header = header(refname, request, tree);
    let writing = blocking(move || write_stream(&sender, header, source));
    let call = GitCall::new(repository, "fast-import").args(["--quiet", "--done", "--force"]);
    let output = call.stdin_stream(receiver).run().await;
    // If the stream broke off, that is the cause, and git's complaint about the missing end is only its result.
    writing.await.map_err(|error| TakeOutError::Io(error.into()))??;
    let output = output?;
    match (output.code, output.text().parse()) {
        (0, Ok(sha)) => Ok(sha),
        _ => Err(local_failure("fast-import", &output).into()),
    }
}

/// Returns the part of the stream before the files.
fn header(refname: &str, request: &CommitRequest, tree: Option<&Sha>) -> Vec<u8> {
    let seconds = request.at.0.div_euclid(1_000);
    let (name, email) = (plain(&request.author.name), plain(&request.author.email));
    let who = format!("{name} <{email}> {seconds} +0000");
    let message = request.full_message();
    let mut text = format!("feature done\ncommit {refname}\nmark :1\nauthor {who}\ncommitter {who}\n");
    text.push_str(&format!("data {}\n{message}\n", message.len()));
    for (at, parent) in request.parents.iter().enumerate() {
        text.push_str(&format!("{} {parent}\n", if at == 0 { "from" } else { "merge" }));
    }
    if let Some(tree) = tree {
        text.push_str(&format!("M 040000 {tree} \"\"\n"));
    }
    text.into_bytes()
}

/// Removes the characters that would end a name or an address early.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect()
}

/// Why the stream broke off.
enum Broken {
    /// The receiving end is gone: git ended early and reports the reason itself.
    GitEnded,
    TakeOut(TakeOutError),
}

impl From<TakeOutError> for Broken {
    fn from(error: TakeOutError) -> Self {
        Self::TakeOut(error)
    }
}

fn write_stream(out: &mpsc::Sender<Bytes>, header: Vec<u8>, source: Source) -> Result<(), TakeOutError> {
    let written = match source {
        Source::Tree { root, changes } => write_tree(out, header, &root, &changes),
        Source::Files(files) => write_files(out, header, &files),
        Source::Objects(changes) => send(out, object_lines(header, &changes)),
    };
    match written.and_then(|()| send(out, b"get-mark :1\ndone\n".to_vec())) {
        Err(Broken::TakeOut(error)) => Err(error),
        Ok(()) | Err(Broken::GitEnded) => Ok(()),
    }
}

/// Writes the files, deletions first, because a file may have become a folder.
fn write_files(
    out: &mpsc::Sender<Bytes>,
    header: Vec<u8>,
    files: &BTreeMap<String, Option<Vec<u8>>>,
) -> Result<(), Broken> {
    let mut start = header;
    for (path, _) in files.iter().filter(|(_, content)| content.is_none()) {
        start.extend(deletion(path.as_bytes()));
    }
    send(out, start)?;
    for (path, content) in files {
        let Some(content) = content else { continue };
        send(out, file_line("100644", path.as_bytes(), content.len()))?;
        send(out, content.clone())?;
        send(out, b"\n".to_vec())?;
    }
    send(out, b"\n".to_vec())
}

fn object_lines(mut text: Vec<u8>, changes: &[RawChange]) -> Vec<u8> {
    for change in changes {
        text.extend(format!("M {:o} {} ", change.new_mode, change.new_oid).bytes());
        text.extend(quoted(change.path.as_bytes()));
        text.push(b'\n');
    }
    text.push(b'\n');
    text
}

fn deletion(path: &[u8]) -> Vec<u8> {
    [b"D ".as_slice(), &quoted(path), b"\n"].concat()
}

/// Writes the changes, deletions first, because a file may have become a folder, or the other way round.
fn write_tree(out: &mpsc::Sender<Bytes>, header: Vec<u8>, root: &OwnedFd, changes: &Changes) -> Result<(), Broken> {
    let mut start = header;
    for path in &changes.deleted {
        start.extend(deletion(path.as_bytes()));
    }
    send(out, start)?;
    for (path, stamp) in &changes.written {
        match stamp.kind {
            FileKind::Link => write_link(out, root, path, stamp)?,
            FileKind::Plain => write_file(out, root, path, stamp, "100644")?,
            FileKind::Executable => write_file(out, root, path, stamp, "100755")?,
        }
    }
    send(out, b"\n".to_vec())
}

fn write_link(out: &mpsc::Sender<Bytes>, root: &OwnedFd, path: &RepoPath, stamp: &Stamp) -> Result<(), Broken> {
    let (target, now) = read_link(root, path).map_err(|error| failure(path, error))?;
    if now != *stamp {
        return Err(TakeOutError::Changing(path.clone()).into());
    }
    let mut line = file_line("120000", path.as_bytes(), target.len());
    line.extend(target);
    line.push(b'\n');
    send(out, line)
}

fn write_file(
    out: &mpsc::Sender<Bytes>,
    root: &OwnedFd,
    path: &RepoPath,
    stamp: &Stamp,
    mode: &str,
) -> Result<(), Broken> {
    let changing = || TakeOutError::Changing(path.clone());
    let (mut file, now) = open_file(root, path).map_err(|error| failure(path, error))?;
    let mut left = usize::try_from(stamp.size).map_err(|_| changing())?;
    if now != *stamp {
        return Err(changing().into());
    }
    send(out, file_line(mode, path.as_bytes(), left))?;
    while left > 0 {
        let mut chunk = vec![0; left.min(CHUNK)];
        file.read_exact(&mut chunk).map_err(|_| changing())?;
        left = left.saturating_sub(chunk.len());
        send(out, chunk)?;
    }
    let after = rustix::fs::fstat(&file).map_err(|error| failure(path, error))?;
    if Stamp::of(&after) != Some(*stamp) {
        return Err(changing().into());
    }
    send(out, b"\n".to_vec())
}

fn failure(path: &RepoPath, error: Errno) -> TakeOutError {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::INVAL | Errno::NXIO => {
            TakeOutError::Changing(path.clone())
        }
        other => TakeOutError::Io(other.into()),
    }
}

fn file_line(mode: &str, path: &[u8], size: usize) -> Vec<u8> {
    let mut line = format!("M {mode} inline ").into_bytes();
    line.extend(quoted(path));
    line.extend(format!("\ndata {size}\n").bytes());
    line
}

fn send(out: &mpsc::Sender<Bytes>, bytes: Vec<u8>) -> Result<(), Broken> {
    out.blocking_send(Bytes::from(bytes)).map_err(|_| Broken::GitEnded)
}
