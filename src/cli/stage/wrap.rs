//! Wraps lines to a terminal's columns. Words are kept whole if they fit. Addresses are always kept whole, since a part
//! of one can be neither clicked nor copied.

use unicode_width::UnicodeWidthStr;

/// The least columns of a row, however narrow the terminal is.
const LEAST: usize = 16;

/// The longest word in bytes; a longer text without blanks may be cut anywhere.
const LONGEST_WORD: usize = 60;

/// The indent of an address that does not fit after the gutter. It is short, so that the address fits if possible.
const BEFORE_ADDRESS: &str = "  ";

/// Wraps `text` to rows of at most `width` columns: the first begins with `lead`, the others with `gutter`. An address
/// that does not fit gets its own row, which may be too long; the terminal then breaks it.
pub fn rows(lead: &str, gutter: &str, text: &str, width: usize) -> Vec<String> {
    let text = text.replace('\t', "    ");
    let room = |before: &str| width.saturating_sub(before.width()).max(LEAST);
    let mut rows = Vec::new();
    let (mut before, mut row) = (lead, String::new());
    for word in text.split_inclusive(' ') {
        let fits = format!("{row}{word}").trim_end().width() <= room(before);
        if !fits && !row.trim().is_empty() {
            rows.push(format!("{before}{}", row.trim_end()));
            (before, row) = (gutter, String::new());
        }
        if !fits && word.contains("://") && word.trim_end().width() > room(before) {
            if rows.is_empty() && lead != gutter && !lead.trim().is_empty() {
                rows.push(lead.trim_end().to_owned());
            }
            rows.push(format!("{BEFORE_ADDRESS}{}", word.trim_end()));
            (before, row) = (gutter, String::new());
            continue;
        }
        row.push_str(word);
        while row.trim_end().width() > room(before) {
            let start = start(&row, room(before));
            let rest = row.get(start.len()..).unwrap_or_default().to_owned();
            rows.push(format!("{before}{start}"));
            (before, row) = (gutter, rest);
        }
    }
    if rows.is_empty() || !row.is_empty() {
        rows.push(format!("{before}{}", row.trim_end()).trim_end().to_owned());
    }
    rows
}

/// Shortens a line to at most `columns`, with `…` if something is left out.
pub fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    format!("{}…", start(line, columns.saturating_sub(1)))
}

/// Shortens a line in the same way, but between words if there are any.
pub fn cut_at_word(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let start = start(line, columns.saturating_sub(2));
    match start.rsplit_once(' ') {
        Some((words, last)) if last.len() <= LONGEST_WORD => format!("{} …", words.trim_end()),
        Some(_) | None => format!("{start}…"),
    }
}

/// Returns the part of a text that fits into `columns`, at least one character.
fn start(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let fitting = ends.take_while(|end| text.get(..*end).is_some_and(|part| part.width() <= columns));
    let end = fitting.last().or_else(|| text.chars().next().map(char::len_utf8));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{cut, cut_at_word, rows};
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_row_fits_and_keeps_the_gutter() {
        let wide = "中文字符".repeat(12);
        let texts = [
            "one two three four five six seven eight nine ten eleven twelve".to_owned(),
            format!("a {} b", "x".repeat(90)),
            wide.clone(),
            format!("wide {wide} and narrow é é e\u{301} 🎉🎉🎉 end"),
            "    indented code\tand a tab   with   spaces".to_owned(),
        ];
        for text in &texts {
            for width in [24, 40, 80, 81, 120] {
                let rows = rows("  1.0s │ ", "       │ ", text, width);
                for (number, row) in rows.iter().enumerate() {
                    assert!(row.width() <= width.max(9 + 16), "{width}: {row:?}");
                    let gutter = if number == 0 { "  1.0s │ " } else { "       │ " };
                    assert!(row.starts_with(gutter), "{width}: {row:?}");
                }
                let words = |text: &str| text.replace(char::is_whitespace, "");
                let whole: String = rows.iter().map(|row| words(row.split_once('│').unwrap().1)).collect();
                assert_eq!(whole, words(text), "nothing is lost");
            }
        }
    }

    #[test]
    fn a_line_that_fits_stays_one_row() {
        assert_eq!(rows("> ", "  ", "as it is", 10), ["> as it is"]);
        assert_eq!(rows("> ", "  ", "as it was", 10), ["> as it was"], "at least sixteen columns");
        assert_eq!(rows("> ", "  ", "", 80), [">"]);
        assert_eq!(rows("", "| ", "one two three four five", 16), ["one two three", "| four five"]);
    }

    #[test]
    fn an_address_is_never_cut() {
        let address = "http://127.0.0.1:41234/local/shop/issues/1#issuecomment-1024";
        let (margin, gutter) = (" ".repeat(31), format!("{}│ ", " ".repeat(31)));
        let alone = format!("  {address}");
        // In 40 columns the terminal breaks it.
        for width in [80, 40] {
            assert_eq!(rows(&margin, &margin, address, width), [&*alone]);
        }
        assert_eq!(rows(&margin, &margin, address, 120), [format!("{margin}{address}")]);
        let said = format!("see {address} for more");
        let expected = [format!("{gutter}see"), alone.clone(), format!("{gutter}for more")];
        assert_eq!(rows(&gutter, &gutter, &said, 80), expected);
        let lead = format!("{}  1.0s  ", " ".repeat(23));
        assert_eq!(rows(&lead, &margin, address, 80), [lead.trim_end(), &alone]);
        assert_eq!(rows(&gutter, &gutter, address, 80), [alone]);
    }

    #[test]
    fn what_is_cut_is_marked_and_fits() {
        assert_eq!(cut("中文字符", 8), "中文字符");
        assert_eq!(cut("中文字符", 7), "中文字…");
        assert_eq!(cut("abc", 2), "a…");
        assert_eq!(cut_at_word("one two three", 13), "one two three");
        assert_eq!(cut_at_word("one two three", 12), "one two …");
        assert_eq!(cut_at_word(&"x".repeat(200), 100), format!("{}…", "x".repeat(98)));
    }
}
