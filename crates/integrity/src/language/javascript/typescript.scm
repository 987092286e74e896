; Base classes and interfaces, and the definitions that only TypeScript has.
([(class_declaration (class_heritage (extends_clause value: (identifier) @class.base)))
  (class_declaration (class_heritage (implements_clause (_) @class.base)))] @class)
(abstract_class_declaration) @abstract
(interface_declaration name: (_) @definition)
(type_alias_declaration name: (_) @definition)
(enum_declaration name: (_) @definition)

; A returned `undefined`, `null` or `{}` that a cast or a `!` hides from the compiler.
(return_statement [(as_expression . [(undefined) (null) (object)] @_value)
                   (as_expression . (as_expression . [(undefined) (null) (object)] @_value))
                   (non_null_expression . [(undefined) (null)] @_value)]
  (#match? @_value "^(undefined|null|\\{\\s*\\})$")) @stub
