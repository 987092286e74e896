; Assertion macros, also among the tokens of other macro calls.
(macro_invocation
  macro: [(identifier) (scoped_identifier)] @_name
  (token_tree) @assertion.condition
  (#match? @_name "(^|::)(debug_|prop_)?assert(_eq)?$")) @assertion
(token_tree
  (identifier) @assertion . "!" . (token_tree) @assertion.condition
  (#match? @assertion "^(debug_|prop_)?assert(_eq)?$"))

(macro_invocation
  macro: [(identifier) (scoped_identifier)] @_name
  (#match? @_name "(^|::)(debug_|prop_)?assert_ne$")) @assertion @assertion.weak

(macro_invocation
  macro: [(identifier) (scoped_identifier)] @_name
  (#match? @_name "(^|::)(assert_|expect)")) @assertion
(token_tree (identifier) @assertion . (token_tree) (#match? @assertion "^(assert|check|verify|expect)_"))

(macro_invocation
  macro: (identifier) @_name
  (#any-of? @_name "panic" "unreachable")) @assertion @assertion.guard

; `assert!(matches!(x, _))`: the pattern matches everything.
((macro_invocation
   macro: (identifier) @_name
   (token_tree) @_given) @assertion @assertion.trivial
  (#eq? @_name "assert")
  (#match? @_given "^\\(matches!\\(.*, *_\\)\\)$"))

; Functions and methods whose name begins like an assertion.
(call_expression
  function: [(identifier) @_name (scoped_identifier name: (identifier) @_name)
             (field_expression field: (field_identifier) @_name)]
  (#match? @_name "^(assert|check|verify|expect)_")) @assertion

; Code that fails on an error: `unwrap` and its like, `?`, `#[should_panic]`.
(call_expression
  function: (field_expression field: (field_identifier) @_name)
  (#any-of? @_name "unwrap" "expect" "unwrap_err" "expect_err")) @assertion @assertion.weak
(try_expression) @assertion @assertion.weak
((attribute_item (attribute (identifier) @_name)) @assertion @assertion.weak @assertion.reversed
  (#eq? @_name "should_panic"))

; `#[should_panic]` without a message: every panic passes.
((attribute_item (attribute (identifier) @_name !arguments)) @assertion @assertion.trivial
  (#eq? @_name "should_panic"))
