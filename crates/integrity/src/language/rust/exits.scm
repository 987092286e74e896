; Calls that end the process, and the test run with it.
((call_expression function: [(identifier) (scoped_identifier)] @_name) @exit
  (#match? @_name "^((std::)?process::(exit|abort)|libc::_?exit|exit)$"))
