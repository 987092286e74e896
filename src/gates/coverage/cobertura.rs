//! Cobertura's XML, which many tools write.

use crate::gates::coverage::Measured;
use roxmltree::Document;
use roxmltree::ParsingOptions;

/// The most elements, attributes and texts.
const MOST_NODES: u32 = 8_000_000;

pub(super) fn read(text: &str) -> Result<Measured, String> {
    // The format names a document type. Nothing outside the file is ever read, and entities are limited by the parser.
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text.trim_start_matches('\u{feff}').trim_start(), options)
        .map_err(|error| format!("it is not XML that can be read: {error}"))?;
    let root = document.root_element();
    if !root.has_tag_name("coverage") {
        return Err("it is XML, but not Cobertura's".to_owned());
    }
    let sources = root.descendants().filter(|node| node.has_tag_name("source"));
    let sources: Vec<&str> = sources
        .filter_map(|node| node.text())
        .map(|source| source.trim().trim_end_matches('/'))
        .filter(|source| !source.is_empty() && *source != ".")
        .collect();
    let mut measured = Measured::default();
    for class in root.descendants().filter(|node| node.has_tag_name("class")) {
        let Some(file) = class.attribute("filename") else {
            continue;
        };
        let name = match sources.as_slice() {
            [only] if !file.starts_with('/') => format!("{only}/{file}"),
            _ => file.to_owned(),
        };
        measured.file(&name);
        for line in class.descendants().filter(|node| node.has_tag_name("line")) {
            let number = line.attribute("number").and_then(|number| number.parse().ok());
            let hits = line.attribute("hits").and_then(|hits| hits.parse::<i64>().ok());
            if let (Some(number), Some(hits)) = (number, hits) {
                measured.line(&name, number, u64::try_from(hits).unwrap_or(0));
            }
        }
    }
    Ok(measured)
}
