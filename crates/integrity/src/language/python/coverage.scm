; Functions and classes excluded from coverage. A pragma on a branch is no match: honest code excludes branches that
; cannot run on this machine.
(function_definition (comment) @uncovered (#match? @uncovered "pragma: ?no ?cover"))
(class_definition (comment) @uncovered (#match? @uncovered "pragma: ?no ?cover"))
