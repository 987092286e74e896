; Calls that end the process, and the test run with it. `TestMain` passes the tests' own code, which is no literal.
((call_expression
   function: (selector_expression) @_name
   arguments: (argument_list . (int_literal) .)) @exit
  (#any-of? @_name "os.Exit" "syscall.Exit"))
