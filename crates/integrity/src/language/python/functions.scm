; Functions, and those that only give a value which is written out.
(function_definition
  name: (identifier) @function.name
  body: (block) @function.body) @function

(function_definition
  body: (block . (expression_statement (string))? . (return_statement (_) @function.value) . (comment)* .)) @function

; Classes, and what they are derived from.
(class_definition name: (identifier) @class.name) @class
(class_definition superclasses: (argument_list [(identifier) (attribute)] @class.base)) @class

; Methods that others fill in.
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
