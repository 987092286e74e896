//! Detects Ruby projects: RSpec, Rails, and Rake with minitest or test-unit.

use crate::detect::repository::{Detection, Repository};

pub(super) const FILES: &[&str] = &["Gemfile", "Rakefile", "Gemfile.lock", ".rspec"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let [gems, tasks, lock, rspec] = FILES else { return None };
    let is_spec = |path: &str| path.starts_with("spec/") && path.ends_with("_spec.rb");
    let has_specs = repository.has(rspec) || repository.paths_below().any(is_spec);
    let names_test = |text: &String| {
        text.contains("TestTask") || ["task :test", "task test:"].iter().any(|word| text.contains(word))
    };
    let has_task = repository.text(tasks).as_ref().is_some_and(names_test);
    let mut tests = repository.paths_below().filter(|path| path.starts_with("test/") && path.ends_with("_test.rb"));
    let (test, file) = match (repository.has("bin/rails"), tests.next()) {
        (true, Some(_)) => ("rails test", "bin/rails"),
        _ if has_task => ("rake test", *tasks),
        _ if has_specs => ("rspec", if repository.has(rspec) { *rspec } else { "spec" }),
        _ => return None,
    };
    if !repository.has(gems) {
        return Some(Detection::new("", test, file));
    }
    // Gems of the machine are used. Others are installed in the checkout, which needs no rights.
    let setup = "bundle check || (bundle config set --local path vendor/bundle && bundle install)";
    let lock = if repository.has(lock) { *lock } else { *gems };
    Some(Detection::new(setup, format!("bundle exec {test}"), format!("{file} and {lock}")))
}
