; Marks on tests and on their classes.
((decorator) @skip
  (#match? @skip "^@(pytest\\.mark\\.|unittest\\.|mark\\.)?(skip)(\\((reason ?= ?)?[\"'].*)?(\\(\\))?$"))
((decorator) @skip.conditional
  (#match? @skip.conditional "(skipif|skipIf|skipUnless|skip_unless)\\(|(\\.|@)(xfail|expectedFailure)\\b"))

; A literal condition, such as `skipif(True)`.
((decorator (call
   function: (_) @_name
   arguments: (argument_list . [(true) (integer)]))) @skip
  (#match? @_name "(skipif|skipIf)$"))
((decorator (call
   function: (_) @_name
   arguments: (argument_list . [(false)]))) @skip
  (#match? @_name "skipUnless$"))

; A skip mark stored under another name, or a mark read with `getattr`.
(module
  (expression_statement
    (assignment left: (_) @_left right: (_) @_mark) @skip)
  (#match? @_mark "mark\\.(skip|xfail)(\\(|$)"))
((call function: (identifier) @_get arguments: (argument_list . (_) @_of)) @skip
  (#eq? @_get "getattr")
  (#match? @_of "^pytest\\.mark"))

; A mark of the whole module or class that holds on a condition.
((assignment left: (identifier) @_left right: (_) @_mark) @skip.conditional
  (#eq? @_left "pytestmark")
  (#match? @_mark "mark\\.skipif\\("))

; Other marks, by which a command may choose tests.
((decorator (attribute object: (attribute) @_mark)) @condition (#eq? @_mark "pytest.mark"))

; A parametrized test without rows.
((decorator (call
   function: (_) @_name
   arguments: (argument_list (_) . (list) @_rows))) @skip
  (#match? @_name "parametrize$")
  (#match? @_rows "^\\[\\s*\\]$"))

; Calls that skip: always, or inside an `if`.
(function_definition
  body: (block (expression_statement (call function: (_) @_name) @skip))
  (#match? @_name "^(pytest\\.(skip|xfail)|self\\.skipTest)$"))
(function_definition
  body: (block (raise_statement (_) @_raised) @skip)
  (#match? @_raised "SkipTest|skip\\.Exception"))
(module (expression_statement (call function: (_) @_name) @skip)
  (#eq? @_name "pytest.skip"))
((call function: (_) @_name) @skip.conditional
  (#match? @_name "^(pytest\\.importorskip|importorskip)$"))
(if_statement
  consequence: (block (expression_statement (call function: (_) @_name) @skip.conditional))
  (#match? @_name "^(pytest\\.(skip|xfail)|self\\.skipTest)$"))

; `collect_ignore`: files that pytest does not collect.
(expression_statement (assignment left: (identifier) @_left right: (list (_))) @skip
  (#match? @_left "^collect_ignore(_glob)?$"))

; An `async` test in a plain `TestCase`: nothing awaits it, so it passes without running.
(class_definition
  superclasses: (argument_list [(identifier) (attribute)] @_base)
  body: (block (function_definition "async" name: (identifier) @_name) @skip)
  (#match? @_base "^(unittest\\.)?TestCase$")
  (#match? @_name "^test"))
