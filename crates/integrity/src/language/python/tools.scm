; Redefined test tools: assertions, parts of pytest and unittest, `sys.modules`.
(function_definition name: (identifier) @_name
  (#any-of? @_name
    "assertEqual" "assertTrue" "assertFalse" "assertRaises" "assertIn" "assertIsNone" "assertAlmostEqual"
    "assertDictEqual")) @shadow
((assignment left: [(attribute) (subscript)] @_left) @shadow
  (#match? @_left "^(pytest|_pytest|unittest|builtins)\\."))
((assignment left: (attribute object: (identifier) @_left)) @shadow
  (#any-of? @_left "Function" "Item" "TestCase" "Session"))
((assignment left: (subscript value: (_) @_left)) @shadow (#eq? @_left "sys.modules"))
((call function: (identifier) @_set arguments: (argument_list . [(identifier) (attribute)] @_tool)) @shadow
  (#eq? @_set "setattr")
  (#match? @_tool "^(pytest|_pytest|unittest|builtins)"))

; pytest hooks that remove tests from the run or write their results; reruns, changed options and encoded code.
(function_definition
  name: (identifier) @_hook
  body: (block) @_body
  (#any-of? @_hook
    "pytest_collection_modifyitems" "pytest_itemcollected" "pytest_collection_finish" "pytest_runtest_setup"
    "pytest_pycollect_makeitem")
  (#match? @_body "\\b(skip|xfail|skipif|deselect\\w*|pytest_deselected|clear|remove|pop|del)\\b|items\\[")) @runner
(function_definition
  name: (identifier) @_hook
  (#any-of? @_hook "pytest_ignore_collect" "pytest_deselected" "load_tests")) @runner
(function_definition
  name: (identifier) @_hook
  body: (block) @_body
  (#any-of? @_hook "pytest_runtest_protocol" "pytest_pyfunc_call" "pytest_runtest_call" "pytest_runtestloop")
  (#match? @_body "return True|suppress|force_result|except")) @runner
(function_definition
  name: (identifier) @_hook
  body: (block) @_body
  (#match? @_hook "^pytest_")
  (#match? @_body "\\.(outcome|exitstatus|testsfailed|longrepr|wasxfail|failed|passed)\\b[^=\n]*=[^=]|force_result")) @runner
((decorator) @runner (#match? @runner "^@(\\w+\\.)*(flaky|xfail|expectedFailure)\\b"))
((assignment left: (_) @_left) @runner (#match? @_left "^failureException$|config\\.option\\."))
((string_content) @runner (#eq? @runner "PYTEST_ADDOPTS"))
((call function: (identifier) @_run arguments: (argument_list (_) @_code)) @runner
  (#any-of? @_run "exec" "eval")
  (#match? @_code "b64decode|fromhex|unhexlify|decompress"))

; Product code that detects that it is tested, or imports mocks or test code.
((string_content) @differs (#match? @differs "PYTEST_CURRENT_TEST"))
((comparison_operator [(string) (list (string)) (tuple (string)) (set (string))] @_name) @differs (#match? @_name "pytest|unittest"))
((attribute) @differs (#any-of? @differs "sys._getframe" "inspect.stack" "inspect.currentframe" "traceback.extract_stack"))
((import_from_statement module_name: (_) @_module) @borrowed (#match? @_module "^(tests?\\.|unittest\\.mock$)"))
((import_from_statement module_name: (_) @_module name: (_) @_name) @borrowed
  (#eq? @_module "unittest")
  (#eq? @_name "mock"))
((import_statement name: (_) @_module) @borrowed (#match? @_module "^(tests?\\.|unittest\\.mock$)"))
((string_content) @borrowed (#match? @borrowed "^(\\./|\\.\\./)*tests?/"))
