//! PHP: Composer, PHPUnit, Pest, Behat.

use super::ecosystem::{Ecosystem, Format, SharedFile};

pub(super) static PHP: Ecosystem = Ecosystem {
    paths: "
        phpunit.xml phpunit.xml.dist phpunit.dist.xml phpunit.*.xml behat.yml behat.yml.dist codeception.yml
        codeception.dist.yml infection.json* phpspec.yml* .env.testing
    ",
    modules: "",
    shared: &[SharedFile {
        paths: "composer.json",
        format: Format::Json,
        tests: "
            require-dev autoload-dev scripts.test scripts.test:* scripts.tests scripts.phpunit scripts.pest
            scripts.coverage
        ",
    }],
};
