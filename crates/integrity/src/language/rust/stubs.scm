; `todo!()`, `unimplemented!()`, and panics and errors whose message says the same.
((macro_invocation macro: [(identifier) (scoped_identifier)] @_name) @stub
  (#match? @_name "(^|::)(todo|unimplemented)$"))
((use_declaration (_) @_path) @stub (#match? @_path "\\b(todo|unimplemented) as\\b"))
((macro_invocation macro: [(identifier) (scoped_identifier)] @_name (token_tree) @stub.message) @stub
  (#match? @_name "(^|::)(panic|unreachable|bail|anyhow|eyre|ensure|whatever|assert)$"))
(function_item
  body: (block . [(expression_statement (macro_invocation macro: (identifier) @_name) @stub)
                  (macro_invocation macro: (identifier) @_name) @stub] .)
  (#any-of? @_name "unreachable"))
((call_expression function: (identifier) @_err arguments: (arguments (_) @stub.message)) @stub (#eq? @_err "Err"))

(token_tree (identifier) @stub . "!" (#any-of? @stub "todo" "unimplemented"))
((macro_invocation macro: (identifier) @_name (token_tree) @_given) @stub
  (#any-of? @_name "assert" "debug_assert")
  (#match? @_given "^\\(false,\\s*\"(TODO|FIXME|todo|not (yet )?implemented)"))

; A body that is only a comment and a literal.
(function_item
  body: (block . (line_comment) @stub.message . [(integer_literal) (float_literal) (boolean_literal)] @stub .))
