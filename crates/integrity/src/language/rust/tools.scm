; Redefined assertions: a macro or an import under a standard name.
((macro_definition name: (identifier) @_name) @shadow
  (#any-of? @_name "assert" "assert_eq" "assert_ne" "debug_assert" "panic" "unreachable" "matches"))
((use_declaration (_) @_path) @shadow
  (#match? @_path "\\bas (assert|assert_eq|assert_ne|panic|test)$|^(crate|super|self)::.*\\b(assert|assert_eq|assert_ne|test)$"))

; A replaced test runner.
((inner_attribute_item) @runner (#match? @runner "no_main|test_runner|custom_test_frameworks"))

; Product code that detects that it is tested.
((macro_invocation macro: (identifier) @_cfg (token_tree) @_given) @differs
  (#eq? @_cfg "cfg")
  (#match? @_given "\\btest\\b"))
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_given)) @differs
  . [(function_item) (expression_statement) (let_declaration) (block)]
  (#eq? @_cfg "cfg")
  (#match? @_given "^\\((not\\()?test\\)"))
((scoped_identifier) @differs (#match? @differs "Backtrace::(capture|force_capture)$"))
