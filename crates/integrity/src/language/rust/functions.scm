; Functions. `@function.value`: the value of the body, if the body is nothing else.
(function_item name: (identifier) @function.name body: (block) @function.body) @function
(function_item
  body: (block
    . (let_declaration pattern: "_")*
    . (line_comment)*
    . (_) @function.value .)) @function

(impl_item type: (_) @class.name) @class

; Traits, trait implementations, and functions compiled under `#[cfg]`.
(trait_item) @abstract
(impl_item trait: (_)) @abstract
((attribute_item (attribute (identifier) @_cfg)) . (function_item) @abstract (#eq? @_cfg "cfg"))

; The file's other definitions.
(struct_item name: (_) @definition)
(enum_item name: (_) @definition)
(trait_item name: (_) @definition)
(const_item name: (_) @definition)
(static_item name: (_) @definition)
(type_item name: (_) @definition)
(macro_definition name: (_) @definition)

; The fields of a type.
(struct_item
  name: (_) @class.name
  body: (field_declaration_list (field_declaration name: (field_identifier) @class.field))) @class

; Fixed results for fixed inputs.
(match_arm pattern: (_) @answer.input value: (_) @answer.result) @answer
(match_arm
  pattern: (_) @answer.input
  value: (call_expression function: (field_expression value: (string_literal) @answer.result))) @answer
(if_expression
  condition: (binary_expression operator: "==" right: (_) @answer.input)
  consequence: (block
    . [(expression_statement (return_expression (_) @answer.result))
       (integer_literal) @answer.result
       (float_literal) @answer.result
       (string_literal) @answer.result] .)) @answer

; Variables that hold data.
(static_item name: (_) @variable)
