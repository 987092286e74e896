//! Reads Cobertura's XML, which many tools write.

use crate::{
    coverage::{Measured, TooMuch},
    xml,
    xml::{Element, Part},
};

pub(super) fn read(bytes: &[u8]) -> Result<Measured, String> {
    let mut report = CoberturaReport::default();
    xml::read(bytes, |part| report.take(part)).map_err(|error| error.to_string())?;
    if !report.is_cobertura {
        return Err("it is XML, but not Cobertura's".to_owned());
    }
    if let Some(error) = report.too_much {
        return Err(error.to_string());
    }
    Ok(match report.sources.as_slice() {
        [only] => report.measured.below(only),
        _ => report.measured,
    })
}

/// The part of the report that was read so far.
#[derive(Default)]
struct CoberturaReport {
    measured: Measured,
    /// At most two source folders, since with more than one none can be the root.
    sources: Vec<String>,
    is_cobertura: bool,
    open: Vec<Open>,
    too_much: Option<TooMuch>,
}

/// An element whose end was not read yet.
enum Open {
    /// A class, with its file.
    Class(String),
    /// A source folder, with its text.
    Source(String),
    Other,
}

impl CoberturaReport {
    fn take(&mut self, part: Part<'_>) {
        match part {
            Part::Start(element) => {
                self.is_cobertura |= self.open.is_empty() && element.name() == "coverage";
                let opened = self.open_element(&element);
                self.open.push(opened);
            }
            Part::Text(text) => {
                if let Some(Open::Source(source)) = self.open.last_mut() {
                    source.push_str(&text);
                }
            }
            Part::End => {
                if let Some(Open::Source(source)) = self.open.pop() {
                    self.source(&source);
                }
            }
        }
    }

    fn open_element(&mut self, element: &Element<'_>) -> Open {
        match element.name() {
            "class" => match element.attribute("filename") {
                Some(file) => {
                    let noted = self.measured.file(&file).map(drop);
                    self.note(noted);
                    Open::Class(file)
                }
                None => Open::Other,
            },
            "line" => {
                self.line(element);
                Open::Other
            }
            "source" => Open::Source(String::new()),
            _ => Open::Other,
        }
    }

    fn line(&mut self, element: &Element<'_>) {
        let class = self.open.iter().rev().find_map(|open| match open {
            Open::Class(file) => Some(file),
            Open::Source(_) | Open::Other => None,
        });
        let number = element.attribute("number").and_then(|number| number.parse().ok());
        let hits = element.attribute("hits").and_then(|hits| hits.parse::<i64>().ok());
        if let (Some(file), Some(number), Some(hits)) = (class, number, hits) {
            let noted = self.measured.line(file, number, u64::try_from(hits).unwrap_or(0));
            self.note(noted);
        }
    }

    fn note(&mut self, noted: Result<(), TooMuch>) {
        self.too_much = self.too_much.take().or(noted.err());
    }

    fn source(&mut self, text: &str) {
        let source = text.trim().trim_end_matches('/');
        if !source.is_empty() && source != "." && self.sources.len() < 2 {
            self.sources.push(source.to_owned());
        }
    }
}
