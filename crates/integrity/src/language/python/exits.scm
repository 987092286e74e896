; Calls that end the process, and the test run with it.
((call function: (_) @_name) @exit (#eq? @_name "pytest.exit"))
([(function_definition body: (block (expression_statement (call function: (_) @_name) @exit)))
  (module (expression_statement (call function: (_) @_name) @exit))
  (finally_clause (block (expression_statement (call function: (_) @_name) @exit)))
  (with_statement body: (block (expression_statement (call function: (_) @_name) @exit)))]
  (#any-of? @_name "os._exit" "_exit" "os.abort"))
((call function: (_) @_name arguments: (argument_list (_) @_given)) @exit
  (#match? @_name "atexit\\.register$")
  (#match? @_given "os\\._exit|os\\.abort"))
(function_definition
  name: (identifier) @_function
  body: (block (expression_statement (call function: (_) @_name) @exit))
  (#any-of? @_name "sys.exit" "exit" "quit")
  (#match? @_function "^(test|pytest_|set_?[uU]p|tear_?[dD]own)"))
(module (expression_statement (call function: (_) @_name) @exit)
  (#any-of? @_name "sys.exit" "exit" "quit"))
(function_definition
  name: (identifier) @_function
  body: (block (raise_statement (_) @_raised) @exit)
  (#match? @_raised "^SystemExit")
  (#match? @_function "^(test|pytest_)"))
