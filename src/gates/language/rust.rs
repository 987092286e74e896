//! Rust: cargo's places for tests, the standard test attributes and assertions.

use crate::gates::language::Language;
use crate::gates::language::Role;
use crate::gates::language::role::file_name;
use crate::gates::language::role::folders;
use crate::gates::language::role::in_support_folder;

/// What the Gates know of Rust.
pub static RUST: Language = Language {
    name: "Rust",
    extensions: &["rs"],
    inline_tests: true,
    role,
};

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    let folder = folders(path).next_back();
    match (name, folder) {
        ("Cargo.toml" | "clippy.toml" | "tarpaulin.toml" | ".tarpaulin.toml" | "rust-toolchain.toml", _) => {
            return Some(Role::Settings);
        }
        ("config.toml" | "config", Some(".cargo")) | ("nextest.toml", Some(".config")) => return Some(Role::Settings),
        _ => {}
    }
    let stem = name.strip_suffix(".rs")?;
    let below_tests = folders(path).any(|folder| folder == "tests");
    let in_src = folders(path).any(|folder| folder == "src");
    let named = matches!(stem, "tests" | "test") || stem.ends_with("_test") || stem.ends_with("_tests");
    Some(match (below_tests, in_src) {
        (true, false) if in_support_folder(path) || matches!(folder, Some("common" | "util" | "utils")) => {
            Role::Support
        }
        (true, _) => Role::Test,
        (false, _) if named => Role::Test,
        (false, _) => Role::Source,
    })
}
