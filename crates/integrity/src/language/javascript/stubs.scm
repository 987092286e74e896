; Errors thrown in place of the work.
((throw_statement (new_expression constructor: (_) @_error)) @stub (#match? @_error "NotImplemented"))
((throw_statement (new_expression arguments: (arguments . (_) @stub.message))) @stub)
((throw_statement (string) @stub.message) @stub)
((call_expression
   function: (_) @_name
   arguments: (arguments (new_expression arguments: (arguments . (_) @stub.message)))) @stub
  (#eq? @_name "Promise.reject"))

; A function with an empty body, or with console output or a comment in place of the work.
(export_statement
  [(function_declaration name: (_) @_name body: (statement_block) @_body) @empty
   (lexical_declaration (variable_declarator name: (_) @_name value: (arrow_function body: (statement_block) @_body) @empty))]
  (#match? @_body "^\\{\\s*\\}$|^\\{\\s*return( undefined| null|);?\\s*\\}$")
  (#not-match? @_name "^(no[oO]p|on[A-Z_]|handle[A-Z]|visit[A-Z]|before|after|setup|teardown|dispose)|[nN]othing|[iI]gnore|[nN]ull|[dD]efault|[eE]mpty"))
(program
  (function_declaration name: (_) @_name body: (statement_block) @_body) @empty
  (#match? @_body "^\\{\\s*\\}$|^\\{\\s*return( undefined| null|);?\\s*\\}$")
  (#not-match? @_name "^(no[oO]p|on[A-Z_]|handle[A-Z]|visit[A-Z]|before|after|setup|teardown|dispose)|[nN]othing|[iI]gnore|[nN]ull|[dD]efault|[eE]mpty"))
((lexical_declaration
   (variable_declarator
     name: (_) @_name
     value: (arrow_function body: [(undefined) (null) (parenthesized_expression (undefined))]) @empty))
  (#not-match? @_name "^(no[oO]p|on[A-Z_])|[nN]othing|[dD]efault"))
(class_body
  (method_definition name: (_) @_name parameters: (formal_parameters (_)) body: (statement_block) @_body) @empty
  (#match? @_body "^\\{\\s*\\}$|^\\{\\s*return( undefined| null| this|);?\\s*\\}$")
  (#not-match? @_name "^(constructor|no[oO]p|on[A-Z_]?|handle[A-Z]|visit[A-Z]|before|after|setup|teardown|dispose|did|will|log|debug|trace)|[nN]othing"))
(statement_block
  (expression_statement
    (call_expression function: (_) @_talk arguments: (arguments (_) @stub.message))) @stub
  (#match? @_talk "^console\\."))
([(function_declaration body: (statement_block . (comment) @stub.message .))
  (method_definition body: (statement_block . (comment) @stub.message .))
  (arrow_function body: (statement_block . (comment) @stub.message .))] @stub)
