//! Every reader of agents' output does linear work.

use super::{answer, fence, journal, lines::Lines, script};
use effort::{Reader, Text, assert_linear};
use serde_json::json;
use text::secret::Secrets;

/// Texts that look like an answer.
const ANSWERS: [Text; 9] = [
    Text("", "", "{"),
    Text("", "", "}"),
    Text("", "", "{\""),
    Text("", "", "\\\"}"),
    Text("", "", "[{"),
    Text("", "", "{ \n"),
    Text("", "", "{\"a\": \"}\"}\n"),
    Text("", "", "{\"a\": b}\n"),
    Text("{\"a\": \"", "", "\\ud800\n"),
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
    let schema = json!({"properties": {"a": {}, "b": {}}});
    assert_linear(&[
        reader("answer", &|text| drop(answer::last_object(text, &schema)), &ANSWERS),
        reader("lines", &lines, &[]),
        reader("visible", &|text| drop(fence::visible(text)), &[]),
        reader("marked", &|text| drop(fence::marked(text)), &[]),
        reader("script", &|text| drop(script::read(text)), &[Text("", "", "- role: player\n")]),
        reader("journal", &|text| drop(journal::plain(&secrets, text, 1_000)), &[]),
    ]);
}
