; `raise NotImplementedError`, without a message or as the whole body. Other errors count by their message.
((raise_statement (identifier) @_raised) @stub (#match? @_raised "^NotImplemented"))
((raise_statement (call function: (identifier) @_raised arguments: (argument_list) @_words)) @stub
  (#eq? @_raised "NotImplementedError")
  (#match? @_words "^\\(\\s*\\)$"))
(function_definition
  body: (block . (expression_statement (string))? . (raise_statement (call function: (identifier) @_raised)) @stub .)
  (#eq? @_raised "NotImplementedError"))
((raise_statement (call function: (_) @_raised arguments: (argument_list (_) @stub.message))) @stub
  (#match? @_raised "^[A-Z]"))
((assert_statement (false) (_) @stub.message) @stub)
((return_statement (identifier) @_value) @stub (#eq? @_value "NotImplemented"))

; A function with an empty body, or with a comment or a message in place of the work.
(function_definition
  name: (identifier) @_name
  body: (block . (expression_statement (string))? . [(pass_statement) (expression_statement (ellipsis))] .)
  (#not-match? @_name "^(__.*__|_?noop|on_|handle_|visit_|set_?up|tear_?down|pre_|post_|before_|after_)")) @empty
(function_definition
  name: (identifier) @_name
  body: (block . (expression_statement (string)) .)
  (#not-match? @_name "^(__.*__|_?noop|on_|handle_|visit_)")) @empty
(function_definition
  name: (identifier) @_name
  body: (block . (expression_statement (string))? . (return_statement) @_left .)
  (#match? @_left "^return( None)?$")
  (#not-match? @_name "^(__.*__|_?noop|on_|handle_|visit_)|none|null|nothing|ignore|default|dummy")) @empty
(function_definition
  body: (block (expression_statement (call arguments: (argument_list (_) @stub.message))) @stub . (return_statement)? .))
(function_definition body: (block (comment) @stub.message . [(pass_statement) (return_statement)] @stub .))
(if_statement consequence: (block . (expression_statement (call arguments: (argument_list (_) @stub.message))) @stub . (return_statement)? .))
((raise_statement (call function: (identifier) @_raised arguments: (argument_list (string) @_words))) @stub
  (#eq? @_raised "NotImplementedError")
  (#not-match? @_words "(?i)support|only|cannot|can't|must|subclass|overrid|platform|available|unknown|invalid|allowed|requires|no such"))
