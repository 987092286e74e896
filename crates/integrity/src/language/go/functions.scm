; Functions. `@function.value`: the returned value, if the body is only a `return`.
(function_declaration name: (_) @function.name body: (block) @function.body) @function
(method_declaration name: (_) @function.name body: (block) @function.body) @function
(function_declaration
  body: (block . (statement_list . (return_statement (expression_list) @function.value) .))) @function

; The file's other definitions.
(type_spec name: (_) @definition)
(const_spec name: (_) @definition)
(var_spec name: (_) @definition)

; Fixed results for fixed inputs.
(keyed_element . (_) @answer.input . (_) @answer.result) @answer
(expression_case
  value: (_) @answer.input
  (statement_list . (return_statement (expression_list) @answer.result) .)) @answer
(if_statement
  condition: (binary_expression operator: "==" right: (_) @answer.input)
  consequence: (block . (statement_list . (return_statement (expression_list) @answer.result) .))) @answer

; Variables that hold data.
(source_file (var_declaration (var_spec name: (identifier) @variable)))
