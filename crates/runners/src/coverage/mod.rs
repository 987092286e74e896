//! Reads coverage files in the formats of common tools, as the number of times that each line of each file ran.

mod cobertura;
mod go;
mod lcov;
mod llvm;

use std::collections::BTreeMap;

/// The most lines that a coverage file may mention; repeated mentions count.
const MOST_LINES: u32 = 4_000_000;
/// The most files that a coverage file may mention.
const MOST_FILES: usize = 200_000;
/// The longest file name, in bytes; no system allows a longer one.
const LONGEST_NAME: usize = 4_096;

/// The content of a coverage file: the number of times that each line of each file ran.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Measured {
    files: BTreeMap<String, BTreeMap<u32, u64>>,
    noted: u32,
    names: Names,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Names {
    #[default]
    Paths,
    /// Go's import paths: the module's name and the path in the module.
    ImportPaths,
}

/// The coverage file mentions more than any repository holds. Each message is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum TooMuch {
    #[error("it speaks of more than {MOST_LINES} lines")]
    Lines,
    #[error("it speaks of more than {MOST_FILES} files")]
    Files,
    #[error("it names a file with more than {LONGEST_NAME} bytes")]
    Name,
}

impl Measured {
    /// Records a line's count. If there are several for a line, the highest stays.
    fn line(&mut self, file: &str, line: u32, hits: u64) -> Result<(), TooMuch> {
        if self.noted >= MOST_LINES {
            return Err(TooMuch::Lines);
        }
        self.noted = self.noted.saturating_add(1);
        let known = self.file(file)?.entry(line).or_default();
        *known = hits.max(*known);
        Ok(())
    }

    /// Returns the lines of a file, which counts as measured from then on.
    fn file(&mut self, file: &str) -> Result<&mut BTreeMap<u32, u64>, TooMuch> {
        if file.len() > LONGEST_NAME {
            return Err(TooMuch::Name);
        }
        if !self.files.contains_key(file) {
            if self.files.len() >= MOST_FILES {
                return Err(TooMuch::Files);
            }
            self.files.insert(file.to_owned(), BTreeMap::new());
        }
        self.files.get_mut(file).ok_or(TooMuch::Files)
    }

    /// Puts `folder` before every relative file name.
    fn below(self, folder: &str) -> Self {
        let mut files: BTreeMap<String, BTreeMap<u32, u64>> = BTreeMap::new();
        for (file, lines) in self.files {
            let is_absolute = file.starts_with('/');
            let name = if is_absolute { file } else { format!("{folder}/{file}") };
            files.entry(name).or_default().extend(lines);
        }
        Self { files, ..self }
    }

    /// Reads a coverage file in any known format.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        // XML may be written in UTF-16 too.
        if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
            return cobertura::read(bytes);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let text = text.trim_start_matches('\u{feff}').trim_start();
        match text.chars().next() {
            Some('<') => cobertura::read(text.as_bytes()),
            Some('{') => llvm::read(text),
            _ if text.starts_with(go::BEGINS) => go::read(text),
            _ => lcov::read(text),
        }
    }

    /// Returns the counts for a file of the repository. Tools write paths relative to the file system's root, the
    /// repository, or a source folder.
    pub fn of(&self, path: &str, root: &str) -> Option<&BTreeMap<u32, u64>> {
        let exact = [path, &format!("./{path}"), &format!("{root}/{path}")];
        if let Some(found) = exact.iter().find_map(|name| self.files.get(*name)) {
            return Some(found);
        }
        let is_end = |name: &&String| {
            let name = name.trim_start_matches("./");
            if self.names == Names::ImportPaths {
                return name.strip_suffix(path).is_some_and(|module| module.ends_with('/'));
            }
            !name.is_empty() && path.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
        };
        let mut ends = self.files.keys().filter(is_end);
        match (ends.next(), ends.next()) {
            (Some(only), None) => self.files.get(only),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
