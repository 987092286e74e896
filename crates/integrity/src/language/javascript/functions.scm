; Functions by declaration, and by the name that they are given.
([(function_declaration name: (_) @function.name body: (_) @function.body)
  (generator_function_declaration name: (_) @function.name body: (_) @function.body)
  (method_definition name: (_) @function.name body: (_) @function.body)] @function)
(variable_declarator
  name: (identifier) @function.name
  value: [(arrow_function body: (_) @function.body) (function_expression body: (_) @function.body)] @function)
(pair
  key: (_) @function.name
  value: [(arrow_function body: (_) @function.body) (function_expression body: (_) @function.body)] @function)

; Those that only give a value which is written out.
([(function_declaration body: (statement_block . (return_statement (_) @function.value) .))
  (method_definition
    name: (property_identifier) @_name
    body: (statement_block . (return_statement (_) @function.value) .))
  (arrow_function body: (statement_block . (return_statement (_) @function.value) .))
  (function_expression body: (statement_block . (return_statement (_) @function.value) .))] @function)
((arrow_function
   body: [(number) (string) (true) (false) (null) (undefined) (array) (parenthesized_expression)] @function.value) @function)

; Classes, and what they are derived from.
([(class_declaration name: (_) @class.name) (class name: (_) @class.name)] @class)

; Methods that others fill in, or that do nothing on purpose.
([(class_declaration name: (_) @_name) (class name: (_) @_name)] @abstract
  (#match? @_name "^(Abstract|Base|Null|No[oO]p|Fake|Dummy|Silent)|(Base|Interface)$"))

; What else the file defines.
(program (lexical_declaration (variable_declarator name: (identifier) @definition)))
(export_statement (lexical_declaration (variable_declarator name: (identifier) @definition)))
