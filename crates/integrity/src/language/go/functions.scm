; Functions, and those that only give a value which is written out.
(function_declaration name: (_) @function.name body: (block) @function.body) @function
(method_declaration name: (_) @function.name body: (block) @function.body) @function
(function_declaration
  body: (block . (statement_list . (return_statement (expression_list) @function.value) .))) @function

; What else the file defines.
(type_spec name: (_) @definition)
(const_spec name: (_) @definition)
(var_spec name: (_) @definition)
