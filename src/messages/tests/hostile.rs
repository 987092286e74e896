//! Tests that any foreign text remains text or code: it starts no block, mentions nobody, refers to nothing, gives no
//! command, hides nothing, and fits.

use super::{sentences, world};
use crate::{
    messages,
    messages::{CommitKind, MAX_CHARS, tests::world::Words, untrusted},
};
use domain::{
    blocked::BlockReason,
    command,
    command::Parsed,
    cost::{Cost, Spending},
    decision::Outcome,
    effect::Reply,
    feature::{ApprovalWhy, Feature, Phase, State},
    ids::TurnNumber,
    obeyed::{FileUser, ObeyedFile},
    plan::parse::PlanAuthor,
    task,
};
use effort::{Reader, Text, assert_linear};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::{collections::BTreeMap, iter, sync::LazyLock};
use text::mistake::{Position, SettingsMistake};

/// Renders all texts that AutoBuild may write about one Feature with the given foreign text, each part with its name.
/// The parts are made one after the other, because all huge texts together would take gigabytes.
#[allow(clippy::too_many_lines, reason = "one of each text")]
fn everything(say: Words<'_>, mut add: impl FnMut(&str, String)) {
    let feature = world::busy(say);
    let links = world::links();
    let obeyed = [ObeyedFile { by: FileUser::Editor, depth: 0, path: say(".vscode"), others: 0 }];
    add("living", messages::living(&feature, &Spending::default(), &links));
    let answered = world::answered(&feature, say);
    add("answered", messages::living(&answered, &Spending::default(), &links));
    add("answered task", messages::task_pull(&answered, &answered.tasks[1], &obeyed).body);
    for (name, feature) in variants(&feature, say) {
        add(name, messages::living(&feature, &Spending::default(), &links));
        if let Some(text) = messages::feature_blocked(&feature, Cost::default(), &links) {
            add("feature blocked", text);
        }
        add("feature pull", messages::feature_pull(&feature, &Spending::default(), &links, &obeyed).body);
    }
    add("status", messages::reply(&Reply::Status, Some(&feature), &Spending::default(), &links));
    add("help", messages::reply(&Reply::Help, Some(&feature), &Spending::default(), &links));
    add(
        "settings",
        messages::reply(
            &Reply::BadSettings(vec![SettingsMistake::Invalid {
                place: Position { line: 2, column: 1 },
                key: say("x"),
                said: say("x"),
                valid: say("x"),
            }]),
            None,
            &Spending::default(),
            &links,
        ),
    );
    for refusal in sentences::refusals(say) {
        add("refusal", messages::reply(&Reply::Refused(refusal), Some(&feature), &Spending::default(), &links));
    }
    for task in &feature.tasks {
        add("task pull", messages::task_pull(&feature, task, &obeyed).body);
        add("task file", messages::task_file(&feature, task));
        if let Some(turn) = task.turns.last() {
            let shown = messages::ReviewedDiff { in_diff: &|_, line| line == 12, files: &[say("src/auth.rs")] };
            let review = messages::review(&feature, task, turn, None, &links, shown).unwrap();
            add("folded", messages::fold_inline(&review));
            let blocked = messages::review(&feature, task, turn, Some(Cost::default()), &links, shown).unwrap();
            add("blocked review", blocked.body);
            add("review", review.body);
            for inline in review.inline {
                add("inline", inline.body);
            }
            add("check", messages::check_run(&feature, task, turn, &links).unwrap().summary);
        }
    }
    for wait in sentences::waits() {
        add("wait", messages::wait(&feature, &wait, &links).unwrap_or_default());
    }
    for reason in sentences::block_reasons(say) {
        let state = task::State::Blocked { reason };
        let task = task::Task { state, ..feature.tasks[1].clone() };
        add("blocked", messages::blocked_report(&feature, &task, Cost::default(), &links).unwrap());
    }
}

fn variants<'a>(feature: &'a Feature, say: Words<'a>) -> impl Iterator<Item = (&'static str, Feature)> + 'a {
    let waiting = || {
        let mut waiting = feature.clone();
        waiting.state = State::AwaitingApproval;
        if let Some(plan) = &mut waiting.plan {
            plan.waits = vec![ApprovalWhy::Commands];
        }
        ("waiting", waiting)
    };
    let failed = move || {
        let state = State::Failed { author: PlanAuthor::Agent, message: say("x") };
        let plan = None;
        let failed = Feature { state, plan, ..feature.clone() };
        ("failed", failed)
    };
    // Other tests render every reason in a task's report; here one with a list and one with files are enough.
    let listed = |reason: &BlockReason| {
        matches!(
            reason,
            BlockReason::WaveGateRed { .. } | BlockReason::DefaultConflict { .. } | BlockReason::Inquiry { .. }
        )
    };
    let reasons = sentences::block_reasons(say).into_iter().filter(listed);
    let blocked = reasons.map(|reason| {
        let state = State::Blocked { reason, phase: Phase::Tasks };
        let blocked = Feature { state, ..feature.clone() };
        ("blocked", blocked)
    });
    iter::once_with(waiting).chain(iter::once_with(failed)).chain(blocked)
}

/// Returns titles and commit messages, in which Markdown has no effect.
fn plain_lines(say: Words<'_>) -> Vec<String> {
    let feature = world::busy(say);
    let task = &feature.tasks[1];
    let links = world::links();
    let turn = world::turn(say, 1, Outcome::Feedback);
    vec![
        messages::task_pull(&feature, task, &[]).title,
        messages::feature_pull(&feature, &Spending::default(), &links, &[]).title,
        messages::check_run(&feature, task, &turn, &links).unwrap().title,
        messages::plan_commit(&feature),
        messages::squash(&feature, task).title,
        messages::turn_commit(&feature, task, TurnNumber(1), CommitKind::Whole).lines().next().unwrap().to_owned(),
        messages::merge_default_commit(&feature, &say("main")),
    ]
}

/// The visible parts of a page: its text outside code, and the number of blocks of each kind.
struct SeenTexts {
    text: String,
    shapes: BTreeMap<String, usize>,
    html: Vec<String>,
    links: Vec<String>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours: it has many variants, and more will come")]
fn parse_markdown(markdown: &str) -> SeenTexts {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
        | Options::ENABLE_MATH;
    let mut seen = SeenTexts { text: String::new(), shapes: BTreeMap::new(), html: Vec::new(), links: Vec::new() };
    let mut code = 0;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                code += 1;
                *seen.shapes.entry("CodeBlock".to_owned()).or_default() += 1;
            }
            Event::End(TagEnd::CodeBlock) => code -= 1,
            Event::Start(Tag::Link { dest_url, .. }) => seen.links.push(dest_url.to_string()),
            Event::Start(Tag::Image { dest_url, .. }) => seen.links.push(format!("image {dest_url}")),
            Event::Start(Tag::Paragraph) => {}
            Event::Start(tag) => *seen.shapes.entry(format!("{tag:?}")).or_default() += 1,
            Event::Text(text) if code == 0 => seen.text.push_str(&text),
            Event::SoftBreak | Event::HardBreak | Event::End(_) => seen.text.push('\n'),
            Event::Html(html) | Event::InlineHtml(html) => seen.html.push(html.trim().to_owned()),
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) | Event::Rule => {
                *seen.shapes.entry(format!("{event:?}")).or_default() += 1;
            }
            _ => {}
        }
    }
    seen
}

const OURS: [&str; 11] = [
    "<!-- mark -->",
    "<!-- /commands -->",
    "<details>",
    "</details>",
    "",
    "<summary>The plan as YAML</summary>",
    "<summary>Output of set-up</summary>",
    "<summary>Output of tests</summary>",
    "<summary>Output of tests of the base</summary>",
    "<summary>Output of check of criterion 2</summary>",
    "<summary>Output of probe 1</summary>",
];

/// `true` if the HTML is one of our marks, or the title of a fold in plain words and numbers.
fn is_ours(html: &str) -> bool {
    let title = html.strip_prefix("<summary>").and_then(|rest| rest.strip_suffix("</summary>"));
    let is_plain = |title: &str| title.chars().all(|c| c.is_ascii_alphanumeric() || " :;,'".contains(c));
    OURS.contains(&html) || title.is_some_and(is_plain)
}

fn assert_harmless(name: &str, said: &str) {
    assert!(said.chars().count() <= MAX_CHARS, "{name} is too long");
    assert_eq!(command::parse(said), Parsed::None, "{name} gives a command:\n{said}");
    assert!(!said.contains("<!-- autobuild"), "{name} holds a mark:\n{said}");
    assert!(!said.contains(['\u{202e}', '\u{200d}', '\r', '\u{1b}']), "{name} hides something");
    let seen = parse_markdown(said);
    // GH-98 may be somebody's login, and a mention of it refers to no issue.
    let lower = seen.text.to_lowercase().replace("@gh-98", "@login");
    for live in ["@mal", "#99", "gh-98", "https://e.vil", "www.e.vil", ":white_check_mark:", "✔"] {
        assert!(!lower.contains(live), "{name} holds a live {live}:\n{said}");
    }
    for live in ["fixes #", "fixes gh"] {
        // Inside a longer word it has no effect.
        let is_word = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        assert!(!lower.match_indices(live).any(|(at, _)| is_word(at)), "{name} holds a live {live}:\n{said}");
    }
    for html in &seen.html {
        assert!(is_ours(html), "{name} holds HTML {html:?}:\n{said}");
    }
    for link in &seen.links {
        assert!(link.starts_with("https://github.com/acme/shop/"), "{name} links to {link}:\n{said}");
    }
    let open = seen.html.iter().filter(|html| *html == "<details>").count();
    let closed = seen.html.iter().filter(|html| *html == "</details>").count();
    assert_eq!(open, closed, "{name} leaves a fold open:\n{said}");
}

/// Counts headings, tables, lists and emphasis, which foreign text must not add or remove.
fn shape(said: &str) -> BTreeMap<String, usize> {
    let mut shapes = parse_markdown(said).shapes;
    shapes.retain(|tag, _| tag != "CodeBlock" && tag != "HtmlBlock");
    shapes
}

/// The texts rendered with two plain words as every foreign text.
static CALM: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut calm = Vec::new();
    everything(&|_| "w w".to_owned(), |_, said| calm.push(said));
    calm
});

const PIECES: [&str; 44] = [
    "```",
    "~~~",
    "````\n",
    "`",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "@mal",
    "#99",
    "GH-98",
    "fixes ",
    "closes: ",
    "/autobuild cancel",
    "\n/autobuild cancel\n",
    "<!-- autobuild:x -->",
    "<!--",
    "-->",
    "</details>",
    "<img src=x onerror=y>",
    "&#64;mal",
    "&amp;",
    "\\",
    "|",
    "*",
    "**",
    "_",
    "~~",
    "[x](https://e.vil/1)",
    "![x](https://e.vil)",
    "https://e.vil/1",
    "www.e.vil",
    ":white_check_mark:",
    "✔️",
    "$x$",
    "\u{202e}",
    "\u{200d}",
    "\u{1b}[31m",
    "word",
    "- ",
    "# ",
];
const MORE: [&str; 12] =
    ["> ", "1. ", "1) ", "+ ", "===", "---", "[^1]", "[^1]: x", "[x]: https://e.vil", "é", "0", ":"];

fn fragment() -> impl Strategy<Value = String> {
    let pieces: Vec<&'static str> = PIECES.into_iter().chain(MORE).collect();
    proptest::collection::vec(proptest::sample::select(pieces), 1..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_of_others_says_anything_of_its_own(hostile in fragment()) {
        // A word on each side ensures that the text is never empty, which would change the shape.
        let hostile = format!("w {hostile} w");
        let mut calm = CALM.iter();
        everything(&|_| hostile.clone(), |name, said| {
            assert_harmless(name, &said);
            let expected = calm.next().unwrap();
            assert_eq!(shape(&said), shape(expected), "{name} of {hostile:?}:\n{said}");
        });
    }

    #[test]
    fn no_text_of_others_says_anything_at_the_start_of_its_line(hostile in fragment()) {
        everything(&|_| hostile.clone(), |name, said| assert_harmless(name, &said));
    }

    #[test]
    fn titles_and_commits_refer_to_nothing_and_stay_on_one_line(hostile in fragment()) {
        for line in plain_lines(&|_| hostile.clone()) {
            let lower = line.to_lowercase();
            for live in ["@mal", "#99", "gh-98", "https://", "/autobuild", "\n", "\r", "\u{202e}"] {
                prop_assert!(!lower.contains(live), "{:?} holds {:?}", line, live);
            }
            prop_assert!(line.chars().count() <= 255);
        }
    }

    #[test]
    fn nothing_is_longer_than_it_may_be(text in "\\PC{0,60}|[`@#<|\\n ]{0,80}", max in 8usize..90) {
        for shown in [
            untrusted::inline(&text, max), untrusted::cell(&text, max), untrusted::code(&text, max),
            untrusted::cell_code(&text, max), untrusted::plain(&text, max), untrusted::shorten(&text, max),
        ] {
            prop_assert!(shown.chars().count() <= max.max(3), "{:?} is longer than {}", shown, max);
        }
    }
}

fn fits_everywhere(piece: &str) {
    let long = piece.repeat(6_000);
    everything(&|_| long.clone(), |name, said| assert_harmless(name, &said));
}

#[test]
fn a_huge_text_in_every_place_still_fits() {
    fits_everywhere("@mal <");
}

#[test]
fn a_huge_text_of_fences_in_every_place_still_fits() {
    fits_everywhere("```\n");
}

#[test]
fn a_fence_is_longer_than_any_inside() {
    let shown = untrusted::fence("a\n`````\nb", "text", 1_000);
    assert_eq!(shown, "``````text\na\n`````\nb\n``````");
    assert_eq!(untrusted::fence("", "text", 100), "```text\n\n```");
}

#[test]
fn what_is_too_long_is_cut_from_the_middle_with_a_note() {
    assert_eq!(untrusted::shorten("abc", 3), "abc");
    let cut = untrusted::shorten(&format!("start{}end", "é".repeat(500)), 60);
    assert_eq!(cut.chars().count(), 60);
    assert!(cut.starts_with("start") && cut.ends_with("end"), "{cut}");
    assert!(cut.contains("[448 characters left out]"), "{cut}");
}

#[test]
fn prose_keeps_its_code_and_reads_as_it_was_written() {
    let table = [
        ("use `a|b` in foo_bar, 1 < 2 & 3", "use `a|b` in foo_bar, 1 &lt; 2 &amp; 3"),
        ("an odd ` tick", "an odd &#96; tick"),
        ("_all_ *stars* [x]", "\\_all\\_ \\*stars\\* \\[x\\]"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("✅ done", "(tick) done"),
    ];
    for (text, expected) in table {
        assert_eq!(untrusted::inline(text, 200), expected, "{text:?}");
    }
    assert_eq!(untrusted::cell("use `a|b`|", 200), "use `a\\|b`\\|");
    assert_eq!(untrusted::cell(" \n", 200), "–");
}

#[test]
fn eight_times_the_text_is_eight_times_the_work() {
    let acted_on = [
        Text("", "", "fix."),
        Text("", "", "closes "),
        Text("", "", ":a"),
        Text("", "", "@a #1 gh-1 www.a "),
        Text("", "", "/autobuild help\n"),
        Text("", "", "<!--"),
        Text("", "", "`a` _b_ "),
    ];
    let reader = |name, read| Reader { name, read, own: &acted_on };
    let terminal = untrusted::Room { max: usize::MAX, medium: untrusted::Medium::Terminal };
    assert_linear(&[
        reader("inline", &|text| drop(untrusted::inline(text, usize::MAX))),
        reader("quote", &|text| drop(untrusted::quote(text, usize::MAX))),
        reader("fence", &|text| drop(untrusted::fence(text, "", usize::MAX))),
        reader("plain", &|text| drop(untrusted::plain(text, usize::MAX))),
        reader("terminal", &|text| drop(untrusted::fence(text, "", terminal))),
    ]);
}
