; Functions that `go test` calls.
(function_declaration
  name: (identifier) @test.name
  parameters: (parameter_list (parameter_declaration type: (pointer_type (qualified_type name: (type_identifier) @_type))))
  body: (block) @test.body
  (#match? @test.name "^(Test|Fuzz)([^a-z]|$)")
  (#match? @_type "^[TF]$")) @test

; `t.Run("…", func(t *testing.T) {…})`, and methods of testify suites.
(call_expression
  function: (selector_expression field: (field_identifier) @_run)
  arguments: (argument_list . (_) @test.name . (func_literal body: (block) @test.body) .)
  (#eq? @_run "Run")) @test
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @suite.name))
  name: (field_identifier) @test.name
  body: (block) @test.body
  (#match? @test.name "^Test")
  (#match? @suite.name "Suite$")) @test
