//! A forge for browser tests: the organisation `acme` with its owner `ann`, one repository and one issue.

#![allow(clippy::unwrap_used, reason = "a forge that cannot start has failed")]

use forge::{Forge, ForgeOptions, RepoSource, Role, Settings};
use std::io::Write;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let forge = Forge::start(ForgeOptions::new(folder.path())).await.unwrap();
    forge.create_organization("acme");
    forge.create_user("ann");
    forge.create_user("eve");
    forge.make_owner("acme", "ann").unwrap();
    let files = [
        ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}"),
        ("package-lock.json", "{}"),
        (".github/workflows/ci.yml", "on: [push, pull_request]\njobs: {}\n"),
    ];
    forge.create_repo("acme/shop", RepoSource::Files(&files), Settings::default()).await.unwrap();
    forge.set_role("acme/shop", "ann", Role::Admin).unwrap();
    let ann = forge.as_user("ann").unwrap();
    ann.open_issue("acme/shop", "Greet people by name", "A function that greets.", &[]).unwrap();
    println!("{}", forge.url());
    std::io::stdout().flush().unwrap();
    // Runs until the process that started it closes standard input.
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0) {}
}
