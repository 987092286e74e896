//! Every reader of foreign text does linear work.

use crate::{clean::clean, markdown, mistake, node::Node, secret::Secrets, shell_command::ShellCommand, shorten};
use effort::{Reader, Text, assert_linear};
use secrecy::SecretString;

/// Text that looks like credentials.
const CREDENTIALS: [Text; 22] = [
    Text("", "", "-----BEGIN PRIVATE KEY-----\n|\n"),
    Text("", "", "-----BEGIN PRIVATE KEY-----\nAAAA\n"),
    Text("", "", "-----BEGIN "),
    Text("-----BEGIN PRIVATE KEY-----\n", "", "A1"),
    Text("", "", "PuTTY-User-Key-File-"),
    Text("", "", "eyJ."),
    Text("", "", "eyJhbGciOiJI."),
    Text("", "", "://a:"),
    Text("", "", "://a:b@"),
    Text("", "", "Bearer a1"),
    Text("Bearer ", "", "a1"),
    Text("", "", "Basic YTpi"),
    Text("", "", "password"),
    Text("", "", "password=\""),
    Text("", "", "Z2hwX"),
    Text("", "", "Z2hwX2FhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"),
    Text("", "", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tIXh4"),
    Text("", "", "2d2d2d2d2d424547494e2050524956415445204b45592d2d2d2d2d21"),
    Text("", "", "\\u0041"),
    Text("", "", "&amp;%41"),
    Text("", "", "ghp_a1"),
    Text("", "", "my-own-secret-1 my-own-secret"),
];

/// Text that looks like Markdown.
const MARKDOWN: [Text; 13] = [
    Text("", "", "![a]("),
    Text("", "", "![a](b) "),
    Text("", "", "<img src=x> "),
    Text("", "", "<img "),
    Text("<p>", "", "<img "),
    Text("", "", "- "),
    Text("", "", "> "),
    Text("", "", "[a]: b\n"),
    Text("", "", "[a][b] "),
    Text("", "", "<!-- "),
    Text("", "", "``a"),
    Text("", "", "~~~\n"),
    Text("", "", "```yaml\ntasks:\n```\n"),
];

/// Text that looks like YAML.
const YAML: [Text; 8] = [
    Text("", "", "- a\n"),
    Text("", "", "- "),
    Text("", "", "a: "),
    Text("", "", "&a "),
    Text("a: &a x\nb:\n", "", " - *a\n"),
    Text("", "", "? "),
    Text("", "", "# a\n"),
    Text("a: |\n", "", " b\n"),
];

#[test]
fn eight_times_the_text_is_eight_times_the_work() {
    let secrets = Secrets::new(&[SecretString::from("my-own-secret-123")]);
    let reader = |name, read, own| Reader { name, read, own };
    assert_linear(&[
        reader("clean", &|text| drop(clean(text)), &[]),
        reader("shorten", &|text| drop(shorten::middle(text, 1_000)), &[]),
        reader("mask", &|text| drop(secrets.mask(text)), &CREDENTIALS),
        reader("find", &|text| drop(secrets.find("a.py", text.as_bytes())), &CREDENTIALS),
        reader("blocks", &|text| drop(markdown::fenced_blocks(text)), &MARKDOWN),
        reader("images", &|text| drop(markdown::with_named_images(text)), &MARKDOWN),
        reader("YAML", &|text| drop(Node::from_yaml(text, usize::MAX)), &YAML),
        reader("shell", &|text| drop(ShellCommand::of_one_line(text)), &[]),
        reader("quoted", &|text| drop(mistake::quoted(text)), &[]),
    ]);
}
