; Attributes and comments that exclude code from coverage.
((attribute_item) @uncovered (#match? @uncovered "coverage\\(off\\)|no_coverage|coverage, off|tarpaulin"))
([(line_comment) (block_comment)] @uncovered (#match? @uncovered "LCOV_EXCL_|grcov-excl|tarpaulin::skip"))
