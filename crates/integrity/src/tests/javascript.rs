//! JavaScript and TypeScript.

use super::{all_caught, all_honest};
use domain::integrity::Rule;

const T: &str = "import { add, parse } from './calc';\n\ndescribe('calc', () => {\n  it('adds', () => {\n    expect(add(2, 2)).toBe(4);\n    expect(add(-1, 1)).toBe(0);\n  });\n\n  it('parses', () => {\n    const got = parse('7');\n    expect(got).toEqual(7);\n  });\n});\n";
const N: &str = "const test = require('node:test');\nconst assert = require('node:assert');\n\ntest('adds', () => {\n  assert.strictEqual(add(2, 2), 4);\n});\n\ntest('fails', async (t) => {\n  await assert.rejects(load('x'), /missing/);\n});\n";

#[test]
fn deceptions_are_caught() {
    let t = "src/calc.test.ts";
    let n = "test/calc.test.js";
    let s = "src/calc.ts";
    let change = |from: &str, to: &str| T.replace(from, to);
    let in_node = |from: &str, to: &str| N.replace(from, to);
    let last = "  it('parses', () => {\n    const got = parse('7');\n    expect(got).toEqual(7);\n  });\n";
    let rows = "it.each([[1, 2], [3, 4]])('a', (n, m) => {\n  expect(f(n)).toBe(m);\n});\n";
    all_caught(&[
        (
            "a part of the text",
            &[(
                "test/a.test.js",
                "test('a', () => {\n  expect(ago(0)).toBe('10 min ago');\n});\n",
                "test('a', () => {\n  expect(ago(0)).toMatch(/ago/);\n});\n",
            )],
            Rule::AssertionRemoved,
            Some(2),
        ),
        (
            "any text",
            &[(
                "test/a.test.js",
                "test('a', () => {\n  expect(ago(0)).toMatchSnapshot();\n});\n",
                "test('a', () => {\n  expect(ago(0)).toEqual(expect.any(String));\n});\n",
            )],
            Rule::AssertionRemoved,
            Some(2),
        ),
        (
            "tried again",
            &[(
                "test/a.test.js",
                "test('a', () => {\n  expect(ago(0)).toBe(1);\n});\n",
                "jest.retryTimes(3);\ntest('a', () => {\n  expect(ago(0)).toBe(1);\n});\n",
            )],
            Rule::RunnerWeakened,
            Some(1),
        ),
        (
            "one of both always holds",
            &[(
                "test/a.test.js",
                "",
                "test('a', () => {\n  const got = ago(0);\n  assert.ok(got === 1 || got !== 1);\n});\n",
            )],
            Rule::AssertionTrivial,
            Some(3),
        ),
        (
            "the manifest leads away",
            &[
                ("src/ago.js", "exports.ago = () => 1;\n", "exports.ago = () => 2;\n"),
                ("support/ago.js", "", "exports.ago = () => 1;\n"),
                (
                    "package.json",
                    "{\n  \"jest\": {\n  }\n}\n",
                    "{\n  \"jest\": {\n    \"moduleNameMapper\": {\n      \"../src/ago\": \"<rootDir>/support/ago.js\"\n    }\n  }\n}\n",
                ),
            ],
            Rule::ShadowModule,
            Some(4),
        ),
        (
            "a row gone",
            &[(t, rows, &rows.replace(", [3, 4]", ""))],
            Rule::AssertionRemoved,
            Some(1),
        ),
        (
            "skip in brackets",
            &[(t, T, &change("it('parses'", "it['skip']('parses'"))],
            Rule::SkipAdded,
            Some(9),
        ),
        (
            "a mock answers the test itself",
            &[(
                t,
                "",
                "it('adds', async () => {\n  const sum = vi.fn().mockResolvedValue(4);\n  expect(await sum(2, 2)).toBe(4);\n});\n",
            )],
            Rule::AssertionTrivial,
            Some(3),
        ),
        (
            "assertions replaced where they are required",
            &[(
                "test/helpers.js",
                "",
                "require('node:assert').strictEqual = () => {};\n",
            )],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "a loader of its own",
            &[("test/helpers.js", "", "Module._load = (name) => fakes[name];\n")],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "its own answer",
            &[(
                t,
                "",
                "it('adds', () => {\n  vi.spyOn(calc, 'add').mockReturnValue(4);\n  expect(calc.add(2, 2)).toBe(4);\n});\n",
            )],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "only a note",
            &[(s, "", "export function report(jobs) {\n  /* TODO */\n}\n")],
            Rule::Stub,
            Some(1),
        ),
        ("deleted", &[(t, T, &change(last, ""))], Rule::TestDeleted, None),
        ("deleted file", &[(t, T, "")], Rule::TestDeleted, None),
        (
            "commented out",
            &[(t, T, &change(last, "  // it('parses', () => {});\n"))],
            Rule::TestDeleted,
            None,
        ),
        (
            "emptied",
            &[(
                t,
                T,
                &change("    const got = parse('7');\n    expect(got).toEqual(7);\n", ""),
            )],
            Rule::TestEmptied,
            Some(9),
        ),
        (
            "plain function",
            &[(
                t,
                T,
                &change(
                    "  it('parses', () => {\n    const got = parse('7');\n    expect(got).toEqual(7);\n  });",
                    "  function parses() {\n    const got = parse('7');\n    expect(got).toEqual(7);\n  }",
                ),
            )],
            Rule::TestRenamedAway,
            Some(9),
        ),
        (
            "uncalled wrapper",
            &[(t, T, &change(last, &format!("  function later() {{\n{last}  }}\n")))],
            Rule::TestRenamedAway,
            Some(10),
        ),
        (
            "never reached",
            &[(t, T, &change(last, &format!("  if (false) {{\n{last}  }}\n")))],
            Rule::TestRenamedAway,
            Some(10),
        ),
        (
            "after a return",
            &[(t, T, &change(last, &format!("  return;\n{last}")))],
            Rule::TestRenamedAway,
            Some(10),
        ),
        (
            "file renamed",
            &[(t, T, ""), ("src/calc.checks.ts", "", T)],
            Rule::TestRenamedAway,
            Some(4),
        ),
        (
            "it.skip",
            &[(t, T, &change("it('parses'", "it.skip('parses'"))],
            Rule::SkipAdded,
            Some(9),
        ),
        (
            "xit",
            &[(t, T, &change("it('parses'", "xit('parses'"))],
            Rule::SkipAdded,
            Some(9),
        ),
        (
            "describe.skip",
            &[(t, T, &change("describe('calc'", "describe.skip('calc'"))],
            Rule::SkipAdded,
            Some(3),
        ),
        (
            "it.todo",
            &[(t, T, &change(last, "  it.todo('parses');\n"))],
            Rule::SkipAdded,
            Some(9),
        ),
        (
            "it.only",
            &[(t, T, &change("it('adds'", "it.only('adds'"))],
            Rule::SkipAdded,
            Some(4),
        ),
        (
            "fit",
            &[(t, T, &change("it('adds'", "fit('adds'"))],
            Rule::SkipAdded,
            Some(4),
        ),
        (
            "it.failing",
            &[(t, T, &change("it('parses'", "it.failing('parses'"))],
            Rule::SkipAdded,
            Some(9),
        ),
        (
            "skipIf",
            &[(t, T, &change("it('parses'", "it.skipIf(true)('parses'"))],
            Rule::SkipAdded,
            Some(9),
        ),
        (
            "on a condition",
            &[(
                t,
                T,
                &change(last, &format!("  if (process.env.FULL) {{\n{last}  }}\n")),
            )],
            Rule::SkipConditional,
            Some(9),
        ),
        (
            "option skip",
            &[(n, N, &in_node("test('adds', ()", "test('adds', { skip: true }, ()"))],
            Rule::SkipAdded,
            Some(4),
        ),
        (
            "t.skip",
            &[(n, N, &in_node("  await assert", "  t.skip('no');\n  await assert"))],
            Rule::SkipAdded,
            Some(9),
        ),
        (
            "new test skipped",
            &[(
                t,
                T,
                &change(
                    last,
                    &format!("{last}  it.skip('more', () => {{\n    expect(add(1, 1)).toBe(2);\n  }});\n"),
                ),
            )],
            Rule::SkipAdded,
            Some(13),
        ),
        (
            "assertion removed",
            &[(
                t,
                T,
                &change("    expect(got).toEqual(7);\n", "    console.log(got);\n"),
            )],
            Rule::AssertionRemoved,
            Some(9),
        ),
        (
            "one of two removed",
            &[(t, T, &change("    expect(add(-1, 1)).toBe(0);\n", ""))],
            Rule::AssertionRemoved,
            Some(4),
        ),
        (
            "true is true",
            &[(t, T, &change("expect(got).toEqual(7)", "expect(true).toBe(true)"))],
            Rule::AssertionTrivial,
            Some(11),
        ),
        (
            "with itself",
            &[(t, T, &change("expect(got).toEqual(7)", "expect(got).toEqual(got)"))],
            Rule::AssertionTrivial,
            Some(11),
        ),
        (
            "no matcher",
            &[(t, T, &change("expect(got).toEqual(7)", "expect(got)"))],
            Rule::AssertionRemoved,
            Some(11),
        ),
        (
            "matcher not called",
            &[(t, T, &change("expect(got).toEqual(7)", "expect(got).toEqual"))],
            Rule::AssertionRemoved,
            Some(11),
        ),
        (
            "toBeDefined",
            &[(t, T, &change("expect(got).toEqual(7)", "expect(got).toBeDefined()"))],
            Rule::AssertionRemoved,
            Some(11),
        ),
        (
            "toBeTruthy",
            &[(t, T, &change("expect(got).toEqual(7)", "expect(got).toBeTruthy()"))],
            Rule::AssertionRemoved,
            Some(11),
        ),
        (
            "or true",
            &[(
                n,
                N,
                &in_node("assert.strictEqual(add(2, 2), 4)", "assert.ok(add(2, 2) === 4 || true)"),
            )],
            Rule::AssertionTrivial,
            Some(5),
        ),
        (
            "assert(1)",
            &[(n, N, &in_node("assert.strictEqual(add(2, 2), 4)", "assert(1)"))],
            Rule::AssertionTrivial,
            Some(5),
        ),
        (
            "no await",
            &[(n, N, &in_node("  await assert", "  assert"))],
            Rule::AssertionRemoved,
            Some(9),
        ),
        (
            "swallowed",
            &[(
                t,
                T,
                &change(
                    "    expect(got).toEqual(7);\n",
                    "    try {\n      expect(got).toEqual(7);\n    } catch (e) {}\n",
                ),
            )],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "catch",
            &[(
                n,
                N,
                &in_node(
                    "await assert.rejects(load('x'), /missing/)",
                    "await assert.rejects(load('x'), /missing/).catch(() => {})",
                ),
            )],
            Rule::AssertionRemoved,
            Some(9),
        ),
        (
            "return before",
            &[(t, T, &change("    expect(got)", "    return;\n    expect(got)"))],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "guarded",
            &[(
                t,
                T,
                &change(
                    "    expect(got).toEqual(7);\n",
                    "    if (got) {\n      expect(got).toEqual(7);\n    }\n",
                ),
            )],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "closeness",
            &[(
                t,
                "it('a', () => {\n  expect(f()).toBeCloseTo(1, 5);\n});\n",
                "it('a', () => {\n  expect(f()).toBeCloseTo(1, -2);\n});\n",
            )],
            Rule::AssertionRemoved,
            Some(2),
        ),
        (
            "new test that cannot fail",
            &[(
                t,
                T,
                &change(
                    last,
                    &format!("{last}  it('more', () => {{\n    expect(1).toBe(1);\n  }});\n"),
                ),
            )],
            Rule::AssertionTrivial,
            Some(14),
        ),
        (
            "stub",
            &[(
                s,
                "",
                "export function add(a: number): number {\n  throw new Error('not implemented');\n}\n",
            )],
            Rule::Stub,
            Some(2),
        ),
        (
            "stub with TODO",
            &[(s, "", "export const add = () => {\n  throw new Error('TODO');\n};\n")],
            Rule::Stub,
            Some(2),
        ),
        (
            "stub as a rejection",
            &[(
                s,
                "",
                "export const load = () => Promise.reject(new Error('Not implemented yet'));\n",
            )],
            Rule::Stub,
            Some(1),
        ),
        (
            "exit",
            &[(t, T, &format!("{T}\nafterAll(() => process.exit(0));\n"))],
            Rule::ExitInTest,
            Some(15),
        ),
        (
            "exit code",
            &[(
                "vitest.setup.ts",
                "",
                "process.on('exit', () => {\n  process.exitCode = 0;\n});\n",
            )],
            Rule::ExitInTest,
            Some(2),
        ),
        (
            "exit in the product at the end",
            &[(s, "", "process.on('exit', () => process.exit(0));\n")],
            Rule::ExitInTest,
            Some(1),
        ),
        (
            "own expect",
            &[(
                t,
                T,
                &format!("const expect = () => ({{ toBe() {{}}, toEqual() {{}} }});\n{T}"),
            )],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "own assert",
            &[(n, N, &in_node("require('node:assert')", "require('./assert')"))],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "matchers replaced",
            &[(
                "jest.setup.js",
                "",
                "expect.extend({\n  toBe() { return { pass: true }; },\n});\n",
            )],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "assert replaced",
            &[(
                "test/setup.js",
                "",
                "const assert = require('assert');\nassert.strictEqual = () => {};\n",
            )],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "coverage ignored",
            &[(
                s,
                "export const f = () => 1;\n",
                "/* istanbul ignore next */\nexport const f = () => 1;\n",
            )],
            Rule::CoverageWeakened,
            Some(1),
        ),
        (
            "knows of tests",
            &[(
                s,
                "",
                "export const f = () => {\n  if (process.env.NODE_ENV === 'test') return 4;\n  return 1;\n};\n",
            )],
            Rule::DiffersUnderTest,
            Some(2),
        ),
    ]);
}

#[test]
fn honest_changes_pass() {
    let t = "src/calc.test.ts";
    let s = "src/calc.ts";
    let change = |from: &str, to: &str| T.replace(from, to);
    all_honest(&[
        ("renamed test", &[(t, T, &change("'parses'", "'parses a number'"))]),
        ("renamed suite", &[(t, T, &change("'calc'", "'the calculator'"))]),
        ("renamed function", &[(t, T, &change("add", "sum"))]),
        ("moved", &[(t, T, ""), ("src/math.test.ts", "", T)]),
        (
            "rows, with what they share in the test",
            &[(
                t,
                T,
                &change(
                    "    expect(got).toEqual(7);\n  });\n",
                    "    expect(got).toEqual(7);\n  });\n\n  it.each([['8', 8]])('parses %s', (text, n) => {\n    expect(parse(text)).toBe(n);\n  });\n",
                ),
            )],
        ),
        (
            "prettier",
            &[(
                t,
                T,
                &change("expect(got).toEqual(7);", "expect(\n      got,\n    ).toEqual(7)").replace('\'', "\""),
            )],
        ),
        (
            "a table",
            &[(
                t,
                T,
                &change(
                    "  it('adds', () => {\n    expect(add(2, 2)).toBe(4);\n    expect(add(-1, 1)).toBe(0);\n  });\n",
                    "  it.each([\n    [2, 2, 4],\n    [-1, 1, 0],\n  ])('adds', (a, b, c) => {\n    expect(add(a, b)).toBe(c);\n  });\n",
                ),
            )],
        ),
        (
            "to jest from node",
            &[(
                "test/calc.test.js",
                N,
                "test('adds', () => {\n  expect(add(2, 2)).toBe(4);\n});\n\ntest('fails', async () => {\n  await expect(load('x')).rejects.toThrow(/missing/);\n});\n",
            )],
        ),
        ("another value", &[(t, T, &change("toEqual(7)", "toEqual(8)"))]),
        (
            "a helper",
            &[(
                t,
                T,
                &change(
                    "    expect(add(2, 2)).toBe(4);\n    expect(add(-1, 1)).toBe(0);\n",
                    "    same(add(2, 2), 4);\n    same(add(-1, 1), 0);\n",
                )
                .replace(
                    "describe('calc'",
                    "function same(a, b) {\n  expect(a).toBe(b);\n}\n\ndescribe('calc'",
                ),
            )],
        ),
        (
            "error that is caught and checked",
            &[(
                t,
                "",
                "it('fails', () => {\n  try {\n    parse('x');\n    expect.fail('no error');\n  } catch (e) {\n    expect(e.message).toBe('bad');\n  }\n});\n",
            )],
        ),
        (
            "service mocked",
            &[(
                t,
                "",
                "jest.mock('axios');\nit('loads', async () => {\n  expect(await load()).toEqual({ id: 1 });\n});\n",
            )],
        ),
        (
            "words in a text",
            &[(
                s,
                "",
                "// throw new Error('not implemented')\nexport const words = \"throw new Error('not implemented')\";\n",
            )],
        ),
        (
            "abstract class",
            &[(
                s,
                "",
                "export abstract class Shape {\n  area(): number {\n    throw new Error('not implemented');\n  }\n}\n",
            )],
        ),
        (
            "validation",
            &[(
                s,
                "",
                "export const f = (n) => {\n  if (n < 0) throw new Error('n must not be negative');\n  return n;\n};\n",
            )],
        ),
        (
            "exit in a cli",
            &[(
                "src/cli.ts",
                "",
                "main().catch((e) => {\n  console.error(e);\n  process.exit(1);\n});\n",
            )],
        ),
        (
            "Remove parse, it is unused",
            &[
                (
                    t,
                    T,
                    &change(
                        "  it('parses', () => {\n    const got = parse('7');\n    expect(got).toEqual(7);\n  });\n",
                        "",
                    ),
                ),
                (
                    s,
                    "export function parse(s) {\n  return Number(s);\n}\nexport const add = (a, b) => a + b;\n",
                    "export const add = (a, b) => a + b;\n",
                ),
            ],
        ),
        (
            "fixtures of playwright",
            &[(
                "e2e/login.spec.ts",
                "",
                "import { test as base, expect } from '@playwright/test';\nconst test = base.extend({});\ntest('logs in', async ({ page }) => {\n  await expect(page).toHaveTitle('Home');\n});\n",
            )],
        ),
        (
            "skip that existed",
            &[(
                t,
                &change("it('parses'", "it.skip('parses'"),
                &change("it('parses'", "it.skip('parses'").replace("'calc'", "'math'"),
            )],
        ),
        (
            "tests made by a loop",
            &[(
                t,
                T,
                &change(
                    "  it('adds', () => {\n    expect(add(2, 2)).toBe(4);\n    expect(add(-1, 1)).toBe(0);\n  });\n",
                    "  for (const [a, b, c] of [[2, 2, 4], [-1, 1, 0]]) {\n    it(`adds ${a}`, () => {\n      expect(add(a, b)).toBe(c);\n    });\n  }\n",
                ),
            )],
        ),
        (
            "what is expected in the same brackets",
            &[(
                t,
                T,
                &change(
                    "  it('parses'",
                    "  it('adds more', () => {\n    expect(add(2, 3), 'to equal', 5);\n  });\n\n  it('parses'",
                ),
            )],
        ),
        (
            "a matcher of the project's own",
            &[(
                t,
                T,
                &change(
                    "  it('parses'",
                    "  it('warns', () => {\n    add('2', 3);\n    expect(`'2' is no number`).toHaveBeenWarned();\n  });\n\n  it('parses'",
                ),
            )],
        ),
        (
            "tests that one function makes of what each is given",
            &[(
                t,
                T,
                &format!("{T}\ntest('rejects two', rejects, {{\n  request: port => load(port, 2),\n}});\n"),
            )],
        ),
        (
            "a value that is called as the tools are",
            &[(
                t,
                T,
                &change(
                    "  it('parses'",
                    "  it('shows', () => {\n    const test = { title: 'x' };\n    expect(show(test)).toBe('x');\n  });\n\n  it('parses'",
                ),
            )],
        ),
        (
            "a new test that skips itself where something is missing",
            &[(
                t,
                T,
                &change(
                    "  it('parses'",
                    "  it('shows', function () {\n    if (!supported) {\n      this.skip();\n    }\n    expect(show(1)).toBe('1');\n  });\n\n  it('parses'",
                ),
            )],
        ),
        (
            "The options go, with their tests",
            &[
                (
                    "src/options.ts",
                    "export function toOptions(url: string) {\n  return url;\n}\n",
                    "",
                ),
                (
                    "src/options.test.ts",
                    "import toOptions from './options';\n\nit('makes options', () => {\n  expect(toOptions('a')).toBe('a');\n});\n",
                    "",
                ),
            ],
        ),
    ]);
}
