; Functions: declared, or assigned to a name.
([(function_declaration name: (_) @function.name body: (_) @function.body)
  (generator_function_declaration name: (_) @function.name body: (_) @function.body)
  (method_definition name: (_) @function.name body: (_) @function.body)] @function)
(variable_declarator
  name: (identifier) @function.name
  value: [(arrow_function body: (_) @function.body) (function_expression body: (_) @function.body)] @function)
(pair
  key: (_) @function.name
  value: [(arrow_function body: (_) @function.body) (function_expression body: (_) @function.body)] @function)

; Functions whose body only returns a value.
([(function_declaration body: (statement_block . (return_statement (_) @function.value) .))
  (method_definition
    name: (property_identifier) @_name
    body: (statement_block . (return_statement (_) @function.value) .))
  (arrow_function body: (statement_block . (return_statement (_) @function.value) .))
  (function_expression body: (statement_block . (return_statement (_) @function.value) .))] @function)
((arrow_function
   body: [(number) (string) (true) (false) (null) (undefined) (array) (parenthesized_expression)] @function.value) @function)

; Classes.
([(class_declaration name: (_) @class.name) (class name: (_) @class.name)] @class)

; Classes whose name says that others fill in their methods, or that these do nothing on purpose.
([(class_declaration name: (_) @_name) (class name: (_) @_name)] @abstract
  (#match? @_name "^(Abstract|Base|Null|No[oO]p|Fake|Dummy|Silent)|(Base|Interface)$"))

; The file's other definitions.
(program (lexical_declaration (variable_declarator name: (identifier) @definition)))
(export_statement (lexical_declaration (variable_declarator name: (identifier) @definition)))

; Fixed results for fixed inputs.
(pair key: (_) @answer.input value: (_) @answer.result) @answer
(switch_case value: (_) @answer.input body: (return_statement (_) @answer.result)) @answer
(if_statement
  condition: (parenthesized_expression (binary_expression operator: ["==" "==="] right: (_) @answer.input))
  consequence: [(return_statement (_) @answer.result) (statement_block . (return_statement (_) @answer.result) .)])
  @answer
(ternary_expression
  condition: (binary_expression operator: ["==" "==="] right: (_) @answer.input)
  consequence: (_) @answer.result) @answer

; Variables of the module that hold data.
([(program (lexical_declaration (variable_declarator name: (identifier) @variable value: (_) @_value)))
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @variable value: (_) @_value)))]
  (#match? @_value "^([\\[{0-9'\"]|new (Map|Set|WeakMap)\\b|null$|true$|false$|undefined$)"))
