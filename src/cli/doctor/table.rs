//! The table for a terminal: one line for each row, with the remedy below it, wrapped to the terminal's columns.
//! Outside a terminal, each row is one line.

use crate::{
    cli::stage::{terminal::Tone, wrap},
    messages,
};
use domain::diagnosis::{Row, RowStatus};
use unicode_width::UnicodeWidthStr;

/// The width in columns below which the finding is printed below the row's name.
const NARROW: usize = 60;
/// The width of the column of names; a longer name gets its own line, or outside a terminal pushes its text on.
const WIDEST: usize = 15;
/// The columns of the longest word, `warning`, and a blank.
const WORD: usize = 8;

/// Returns all rows, and the number of warnings and broken rows.
pub(super) fn table(rows: &[Row], columns: Option<usize>, paint: impl Fn(&str, Tone) -> String) -> String {
    let mut lines: Vec<String> = Vec::new();
    for row in rows {
        let word = paint(row.status.word(), tone(row.status));
        let word = format!("{word}{}", " ".repeat(WORD - row.status.word().len()));
        let Some(columns) = columns else {
            let remedy: String = row.remedy.iter().map(|remedy| format!(" -> {remedy}")).collect();
            lines.push(format!("{word} {:<WIDEST$} {}{remedy}", row.what(), row.found));
            continue;
        };
        lines.extend(fitted(row, &word, columns));
    }
    lines.push(String::new());
    lines.push(messages::summary_of_rows(rows));
    format!("{}\n", lines.join("\n"))
}

fn fitted(row: &Row, word: &str, columns: usize) -> Vec<String> {
    let what = row.what();
    let name = format!("{what:<WIDEST$} ");
    let gutter = if columns < NARROW { "  ".to_owned() } else { " ".repeat(WORD + WIDEST + 2) };
    let mut lines = Vec::new();
    if columns < NARROW || what.width() > WIDEST {
        lines.push(format!("{word} {}", wrap::cut(&what, columns.saturating_sub(WORD + 1))));
        lines.extend(wrap::rows(&gutter, &gutter, &row.found, columns));
    } else {
        // The width is measured without the colour codes.
        let lead = format!("{:WORD$} {name}", "");
        lines.extend(wrap::rows(&lead, &gutter, &row.found, columns));
        if let Some(first) = lines.first_mut() {
            *first = format!("{word} {name}{}", first.get(lead.len()..).unwrap_or_default());
        }
    }
    let (lead, below) = (format!("{gutter}-> "), format!("{gutter}   "));
    let remedy = row.remedy.iter();
    lines.extend(remedy.flat_map(|remedy| wrap::rows(&lead, &below, remedy, columns)));
    lines
}

fn tone(status: RowStatus) -> Tone {
    match status {
        RowStatus::Ok => Tone::Good,
        RowStatus::Warning => Tone::Warning,
        RowStatus::Broken => Tone::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::diagnosis::Topic;

    fn rows() -> Vec<Row> {
        let long = "has not granted checks: write, contents: write, issues: write";
        vec![
            Row::ok(Topic::Git, "2.43.7 (/usr/bin/git)"),
            Row::broken(Topic::Installation, long, "an owner of acme accepts the App's new permissions")
                .of("autobuild on acme"),
            Row::warning(Topic::Workflows, "what an agent writes starts ci.yml (push)", "use `branches-ignore`"),
        ]
    }

    #[test]
    fn the_table_fits_into_every_width() {
        for columns in [40, 59, 60, 80, 120] {
            let table = table(&rows(), Some(columns), |text, _| text.to_owned());
            for line in table.lines() {
                assert!(line.width() <= columns, "{columns}: {line}");
            }
            for part in ["-> an owner", "broken", "Broken: 1. Warnings: 1."] {
                assert!(table.contains(part), "{columns}: {table}");
            }
        }
    }

    #[test]
    fn without_a_terminal_each_row_is_one_line() {
        let table = table(&rows(), None, |text, _| text.to_owned());
        assert_eq!(table.lines().count(), 5, "{table}");
        assert!(table.starts_with("ok       git             2.43.7"), "{table}");
    }
}
