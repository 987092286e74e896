; Functions that `go test` calls.
(function_declaration
  name: (identifier) @test.name
  parameters: (parameter_list (parameter_declaration type: (pointer_type (qualified_type name: (type_identifier) @_type))))
  body: (block) @test.body
  (#match? @test.name "^(Test|Fuzz)([^a-z]|$)")
  (#match? @_type "^[TF]$")) @test

; `t.Run("…", func(t *testing.T) {…})` but not of a benchmark, and methods of testify suites.
(call_expression
  function: (selector_expression operand: (_) @_of field: (field_identifier) @_run)
  arguments: (argument_list . (_) @test.name . (func_literal body: (block) @test.body) .)
  (#eq? @_run "Run")
  (#not-eq? @_of "b")) @test
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @suite.name))
  name: (field_identifier) @test.name
  body: (block) @test.body
  (#match? @test.name "^Test")
  (#match? @suite.name "Suite$")) @test
