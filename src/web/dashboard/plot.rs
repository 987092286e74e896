//! A plot of money over time, drawn by the server: a rising line, the limit above it, and the same numbers as a table.

use domain::{budget::dollars, ids::Millis};
use maud::{Markup, html};

/// The picture's size in its own units; it is stretched to the available width.
const WIDTH: u64 = 600;
const HEIGHT: u64 = 120;

/// Money over time.
pub(super) struct Plot<'a> {
    /// The element's id, unique on its page and stable.
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    /// The times and amounts of spending, oldest first, in millionths of a US dollar.
    pub(super) spent: Vec<(Millis, u64)>,
    /// The limit, in millionths of a US dollar.
    pub(super) limit: Option<u64>,
    /// The times at the left and the right edge.
    pub(super) edges: (Millis, Millis),
    /// The time at the right end of the line.
    pub(super) now: Millis,
    pub(super) when: fn(Millis) -> String,
}

impl Plot<'_> {
    pub(super) fn draw(&self) -> Markup {
        let amounts = self.spent.iter().map(|(_, micros)| *micros);
        let total = amounts.fold(0, u64::saturating_add);
        let top = total.max(self.limit.unwrap_or(0)).max(1);
        let summary = match self.limit {
            Some(limit) => format!("{} of {}", dollars(total), dollars(limit)),
            None => format!("{}, no limit", dollars(total)),
        };
        let (from, to) = self.edges;
        html! {
            figure.plot {
                figcaption { b { (self.title) } ": " (summary) }
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" aria-hidden="true" {
                    path.spent d=(format!("{} V{HEIGHT} H0 Z", self.line(top))) {}
                    path.line d=(self.line(top)) {}
                    @if let Some(limit) = self.limit { path.limit d=(format!("M0 {y} H{WIDTH}", y = height(limit, top))) {} }
                }
                div.axis aria-hidden="true" { span { ((self.when)(from)) } span { ((self.when)(to)) } }
                @if !self.spent.is_empty() {
                    details id=(self.id) {
                        summary { "As a table" }
                        (self.table())
                    }
                }
            }
        }
    }

    fn table(&self) -> Markup {
        let mut sum = 0_u64;
        let rows = self.spent.iter().map(|(at, micros)| {
            sum = sum.saturating_add(*micros);
            (*at, *micros, sum)
        });
        html! {
            table.list {
                caption.muted { (self.title) }
                thead { tr { th scope="col" { "when" } th scope="col" { "spent" } th scope="col" { "in all" } } }
                tbody { @for (at, micros, sum) in rows {
                    tr { td data-label="when" { ((self.when)(at)) } td data-label="spent" { (dollars(micros)) } td data-label="in all" { (dollars(sum)) } }
                } }
            }
        }
    }

    /// Returns the path of the line: steps from the left edge to the present.
    fn line(&self, top: u64) -> String {
        let mut line = format!("M0 {HEIGHT}");
        let mut sum = 0_u64;
        for (at, micros) in &self.spent {
            sum = sum.saturating_add(*micros);
            line += &format!(" H{} V{}", self.across(*at), height(sum, top));
        }
        format!("{line} H{}", self.across(self.now))
    }

    fn across(&self, at: Millis) -> u64 {
        let (from, to) = self.edges;
        let part = |from: Millis, to: Millis| u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0);
        let whole = part(from, to).max(1);
        part(from, at).min(whole).saturating_mul(WIDTH) / whole
    }
}

fn height(micros: u64, top: u64) -> u64 {
    HEIGHT.saturating_sub(micros.saturating_mul(HEIGHT) / top.max(1))
}

#[cfg(test)]
mod tests {
    use super::Plot;
    use crate::web::dashboard::parts::day;
    use domain::ids::Millis;

    fn plot(limit: Option<u64>) -> String {
        Plot {
            id: "plot-all",
            title: "All work",
            spent: vec![(Millis(0), 1_000_000), (Millis(50), 1_000_000)],
            limit,
            edges: (Millis(0), Millis(100)),
            now: Millis(75),
            when: day,
        }
        .draw()
        .0
    }

    #[test]
    fn the_line_rises_at_each_amount_and_ends_at_the_present() {
        let drawn = plot(Some(4_000_000));
        assert!(drawn.contains("d=\"M0 120 H0 V90 H300 V60 H450\""), "{drawn}");
        assert!(drawn.contains("class=\"limit\" d=\"M0 0 H600\""), "{drawn}");
        assert!(drawn.contains("$2.00 of $4.00"), "{drawn}");
    }

    #[test]
    fn who_hears_the_page_gets_the_same_as_a_table() {
        let drawn = plot(None);
        assert!(drawn.contains("no limit") && !drawn.contains("class=\"limit\""), "{drawn}");
        assert!(drawn.contains("<svg") && drawn.contains("aria-hidden=\"true\""), "{drawn}");
        assert!(drawn.contains("<td data-label=\"spent\">$1.00</td><td data-label=\"in all\">$2.00</td>"), "{drawn}");
    }
}
