; Functions. `@function.value`: the returned value, if the body is only a `return`.
(function_declaration name: (_) @function.name body: (block) @function.body) @function
(method_declaration name: (_) @function.name body: (block) @function.body) @function
(function_declaration
  body: (block . (statement_list . (return_statement (expression_list) @function.value) .))) @function

; The file's other definitions.
(type_spec name: (_) @definition)
(const_spec name: (_) @definition)
(var_spec name: (_) @definition)
