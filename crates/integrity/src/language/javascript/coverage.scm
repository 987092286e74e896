; Comments that exclude code from coverage.
((comment) @uncovered
  (#match? @uncovered "istanbul ignore|c8 ignore|v8 ignore|node:coverage (ignore|disable)"))
