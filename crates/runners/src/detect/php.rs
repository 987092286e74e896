//! Detects PHPUnit and Pest, and the test script of Composer.

use crate::detect::repository::{Detection, Repository};
use serde_json::Value;
use text::json;

const COMPOSER: &str = "composer.json";

pub(super) const FILES: &[&str] = &[COMPOSER, "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let text = repository.text(COMPOSER);
    let manifest: Option<Value> = text.and_then(|text| json::read(text.as_bytes()).ok());
    let requires = |package: &str| {
        let lists = ["require", "require-dev"].into_iter();
        let mut lists = lists.filter_map(|list| manifest.as_ref()?.get(list)?.get(package));
        lists.next().is_some()
    };
    let configured = FILES.iter().filter(|file| **file != COMPOSER);
    let configured = configured.copied().find(|file| repository.has(file));
    let mut paths = repository.paths_below();
    let has_tests = paths.any(|path| path.starts_with("tests/") && path.ends_with("Test.php"));
    let script = manifest.as_ref().and_then(|manifest| manifest.pointer("/scripts/test"));
    let program = match (requires("pestphp/pest"), requires("phpunit/phpunit")) {
        (true, _) => "vendor/bin/pest",
        (false, true) => "vendor/bin/phpunit",
        (false, false) => "phpunit",
    };
    let test = match configured {
        Some(_) => program.to_owned(),
        None if program != "vendor/bin/pest" && has_tests => {
            if manifest.is_some() {
                format!("{program} --bootstrap vendor/autoload.php tests")
            } else {
                format!("{program} tests")
            }
        }
        None if program == "vendor/bin/pest" => program.to_owned(),
        None if script.is_some() => "composer test".to_owned(),
        None => return None,
    };
    let setup = if manifest.is_some() { "composer install --no-interaction --no-progress" } else { "" };
    let files = [manifest.is_some().then_some(COMPOSER), configured];
    let files: Vec<&str> = files.into_iter().flatten().collect();
    let files = if files.is_empty() { "tests".to_owned() } else { files.join(" and ") };
    Some(Detection::new(setup, test, files))
}
