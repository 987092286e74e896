//! Converts files between their two forms: the bytes that git stores, and the bytes in a work tree. Git converts them,
//! in a folder of ours and by the attributes of a commit, so that every clone agrees. No configuration names a filter,
//! so git runs none.

use crate::{
    attributes::{AttributeRule, Attributes, attributes, is_attributes_file, rules},
    blocking::blocking,
    diff::RawChange,
    error::GitError,
    failure::local_failure,
    mirror::{Mirror, make_bare},
    names::RepoPath,
    process::GitCall,
    put::write_or_remove,
    read::{blob_sizes, entries, read_blobs},
};
use domain::ids::Sha;
use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
};

/// The limit on all contents read for one conversion, in bytes.
const READ_CAP: usize = 512 << 20;
/// The most unchanged files that are converted because attributes changed, and the most bytes that are normalized.
const MOST_TOUCHED: usize = 100_000;
const TOUCHED_CAP: u64 = 256 << 20;
/// The most files that are named because they cannot be converted.
const MOST_NAMED: usize = 10;

/// A path with its bytes and mode.
pub type WorkFile = (RepoPath, (Vec<u8>, u32));

/// A file whose bytes are not valid in the encoding that an attribute names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} is not valid {encoding}, the working-tree-encoding that {} names", .rule.as_ref().map_or_else(|| ".gitattributes".to_owned(), ToString::to_string))]
pub struct NotEncoded {
    pub path: RepoPath,
    pub encoding: String,
    /// The line that names the encoding.
    pub rule: Option<AttributeRule>,
}

/// The result of converting files of a work tree.
pub(crate) enum Conversion {
    /// The changes whose stored form differs from the bytes in the work tree, with the new object ids.
    Converted(Vec<RawChange>),
    /// These files cannot be converted.
    Refused(Vec<NotEncoded>),
}

struct File {
    change: RawChange,
    attributes: Attributes,
    bytes: Vec<u8>,
}

/// Converts files that were stored in `repository` as they are in a work tree. Their attributes are those of `source`.
/// Like `git add`, it leaves the line ends of a file that had CR LF before the change.
pub(crate) async fn store(repository: &Path, source: &Sha, changes: Vec<RawChange>) -> Result<Conversion, GitError> {
    let files = files(repository, source, changes).await?;
    if files.is_empty() {
        return Ok(Conversion::Converted(Vec::new()));
    }
    let work = repository.join("files");
    let contents = files.iter().map(|file| (file.change.path.clone(), file.bytes.clone(), file.change.new_mode));
    write_files(&work, contents.collect()).await?;
    let before: Vec<&RawChange> =
        files.iter().map(|file| &file.change).filter(|change| is_regular(change.old_mode)).collect();
    let before = before.iter().map(|change| (change.old_mode, change.old_oid.as_str(), &change.path));
    index(repository, before).await?;
    let (encoded, plain): (Vec<&File>, Vec<&File>) = files.iter().partition(|file| file.attributes.encoding.is_some());
    let place = ConversionFolder { repository, work: &work, source };
    if !plain.is_empty() {
        let output = place.add(&plain).await?;
        output.whole("update-index")?;
    }
    let invalid = place.invalid(encoded).await?;
    if !invalid.is_empty() {
        return Ok(Conversion::Refused(refusals(repository, source, &invalid).await?));
    }
    let mut oids = indexed(repository).await?;
    let converted = files.into_iter().filter_map(|file| {
        let new_oid = oids.remove(&file.change.path)?;
        (new_oid != file.change.new_oid).then_some(RawChange { new_oid, ..file.change })
    });
    Ok(Conversion::Converted(converted.collect()))
}

fn is_regular(mode: u32) -> bool {
    matches!(mode, 0o100_644 | 0o100_755)
}

/// Returns the files that may have another stored form, with their bytes.
async fn files(repository: &Path, source: &Sha, mut changes: Vec<RawChange>) -> Result<Vec<File>, GitError> {
    changes.retain(|change| is_regular(change.new_mode));
    let paths: Vec<&RepoPath> = changes.iter().map(|change| &change.path).collect();
    let all = attributes(repository, source.as_str(), &paths).await?;
    let given = changes.into_iter().zip(all).filter(|(_, own)| own.convert_in(b"\r$Id"));
    let given: Vec<(RawChange, Attributes)> = given.collect();
    let oids: Vec<&str> = given.iter().map(|(change, _)| change.new_oid.as_str()).collect();
    let blobs = read_blobs(repository, &oids, READ_CAP).await?;
    let file = |((change, attributes), bytes)| File { change, attributes, bytes };
    let files = given.into_iter().zip(blobs).map(file);
    Ok(files.filter(|file| file.attributes.convert_in(&file.bytes)).collect())
}

/// Returns files that did not change but whose attributes did, as if they were new. They are normalized with the change
/// of the attributes: otherwise every clone would show them as modified. A file with an encoding stays as it is stored,
/// and so do all files if they are too many.
pub(crate) async fn touched_by_attributes(
    repository: &Path,
    base: &Sha,
    head: &Sha,
    changes: &[RawChange],
) -> Result<Vec<RawChange>, GitError> {
    let changed: HashSet<&RepoPath> = changes.iter().map(|change| &change.path).collect();
    let mut files = entries(repository, head.as_str()).await?;
    files.retain(|file| is_regular(file.mode) && !changed.contains(&file.path));
    if files.len() > MOST_TOUCHED {
        return Ok(Vec::new());
    }
    let paths: Vec<&RepoPath> = files.iter().map(|file| &file.path).collect();
    let before = attributes(repository, base.as_str(), &paths).await?;
    let after = attributes(repository, head.as_str(), &paths).await?;
    let mut differs = before.iter().zip(&after).map(|(before, after)| {
        let is_converted = after.encoding.is_none() && after.convert_in(b"\r$Id");
        is_converted && !after.converts_like(before)
    });
    files.retain(|_| differs.next().unwrap_or_default());
    let oids: Vec<&str> = files.iter().map(|file| file.oid.as_str()).collect();
    let sizes = blob_sizes(repository, &oids).await?;
    if sizes.iter().flatten().sum::<u64>() > TOUCHED_CAP {
        return Ok(Vec::new());
    }
    let touched = files.into_iter().map(|file| RawChange {
        path: file.path,
        old_mode: 0,
        new_mode: file.mode,
        old_oid: "0".repeat(file.oid.len()),
        new_oid: file.oid,
    });
    Ok(touched.collect())
}

async fn refusals(repository: &Path, source: &Sha, invalid: &[&File]) -> Result<Vec<NotEncoded>, GitError> {
    let paths: Vec<&RepoPath> = invalid.iter().map(|file| &file.change.path).collect();
    let found = rules(repository, source.as_str(), &paths, "working-tree-encoding").await?;
    let refusal = |(file, rule): (&&File, _)| NotEncoded {
        path: file.change.path.clone(),
        encoding: file.attributes.encoding.clone().unwrap_or_default(),
        rule,
    };
    Ok(invalid.iter().zip(found).map(refusal).collect())
}

/// A folder of ours with files in work-tree form, and the repository that stores them.
struct ConversionFolder<'a> {
    repository: &'a Path,
    work: &'a Path,
    source: &'a Sha,
}

impl ConversionFolder<'_> {
    async fn add(&self, files: &[&File]) -> Result<crate::process::GitOutput, GitError> {
        let paths = files.iter().flat_map(|file| [file.change.path.as_bytes(), b"\0"].concat());
        let call = GitCall::converting(self.repository, self.work, self.source.as_str(), "update-index");
        call.args(["--add", "-z", "--stdin"]).stdin(paths.collect()).run().await
    }

    /// Stores files with an encoding. Returns those whose bytes git cannot convert, and stops when enough are found.
    async fn invalid<'f>(&self, files: Vec<&'f File>) -> Result<Vec<&'f File>, GitError> {
        let (mut open, mut invalid) = (vec![files], Vec::new());
        while let Some(files) = open.pop() {
            if files.is_empty() || invalid.len() >= MOST_NAMED {
                continue;
            }
            let output = self.add(&files).await?;
            match (output.code, files.as_slice()) {
                (0, _) => {}
                // Git ends with 128 at the first file that it cannot convert, and does not name it in a parsable form.
                // So the files are tried by halves.
                (128, [one]) => invalid.push(*one),
                (128, _) => {
                    let (first, second) = files.split_at(files.len().div_ceil(2));
                    open.extend([second.to_vec(), first.to_vec()]);
                }
                _ => return Err(local_failure("update-index", &output)),
            }
        }
        Ok(invalid)
    }
}

async fn write_files(folder: &Path, files: Vec<(RepoPath, Vec<u8>, u32)>) -> Result<(), GitError> {
    let (folder, failed) = (folder.to_path_buf(), || GitError::io("writing files to convert"));
    let writing = blocking(move || {
        fs::create_dir_all(&folder)?;
        let mut files = files.into_iter();
        files.try_for_each(|(path, bytes, mode)| write_or_remove(&folder, path.as_path(), Some(&(bytes, mode))))
    });
    writing.await.map_err(|error| failed()(error.into()))?.map_err(failed())
}

/// Adds stored files to the index.
async fn index<'a>(
    repository: &Path,
    files: impl Iterator<Item = (u32, &'a str, &'a RepoPath)>,
) -> Result<(), GitError> {
    let line = |(mode, oid, path): (u32, &str, &RepoPath)| {
        [format!("{mode:o} {oid}\t").as_bytes(), path.as_bytes(), b"\0"].concat()
    };
    let lines: Vec<u8> = files.flat_map(line).collect();
    let call = GitCall::new(repository, "update-index").args(["-z", "--index-info"]);
    call.stdin(lines).ok().await.map(drop)
}

async fn indexed(repository: &Path) -> Result<HashMap<RepoPath, String>, GitError> {
    let output = GitCall::new(repository, "ls-files").args(["-s", "-z"]).ok().await?;
    let lines = output.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let oid = std::str::from_utf8(line.get(..tab)?).ok()?.split(' ').nth(1)?;
        Some((RepoPath::new(line.get(tab.saturating_add(1)..)?), oid.to_owned()))
    };
    let entries = lines.map(|line| entry(line).ok_or_else(|| GitError::unexpected("ls-files", "a line")));
    entries.collect()
}

impl Mirror {
    /// Returns files, each with its stored bytes and mode, as a work tree of `commit` has them, in order. The
    /// attributes are those of `commit`, which may also be a tree.
    pub async fn in_work_tree(&self, commit: &Sha, files: Vec<WorkFile>) -> Result<Vec<WorkFile>, GitError> {
        if files.is_empty() || !self.has_attributes(commit).await? {
            return Ok(files);
        }
        let paths: Vec<&RepoPath> = files.iter().map(|(path, _)| path).collect();
        let all = attributes(&self.dir, commit.as_str(), &paths).await?;
        let converts =
            |((_, (bytes, mode)), own): (&WorkFile, &Attributes)| is_regular(*mode) && own.convert_out(bytes);
        let converted: Vec<bool> = files.iter().zip(&all).map(converts).collect();
        if !converted.contains(&true) {
            return Ok(files);
        }
        let scratch = self.shared.new_quarantine("w-");
        let scratch = scratch.map_err(GitError::io("making a folder to convert files"))?;
        self.write_out(scratch.path(), commit, files, &converted).await
    }

    /// `true` if the commit or tree has a file with attributes.
    pub(crate) async fn has_attributes(&self, commit: &Sha) -> Result<bool, GitError> {
        let files = self.list_files(commit, usize::MAX).await?;
        Ok(files.entries.iter().any(|file| is_attributes_file(&file.path)))
    }

    /// Lets git write the files that `converted` marks below `scratch`, and reads them back.
    async fn write_out(
        &self,
        scratch: &Path,
        commit: &Sha,
        mut files: Vec<WorkFile>,
        converted: &[bool],
    ) -> Result<Vec<WorkFile>, GitError> {
        let (repository, work) = (scratch.join("git"), scratch.join("work"));
        let making = GitError::io("making a folder to convert files");
        make_bare(&repository, Some(&self.dir.join("objects"))).map_err(making)?;
        let (to_convert, _): (Vec<_>, Vec<_>) = files.iter_mut().zip(converted).partition(|(_, converts)| **converts);
        let mut open: Vec<&mut WorkFile> = to_convert.into_iter().map(|(file, _)| file).collect();
        // A path may be given twice, and git writes one version of it at a time.
        while !open.is_empty() {
            let mut paths = HashSet::new();
            let (mut round, later): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|(path, _)| paths.insert(path.clone()));
            write_round(&repository, &work, commit, &mut round).await?;
            open = later;
        }
        Ok(files)
    }
}

/// Replaces the bytes of files with different paths by those that git writes.
async fn write_round(
    repository: &Path,
    work: &Path,
    commit: &Sha,
    files: &mut [&mut WorkFile],
) -> Result<(), GitError> {
    let numbered = files.iter().enumerate();
    let raw = numbered.map(|(at, (_, (bytes, _)))| (RepoPath::from(at.to_string().as_str()), bytes.clone(), 0o100_644));
    let stored = work.join("stored");
    write_files(&stored, raw.collect()).await?;
    let names: String = (0..files.len()).map(|at| format!("{at}\n")).collect();
    let call = GitCall::in_work_tree(repository, &stored, "hash-object").args(["-w", "--no-filters", "--stdin-paths"]);
    let oids = call.stdin(names.into_bytes()).ok().await?.text();
    let written = work.join("written");
    write_files(&written, Vec::new()).await?;
    let entries = oids.lines().zip(files.iter()).map(|(oid, (path, _))| (0o100_644, oid, path));
    index(repository, entries).await?;
    let paths = files.iter().flat_map(|(path, _)| [path.as_bytes(), b"\0"].concat());
    let call = GitCall::converting(repository, &written, commit.as_str(), "checkout-index");
    call.args(["--force", "-z", "--stdin"]).stdin(paths.collect()).ok().await?;
    for (path, content) in files.iter_mut() {
        content.0 = fs::read(written.join(path.as_path())).map_err(GitError::io("reading a converted file"))?;
    }
    Ok(())
}
