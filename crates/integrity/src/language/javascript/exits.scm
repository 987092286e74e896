; Calls and assignments that end the process or set its exit code, and the test run's with it.
((call_expression function: (member_expression) @_name) @exit
  (#any-of? @_name "process.exit" "process.abort" "process.reallyExit" "Deno.exit"))
((call_expression function: (member_expression) @_name arguments: (arguments . (_) @_pid)) @exit
  (#eq? @_name "process.kill")
  (#eq? @_pid "process.pid"))
((assignment_expression left: (member_expression) @_left) @exit
  (#any-of? @_left "process.exitCode" "process.exit"))
