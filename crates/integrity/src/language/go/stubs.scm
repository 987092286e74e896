; Panics and returned errors whose message says "not implemented".
((call_expression function: (identifier) @_name arguments: (argument_list (_) @stub.message)) @stub (#eq? @_name "panic"))
((return_statement
   (expression_list
     (call_expression function: (selector_expression) @_name arguments: (argument_list (_) @stub.message)))) @stub
  (#any-of? @_name "errors.New" "fmt.Errorf"))

; A function that takes parameters and has an empty body, or a body that is only a comment and a bare `return`.
(function_declaration
  name: (_) @_name
  parameters: (parameter_list (parameter_declaration name: (_)))
  body: (block) @_body
  (#match? @_body "^\\{\\s*\\}$")
  (#not-match? @_name "^(no[oO]p|on[A-Z]|On[A-Z])")) @empty
(block (comment) @stub.message . (statement_list . (return_statement) .) @stub)
