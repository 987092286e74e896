//! Reads XML from foreign programs in one pass: it builds no tree, expands nothing, and limits the nesting.

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};
use std::borrow::Cow;

/// The deepest nesting; no real report is deeper.
const DEEPEST: usize = 128;
/// The most elements of a file.
const MOST_ELEMENTS: usize = 8_000_000;
/// The most attributes of one element.
const MOST_ATTRIBUTES: usize = 64;

/// A reason why a file cannot be read. Each message is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotXml {
    /// The bytes are neither UTF-8 nor UTF-16 with a byte order mark.
    #[error("it is not UTF-8")]
    NotText,
    /// The file breaks a rule of XML.
    #[error("it is not XML that can be read: {0}")]
    Malformed(String),
    /// A second root element follows the first.
    #[error("it is not XML that can be read: more than one element at its top")]
    SecondRoot,
    /// There is text before or after the root element.
    #[error("it is not XML that can be read: text outside its first element")]
    TextOutside,
    /// The file ends before its root element does.
    #[error("it is not XML that can be read: it ends in the middle")]
    Truncated,
    /// The file declares its own entities.
    #[error("it is not XML that can be read: it declares entities of its own")]
    Entities,
    #[error("it is not XML that can be read: it is nested deeper than {DEEPEST} elements")]
    TooDeep,
    #[error("it has more than {MOST_ELEMENTS} elements")]
    TooMany,
    #[error("an element has more than {MOST_ATTRIBUTES} attributes")]
    TooManyAttributes,
}

/// A part of a document, in document order.
pub(crate) enum Part<'a> {
    Start(Element<'a>),
    /// The end of the innermost element.
    End,
    /// Text in the innermost element.
    Text(Cow<'a, str>),
}

/// An element's name, without its prefix, and its attributes.
pub(crate) struct Element<'a> {
    start: BytesStart<'a>,
}

impl Element<'_> {
    pub(crate) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// Returns the value of an attribute, without surrounding white space.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes.with_checks(false).flatten().find(|attribute| attribute.key.into_inner() == name)?;
        let value = found.normalized_value(XmlVersion::Implicit1_0).ok()?;
        Some(value.trim().to_owned())
    }
}

/// Passes every part of a document to `take`.
pub(crate) fn read(bytes: &[u8], mut take: impl FnMut(Part<'_>)) -> Result<(), NotXml> {
    let text = text(bytes)?;
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}').trim_start());
    let (mut depth, mut elements) = (0_usize, 0_usize);
    loop {
        let event = reader.read_event().map_err(|error| NotXml::Malformed(error.to_string()))?;
        match event {
            Event::Start(start) => {
                open(&start, depth, elements)?;
                (depth, elements) = (depth.saturating_add(1), elements.saturating_add(1));
                take(Part::Start(Element { start }));
            }
            Event::Empty(start) => {
                open(&start, depth, elements)?;
                elements = elements.saturating_add(1);
                take(Part::Start(Element { start }));
                take(Part::End);
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                take(Part::End);
            }
            Event::Text(text) => inside(depth, text.into_inner(), &mut take)?,
            Event::CData(text) => inside(depth, text.into_inner(), &mut take)?,
            Event::DocType(kind) if kind.contains('[') => return Err(NotXml::Entities),
            Event::Eof if depth > 0 || elements == 0 => return Err(NotXml::Truncated),
            Event::Eof => return Ok(()),
            Event::DocType(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::GeneralRef(_) => {}
        }
    }
}

/// Checks an element before it is passed on, and limits its attributes, because they may be read several times.
fn open(start: &BytesStart<'_>, depth: usize, elements: usize) -> Result<(), NotXml> {
    if depth >= DEEPEST {
        return Err(NotXml::TooDeep);
    }
    if elements >= MOST_ELEMENTS {
        return Err(NotXml::TooMany);
    }
    if depth == 0 && elements > 0 {
        return Err(NotXml::SecondRoot);
    }
    for (number, attribute) in start.attributes().with_checks(false).enumerate() {
        if number >= MOST_ATTRIBUTES {
            return Err(NotXml::TooManyAttributes);
        }
        attribute.map_err(|error| NotXml::Malformed(error.to_string()))?;
    }
    Ok(())
}

fn inside(depth: usize, text: Cow<'_, str>, take: &mut impl FnMut(Part<'_>)) -> Result<(), NotXml> {
    match depth {
        0 if text.trim().is_empty() => Ok(()),
        0 => Err(NotXml::TextOutside),
        _ => {
            take(Part::Text(text));
            Ok(())
        }
    }
}

/// Decodes UTF-8, or UTF-16 with a byte order mark.
fn text(bytes: &[u8]) -> Result<Cow<'_, str>, NotXml> {
    let order: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            return std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| NotXml::NotText);
        }
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(NotXml::NotText);
    }
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|pair| order(*pair))).collect();
    text.map(Cow::Owned).map_err(|_| NotXml::NotText)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: &[u8]) -> Result<Vec<String>, NotXml> {
        let mut parts = Vec::new();
        read(bytes, |part| {
            parts.push(match part {
                Part::Start(element) => format!("<{} {:?}", element.name(), element.attribute("n")),
                Part::End => ">".to_owned(),
                Part::Text(text) => text.into_owned(),
            });
        })?;
        Ok(parts)
    }

    #[test]
    fn a_document_is_told_in_its_order() {
        let text = "\u{feff}<?xml version='1.0'?><!DOCTYPE a SYSTEM 'x'><!-- c --><a n=' &lt;1&gt; '>t<p:b/><![CDATA[<&]]></a>\n";
        let expected = ["<a Some(\"<1>\")", "t", "<b None", ">", "<&", ">"];
        assert_eq!(parts(text.as_bytes()).unwrap(), expected);
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let wide: Vec<u8> = text.encode_utf16().flat_map(order).collect();
            assert_eq!(parts(&wide).unwrap(), expected);
        }
    }

    #[test]
    fn hostile_documents_are_refused_at_once() {
        let many = format!("<a {}/>", (0..1_000_000).map(|n| format!("a{n}=''")).collect::<Vec<_>>().join(" "));
        let table: [(&[u8], NotXml); 9] = [
            (&b"<a>".repeat(1_000_000), NotXml::TooDeep),
            (many.as_bytes(), NotXml::TooManyAttributes),
            (b"<!DOCTYPE a [<!ENTITY b 'cc'>]><a>&b;</a>", NotXml::Entities),
            (b"<a><b>", NotXml::Truncated),
            (b"", NotXml::Truncated),
            (b"  ", NotXml::Truncated),
            (b"<a>\xff</a>", NotXml::NotText),
            (&[0xff, 0xfe, 0], NotXml::NotText),
            (&[0xff, 0xfe, 0x00, 0xd8], NotXml::NotText),
        ];
        for (bytes, expected) in table {
            assert_eq!(parts(bytes), Err(expected), "{:.60}", String::from_utf8_lossy(bytes));
        }
        for text in ["<a></b>", "<a/><b/>", "{}", "<a/>x", "<a b>", "<a b=c/>", "<a", "<!-- ", "</a>", "<a><![CDATA["] {
            let refused = parts(text.as_bytes()).unwrap_err();
            assert!(
                matches!(refused, NotXml::Malformed(_) | NotXml::Truncated | NotXml::SecondRoot | NotXml::TextOutside),
                "{text}: {refused}"
            );
        }
    }
}
