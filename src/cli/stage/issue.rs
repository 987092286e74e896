//! Reads an issue that a person writes in a file.

use anyhow::Context;
use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};
use std::{fs::File, io::Read, path::Path};

/// GitHub's limits for an issue, in characters.
const MAX_TITLE: usize = 256;
const MAX_BODY: usize = 65_536;

/// The largest issue file that is read, in bytes.
const MAX_ISSUE: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueText {
    title: String,
    body: String,
}

impl IssueText {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let is_missing = |error: &anyhow::Error| {
            let error = error.downcast_ref::<Errno>();
            error.is_some_and(|error| *error == Errno::NOENT)
        };
        let text = read(path).map_err(|error| {
            if is_missing(&error) {
                anyhow::anyhow!("there is no such file: write the issue there, beginning with a line `# Title`")
            } else {
                error
            }
        });
        Self::of(&text.context("cannot be read")?)
    }

    /// Reads Markdown: the first `# ` line is the title, the rest is the body.
    pub fn of(text: &str) -> anyhow::Result<Self> {
        anyhow::ensure!(!text.trim().is_empty(), "is empty: write what is to be built, below a line `# Title`");
        let (title, body) = title_and_body(text).context("has no title: begin it with a line `# Title`")?;
        let fits = title.chars().count() <= MAX_TITLE && body.chars().count() <= MAX_BODY;
        anyhow::ensure!(
            fits,
            "is longer than an issue on GitHub may be: {MAX_TITLE} characters of title, {MAX_BODY} of body"
        );
        Ok(Self { title, body })
    }

    pub fn parts(self) -> (String, String) {
        (self.title, self.body)
    }
}

/// Reads a regular file only: opening a pipe could block, and a device has no end.
fn read(path: &Path) -> anyhow::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    anyhow::ensure!(
        file.metadata()?.is_file(),
        "it is a folder, a pipe or a device: save the issue as a Markdown file"
    );
    let mut bytes = Vec::new();
    file.take(MAX_ISSUE + 1).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_ISSUE);
    anyhow::ensure!(fits, "the file is larger than {MAX_ISSUE} bytes");
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("the file is not UTF-8 text"))
}

/// Takes the first `# ` line as the title, and the rest as the body.
fn title_and_body(text: &str) -> Option<(String, String)> {
    let mut body = Vec::new();
    let mut title = None;
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(found) if title.is_none() && !found.trim().is_empty() => title = Some(found.trim().to_owned()),
            _ => body.push(line),
        }
    }
    Some((title?, body.join("\n").trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_heading_is_the_title_and_the_rest_the_body() {
        let read = title_and_body("intro\n# Title \n\nText\n# Not the title\n").unwrap();
        assert_eq!(read, ("Title".to_owned(), "intro\n\nText\n# Not the title".to_owned()));
        assert_eq!(title_and_body("no heading"), None);
    }

    #[test]
    fn only_a_file_with_an_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let error = format!("{:#}", IssueText::read(path).unwrap_err());
            assert!(error.contains("save the issue as a Markdown file"), "{error}");
        }
        let large = folder.path().join("large.md");
        std::fs::write(&large, vec![b'a'; 1 << 21]).unwrap();
        let error = format!("{:#}", IssueText::read(&large).unwrap_err());
        assert!(error.contains("is larger than"), "{error}");
    }
}
