//! A module is imported instead of a real one, test tools are redefined, or settings redirect imports.

use crate::{
    change::Version,
    changed_file::{ChangedFile, Reading},
    language,
    language::{
        Installed,
        capture::Fact,
        file_name, folders,
        outline::{Mark, Of},
        settings::Purpose,
    },
    marks::new_marks,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at, at_line, at_mark},
    settings,
    words::is_one_of,
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ShadowModule,
    applies: ANYWHERE,
    refuses: &[("pytest.py", "", "def raises(*errors): ...\n")],
    accepts: &[
        ("ledger/decimal.py", "", "def rounded(n):\n    return round(n, 2)\n"),
        ("shop/vendor/models.py", "", "class Vendor:\n    pass\n"),
        ("vendor/README.md", "", "What vendors bring.\n"),
        ("static/vendor/chart.js", "", "export function draw() { return 1; }\n"),
    ],
    check,
};

/// Programs that run and judge tests: a file of such a name in the repository could be run instead.
const PROGRAMS: &str = "
    sh bash dash test [ diff cmp grep true false make cargo rustc python python3 pytest node npm npx go
";

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Shadow], &[Of::Tests, Of::Product]);
    let is_wanted = |(file, mark): &(&ChangedFile<'_>, &Mark)| mark.of == Of::Tests || is_of_no_tool(file.path);
    let mut found: Vec<Violation> = new.into_iter().filter(is_wanted).map(at_mark).collect();
    let new = reading.files.iter().filter(|file| file.file.before == Version::Absent);
    found.extend(new.filter_map(|file| found_first(reading, file)));
    found.extend(settings::find(reading, Purpose::Imports));
    found
}

/// `true` if a source file does not belong to a project that is itself a test tool.
fn is_of_no_tool(path: &str) -> bool {
    !folders(path).any(|folder| folder.contains("test") || folder.contains("mock"))
}

/// Returns the place of a new file that would be found before the real module or program of its name.
fn found_first(reading: &Reading<'_>, file: &ChangedFile<'_>) -> Option<Violation> {
    let name = file_name(file.path);
    let paths = (reading.change.base, reading.change.head);
    let is_code = |installed: &Installed| language::of(file.path).is_some() || name == installed.manifest;
    let mut installed = language::ALL.iter().filter_map(|known| known.installed.as_ref());
    if installed.any(|installed| is_code(installed) && installed.is_replaced_by(file.path, paths)) {
        return Some(at(file.path, 1, Detail::Path(file.path.to_owned())));
    }
    let is_program = file.file.after.bytes().is_some_and(|bytes| bytes.starts_with(b"#!")) && is_one_of(PROGRAMS, name);
    let is_startup = name.ends_with(".pth") && !file.path.contains('/');
    let module = module(reading, file.path).zip(language::of(file.path));
    let is_real = module.is_some_and(|(module, language)| language.expects_module(module));
    (is_program || is_startup || is_real).then(|| at_line(file.path, 1, name))
}

/// Returns the module name of a file, if it is in a folder from which modules are imported first: the root, `src`, or a
/// folder of tests.
fn module<'p>(reading: &Reading<'_>, path: &'p str) -> Option<&'p str> {
    let stem = |file: &'p str| file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let parts: Vec<&str> = path.split('/').collect();
    let (folder, module) = match parts.as_slice() {
        [file] => ("", stem(file)),
        [package, "__init__.py"] => ("", *package),
        [folder, file] => (*folder, stem(file)),
        [folder, package, "__init__.py"] => (*folder, *package),
        _ => return None,
    };
    let is_package = reading.change.head.contains(&format!("{folder}/__init__.py"));
    match folder {
        "" | "src" => Some(module),
        "tests" | "test" => Some(module).filter(|_| !is_package),
        _ => None,
    }
}
