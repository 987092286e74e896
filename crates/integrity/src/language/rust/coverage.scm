; Code that is not counted.
((attribute_item) @uncovered (#match? @uncovered "coverage\\(off\\)|no_coverage|coverage, off|tarpaulin"))
([(line_comment) (block_comment)] @uncovered (#match? @uncovered "LCOV_EXCL_|grcov-excl|tarpaulin::skip"))
