; What a class is derived from, and what only TypeScript has.
([(class_declaration (class_heritage (extends_clause value: (identifier) @class.base)))
  (class_declaration (class_heritage (implements_clause (_) @class.base)))] @class)
(abstract_class_declaration) @abstract
(interface_declaration name: (_) @definition)
(type_alias_declaration name: (_) @definition)
(enum_declaration name: (_) @definition)

; A value that only looks like one to the compiler.
(return_statement [(as_expression . [(undefined) (null) (object)] @_value)
                   (as_expression . (as_expression . [(undefined) (null) (object)] @_value))
                   (non_null_expression . [(undefined) (null)] @_value)]
  (#match? @_value "^(undefined|null|\\{\\s*\\})$")) @stub
