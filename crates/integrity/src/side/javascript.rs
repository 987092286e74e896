//! JavaScript and TypeScript: Node, Deno, Bun and the usual runners.

use super::ecosystem::{Ecosystem, Format, SharedFile};

pub(super) static JAVASCRIPT: Ecosystem = Ecosystem {
    paths: "
        jest.config* vitest.config* vitest.workspace* vitest.projects* .mocharc* .nycrc* .c8rc* nyc.config* .taprc
        karma.conf* ava.config* playwright.config* cypress.config* cypress.json wdio.conf* jasmine.json
        .jasmine.json web-test-runner.config* .lintstagedtest* tsconfig.test*.json tsconfig.spec*.json
        tsconfig.jest*.json tsconfig.vitest*.json cypress/ __mocks__/ __fixtures__/ test-utils.* testUtils.*
        test-helpers.* testHelpers.* .env.test
    ",
    modules: "",
    shared: &[
        SharedFile {
            paths: "package.json",
            format: Format::Json,
            tests: "
                devDependencies jest vitest mocha ava c8 nyc tap jasmine scripts.test scripts.test:* scripts.test-*
                scripts.tests scripts.pretest* scripts.posttest* scripts.coverage* scripts.e2e*
            ",
        },
        SharedFile {
            paths: "deno.json",
            format: Format::Json,
            tests: "test tasks.test* tasks.coverage*",
        },
        SharedFile {
            paths: "bunfig.toml",
            format: Format::Toml,
            tests: "test",
        },
        SharedFile {
            paths: ".npmrc",
            format: Format::Ini,
            tests: "node-options script-shell",
        },
    ],
};
