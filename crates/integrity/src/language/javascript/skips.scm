; `it.skip`, `xit`, `it.only`, `it.todo`.
((call_expression
   function: [(identifier) (member_expression)] @_name
   arguments: (arguments . [(string) (template_string) (identifier)])) @skip
  (#match? @_name "^(xit|xtest|xspecify|xdescribe|xcontext|xsuite|fit|fdescribe|ddescribe)$|^(it|test|describe|specify|suite|context)\\.(.*\\.)?(skip|todo|failing|fails|fixme|only)$"))
((call_expression
   function: (call_expression function: (member_expression) @_name)
   arguments: (arguments . [(string) (template_string)])) @skip
  (#match? @_name "\\.(skip|todo|failing|fails|fixme|only)\\.each$"))

; `it.skipIf(…)` and `it.runIf(…)`. A literal condition makes them an unconditional skip.
((call_expression function: (member_expression) @_name) @skip.conditional (#match? @_name "\\.(skipIf|runIf)$"))
((call_expression
   function: (member_expression) @_name
   arguments: (arguments . [(true) (false) (number)] .)) @skip
  (#match? @_name "^(it|test|describe)\\.(skipIf|runIf)$"))

; Options: `{ skip: true }`.
((call_expression
   function: [(identifier) (member_expression)] @_name
   arguments: (arguments (object (pair key: (_) @_key value: [(true) (string)]) @skip)))
  (#match? @_name "^(it|test|describe|suite|specify|t\\.test)\\b")
  (#any-of? @_key "skip" "todo" "only" "fails"))
((call_expression
   function: [(identifier) (member_expression)] @_name
   arguments: (arguments (object (pair key: (_) @_key value: [(identifier) (binary_expression) (call_expression) (member_expression)]) @skip.conditional)))
  (#match? @_name "^(it|test|describe|suite|specify|t\\.test)\\b")
  (#any-of? @_key "skip" "todo"))

; A test that skips itself: always, or inside an `if`.
(arrow_function
  body: (statement_block (expression_statement (call_expression function: (_) @_name) @skip))
  (#match? @_name "^((t|this|ctx|context)\\.(skip|todo)|skip|pending)$"))
(function_expression
  body: (statement_block (expression_statement (call_expression function: (_) @_name) @skip))
  (#match? @_name "^((t|this|ctx|context)\\.(skip|todo)|skip|pending)$"))
(if_statement
  (_ (expression_statement (call_expression function: (_) @_name) @skip.conditional))
  (#match? @_name "^((t|this|ctx|context)\\.(skip|todo)|skip|pending)$"))

; A title without a test function.
((call_expression
   function: (identifier) @_name
   arguments: (arguments . (string) .)) @skip
  (#any-of? @_name "it" "test" "specify"))
