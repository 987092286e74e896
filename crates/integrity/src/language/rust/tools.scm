; Assertions with another meaning.
((macro_definition name: (identifier) @_name) @shadow
  (#any-of? @_name "assert" "assert_eq" "assert_ne" "debug_assert" "panic" "unreachable" "matches"))
((use_declaration (_) @_path) @shadow
  (#match? @_path "\\bas (assert|assert_eq|assert_ne|panic|test)$|^(crate|super|self)::.*\\b(assert|assert_eq|assert_ne|test)$"))

; Another program in the place of the one that runs tests.
((inner_attribute_item) @runner (#match? @runner "no_main|test_runner|custom_test_frameworks"))

; Code that knows that it is tested.
((macro_invocation macro: (identifier) @_cfg (token_tree) @_given) @differs
  (#eq? @_cfg "cfg")
  (#match? @_given "\\btest\\b"))
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_given)) @differs
  . [(function_item) (expression_statement) (let_declaration) (block)]
  (#eq? @_cfg "cfg")
  (#match? @_given "^\\((not\\()?test\\)"))
