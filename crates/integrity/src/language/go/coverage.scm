; Code that is not counted.
((comment) @uncovered (#match? @uncovered "coverage:ignore|nocover|codecov:ignore"))
