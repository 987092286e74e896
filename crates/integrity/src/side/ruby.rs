//! Ruby: RSpec, minitest, Rake, Bundler.

use super::ecosystem::{Ecosystem, Format, SharedFile};

pub(super) static RUBY: Ecosystem = Ecosystem {
    paths: ".rspec .rspec-local .simplecov cucumber.yml config/cucumber.yml config/environments/test.rb",
    modules: "rspec minitest test-unit simplecov",
    shared: &[SharedFile {
        paths: "Gemfile gems.rb",
        format: Format::Gemfile,
        tests: "test",
    }],
};
