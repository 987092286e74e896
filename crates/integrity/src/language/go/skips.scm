; `t.Skip()`: always, or inside an `if`.
(function_declaration
  body: (block (statement_list (expression_statement (call_expression function: (selector_expression field: (_) @_name)) @skip)))
  (#any-of? @_name "Skip" "Skipf" "SkipNow"))
(func_literal
  body: (block (statement_list (expression_statement (call_expression function: (selector_expression field: (_) @_name)) @skip)))
  (#any-of? @_name "Skip" "Skipf" "SkipNow"))
(if_statement
  consequence: (block (statement_list (expression_statement (call_expression function: (selector_expression field: (_) @_name)) @skip.conditional)))
  (#any-of? @_name "Skip" "Skipf" "SkipNow"))

; Build tags.
((comment) @skip.conditional (#match? @skip.conditional "^//(go:build| \\+build) ") (#not-match? @skip.conditional "ignore"))
((comment) @skip (#match? @skip "^//(go:build| \\+build) ignore"))
