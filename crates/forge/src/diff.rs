//! The lines of a diff, which inline comments refer to.

use super::state::DiffSide;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffLine {
    /// The index of its hunk in the file, from 0.
    pub(super) hunk: usize,
    pub(super) left: Option<u64>,
    pub(super) right: Option<u64>,
    pub(super) text: String,
}

impl DiffLine {
    /// Returns `true` if this is line `number` of that side.
    pub(super) fn is(&self, side: DiffSide, number: u64) -> bool {
        match side {
            DiffSide::Left => self.left == Some(number),
            DiffSide::Right => self.right == Some(number),
        }
    }
}

/// Reads a patch that starts at its first `@@`. Hunk headers are lines without numbers.
pub(super) fn lines(patch: &str) -> Vec<DiffLine> {
    let (mut list, mut hunk, mut left, mut right) = (Vec::new(), 0_usize, 0_u64, 0_u64);
    for text in patch.lines() {
        let (at_left, at_right) = match text.as_bytes().first() {
            Some(b'@') => {
                if let Some((from_left, from_right)) = starts(text) {
                    (left, right) = (from_left, from_right);
                }
                hunk += usize::from(!list.is_empty());
                (None, None)
            }
            Some(b'+') => (None, Some(take(&mut right))),
            Some(b'-') => (Some(take(&mut left)), None),
            Some(b'\\') => (None, None),
            _ => (Some(take(&mut left)), Some(take(&mut right))),
        };
        list.push(DiffLine { hunk, left: at_left, right: at_right, text: text.to_owned() });
    }
    list
}

fn take(number: &mut u64) -> u64 {
    let this = *number;
    *number += 1;
    this
}

/// Returns the first line number of each side of a hunk header such as `@@ -3,7 +3,8 @@`.
fn starts(header: &str) -> Option<(u64, u64)> {
    let mut words = header.split(' ').skip(1);
    let mut number = |sign: char| words.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((number('-')?, number('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_patch_knows_its_numbers_and_its_hunk() {
        let seen =
            lines("@@ -1,2 +1,3 @@ fn x\n one\n-two\n+2\n+3\n@@ -9 +10 @@\n-old\n+new\n\\ No newline at end of file");
        let numbers: Vec<_> = seen.iter().map(|line| (line.hunk, line.left, line.right)).collect();
        let expected = [
            (0, None, None),
            (0, Some(1), Some(1)),
            (0, Some(2), None),
            (0, None, Some(2)),
            (0, None, Some(3)),
            (1, None, None),
            (1, Some(9), None),
            (1, None, Some(10)),
            (1, None, None),
        ];
        assert_eq!(numbers, expected);
    }
}
