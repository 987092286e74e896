//! Detects Django projects whose tests run with `manage.py test`.

use crate::detect::{
    python,
    repository::{DEEPEST, Detection, NOT_OWN, Repository},
};

/// The program of a Django project.
const MANAGE: &str = "manage.py";

/// A file of pytest that is code, not configuration.
const CONFTEST: &str = "conftest.py";

pub(super) const FILES: &[&str] = &[MANAGE, CONFTEST];

/// Words that a project writes to let pytest run Django's tests.
const FOR_PYTEST: [&str; 4] = ["pytest-django", "pytest_django", "DJANGO_SETTINGS_MODULE", "django.setup"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let folder = folder(repository)?;
    let project = match folder.as_str() {
        "" => None,
        folder => Some(repository.below(folder)),
    };
    let is_for_pytest = |place: &Repository<'_>| {
        let texts = python::FILES.iter().copied().chain([CONFTEST]);
        texts.chain(python::requirements(place)).any(|file| {
            let text = place.text(file).unwrap_or_default();
            FOR_PYTEST.iter().any(|word| text.contains(word))
        })
    };
    if is_for_pytest(repository) || project.as_ref().is_some_and(is_for_pytest) {
        return None;
    }
    let (setup, test) = python::set_up(repository, "python3 manage.py test");
    let Some(project) = project else {
        return Some(Detection::new(setup, test, MANAGE));
    };
    let quoted = shell_words::quote(&folder);
    let (setup, test) = match setup.as_str() {
        "" => match python::set_up(&project, "python3 manage.py test") {
            (setup, test) if setup.is_empty() => (setup, test),
            (setup, test) => (format!("cd {quoted} && {setup}"), test),
        },
        _ => (setup, from_below(&test, &folder)),
    };
    Some(Detection { folder, ..Detection::new(setup, test, MANAGE) })
}

/// Returns a test command that starts a program of the root's virtual environment from one of its folders.
fn from_below(test: &str, folder: &str) -> String {
    if test.starts_with(".venv/") {
        format!("{}{test}", "../".repeat(folder.split('/').count()))
    } else {
        test.to_owned()
    }
}

/// Returns the only folder with a `manage.py` of Django; empty for the root.
fn folder(repository: &Repository<'_>) -> Option<String> {
    let is_django = |folder: &str| {
        let path = match folder {
            "" => MANAGE.to_owned(),
            folder => format!("{folder}/{MANAGE}"),
        };
        repository.text(&path).is_some_and(|text| text.contains("django"))
    };
    if is_django("") {
        return Some(String::new());
    }
    let folders = repository.paths_below().filter_map(|path| path.strip_suffix(MANAGE)?.strip_suffix('/'));
    let is_own =
        |folder: &&str| folder.split('/').count() <= DEEPEST && !folder.split('/').any(|part| NOT_OWN.contains(&part));
    let mut own = folders.filter(is_own).filter(|folder| is_django(folder));
    match (own.next(), own.next()) {
        (Some(folder), None) => Some(folder.to_owned()),
        _ => None,
    }
}
