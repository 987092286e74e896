//! Detects CMake projects with tests for CTest.

use crate::detect::repository::{Detection, Repository, build_folder};

pub(super) const FILES: &[&str] = &["CMakeLists.txt"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    // CMake's commands may be written in any case, and with blanks before the bracket.
    let text: String = repository.text(file)?.to_lowercase();
    let text: String = text.split_whitespace().collect();
    let has_tests = ["enable_testing(", "include(ctest)"].iter().any(|word| text.contains(word));
    let folder = build_folder(repository);
    let configure = format!("cmake -S . -B {folder}");
    // Each run builds the code that it tests. It configures first, since lists of sources may be patterns.
    let test = format!("{configure} && cmake --build {folder} && ctest --test-dir {folder} --output-on-failure");
    has_tests.then(|| Detection::new(configure, test, file))
}
