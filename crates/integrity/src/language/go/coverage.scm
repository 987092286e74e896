; Comments that exclude code from coverage.
((comment) @uncovered (#match? @uncovered "coverage:ignore|nocover|codecov:ignore"))
