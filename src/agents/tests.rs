//! Every reader of what agents print does linear work.

use super::{answer, fence, journal, lines::Lines, script};
use domain::secret::Secrets;
use effort::{Reader, Text, assert_linear};

/// What looks like an answer.
const ANSWERS: [Text; 5] = [
    Text("", "", "{"),
    Text("", "", "}"),
    Text("", "", "\\\"}"),
    Text("", "", "[{"),
    Text("", "", "{\"a\": \"}\"}\n"),
];

#[test]
fn eight_times_the_output_is_eight_times_the_work() {
    let secrets = Secrets::default();
    let lines = |text: &str| {
        let mut lines = Lines::default();
        for piece in text.as_bytes().chunks(1_000) {
            let _ = lines.push(piece);
        }
    };
    let reader = |name, read, own| Reader { name, read, own };
    assert_linear(&[
        reader("answer", &|text| drop(answer::ending_object(text)), &ANSWERS),
        reader(
            "closed answer",
            &|text| drop(answer::ending_object(&format!("{text}}}"))),
            &ANSWERS,
        ),
        reader("lines", &lines, &[]),
        reader("visible", &|text| drop(fence::visible(text)), &[]),
        reader("marked", &|text| drop(fence::marked(text)), &[]),
        reader(
            "script",
            &|text| drop(script::read(text)),
            &[Text("", "", "- role: player\n")],
        ),
        reader("journal", &|text| drop(journal::plain(&secrets, text, 1_000)), &[]),
    ]);
}
