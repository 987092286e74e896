; What ends the process, and the tests with it. `TestMain` ends with the code of the tests.
((call_expression
   function: (selector_expression) @_name
   arguments: (argument_list . (int_literal) .)) @exit
  (#any-of? @_name "os.Exit" "syscall.Exit"))
