//! Every reader of foreign text does linear work.

use crate::{check_boxes::check_boxes, command, plan_block::find_plan_block, trace};
use effort::{Reader, Text, assert_linear};

/// Text that looks like Markdown.
const MARKDOWN: [Text; 22] = [
    Text("", "", "`\n/autobuild help\n`\n\n"),
    Text("", "", "<!--\n/autobuild help\n-->\n\n"),
    Text("", "", "`/autobuild`\n"),
    Text("", "", "![a]("),
    Text("", "", "![a](b) "),
    Text("", "", "<img src=x> "),
    Text("", "", "<img "),
    Text("<p>", "", "<img "),
    Text("", "", "- [x] a\n"),
    Text("", "", "- "),
    Text("", "", "> "),
    Text("", "", "**a _b"),
    Text("", "", "[a]: b\n"),
    Text("", "", "[a][b] "),
    Text("", "", "<!-- "),
    Text("", "", "<a "),
    Text("", "", "<? "),
    Text("", "", "``a"),
    Text("", "", "~~~\n"),
    Text("", "", "```yaml\ntasks:\n```\n"),
    Text("", "", "1. a\n   - b\n"),
    Text("", "", "a\n\n    b\n\n"),
];

#[test]
fn eight_times_the_text_is_eight_times_the_work() {
    let reader = |name, read, own| Reader { name, read, own };
    assert_linear(&[
        reader("command", &|text| drop(command::parse(text)), &MARKDOWN),
        reader("check boxes", &|text| drop(check_boxes(text)), &MARKDOWN),
        reader("plan block", &|text| drop(find_plan_block(text)), &MARKDOWN),
        reader("trace", &|text| trace::read(text).for_each(drop), &[]),
    ]);
}
