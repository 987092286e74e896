; Functions. `@function.value`: the returned value, if the body is only a `return`, with or without a docstring.
(function_definition
  name: (identifier) @function.name
  body: (block) @function.body) @function

(function_definition
  body: (block . (expression_statement (string))? . (return_statement (_) @function.value) . (comment)* .)) @function

; Classes and their base classes.
(class_definition name: (identifier) @class.name) @class
(class_definition superclasses: (argument_list [(identifier) (attribute)] @class.base)) @class

; Code that may be empty: abstract, base and null classes, interfaces, overloads, and `if TYPE_CHECKING`.
(class_definition
  name: (identifier) @_name
  (#match? @_name "^(Abstract|Base|Null|No[oO]p|Dummy|Fake)|(Base|Interface|Mixin|Protocol)$")) @abstract

(class_definition
  superclasses: (argument_list) @_bases
  (#match? @_bases "ABC|Protocol|Interface|Enum")) @abstract

(decorated_definition
  (decorator) @_decorator
  (#match? @_decorator "abstract|overload|singledispatch|register")) @abstract

(if_statement
  condition: (_) @_condition
  (#match? @_condition "TYPE_CHECKING$")) @abstract

; The fields of a class: with a type, or set by its constructor.
(class_definition body: (block (expression_statement (assignment left: (identifier) @class.field type: (_))))) @class
(class_definition
  body: (block
    (function_definition
      name: (identifier) @_name
      body: (block
        (expression_statement
          (assignment left: (attribute object: (identifier) @_self attribute: (identifier) @class.field))))))
  (#eq? @_name "__init__")
  (#eq? @_self "self")) @class

; Fixed results for fixed inputs.
(pair key: (_) @answer.input value: (_) @answer.result) @answer
(if_statement
  condition: (comparison_operator (_) "==" (_) @answer.input)
  consequence: (block . (return_statement (_) @answer.result) .)) @answer
(elif_clause
  condition: (comparison_operator (_) "==" (_) @answer.input)
  consequence: (block . (return_statement (_) @answer.result) .)) @answer
(conditional_expression
  (_) @answer.result . (comparison_operator (_) "==" (_) @answer.input)) @answer
(case_clause
  (case_pattern) @answer.input
  consequence: (block . (return_statement (_) @answer.result) .)) @answer

; Variables of the module that hold data.
(module
  (expression_statement
    (assignment
      left: (identifier) @variable
      right: [(dictionary) (list) (set) (tuple) (integer) (float) (string) (none) (true) (false)])))
