; `if got != want { t.Errorf(…) }`
((if_statement
   condition: (_) @assertion.condition
   consequence: (block (statement_list (expression_statement (call_expression function: (selector_expression field: (_) @_name))))))
  @assertion
  (#any-of? @_name "Error" "Errorf" "Fatal" "Fatalf" "Fail" "FailNow"))
((if_statement
   condition: (binary_expression left: (_) @assertion.actual operator: "!=" right: (_) @assertion.expected)
   consequence: (block (statement_list (expression_statement (call_expression function: (selector_expression field: (_) @_name))))))
  @assertion
  (#any-of? @_name "Error" "Errorf" "Fatal" "Fatalf" "Fail" "FailNow"))
((if_statement
   condition: (binary_expression right: (nil))
   consequence: (block (statement_list (expression_statement (call_expression function: (selector_expression field: (_) @_name))))))
  @assertion @assertion.weak
  (#any-of? @_name "Error" "Errorf" "Fatal" "Fatalf" "Fail" "FailNow"))

; A call that only fails the test.
((call_expression
   function: (selector_expression operand: (identifier) @_t field: (_) @_name)) @assertion @assertion.guard
  (#match? @_t "^(t|tb|b|f|c)$")
  (#any-of? @_name "Error" "Errorf" "Fatal" "Fatalf" "Fail" "FailNow"))

; Assertions of testify.
((call_expression function: (selector_expression operand: (_) @_of field: (_) @_name)) @assertion
  (#match? @_of "^(assert|require|is|s|suite|s\\.Assert\\(\\)|s\\.Require\\(\\))$")
  (#match? @_name "^(Equal|Not|Nil|Error|True|False|Contains|Len|Panics|Greater|Less|Zero|Empty|ErrorIs|JSONEq|ElementsMatch|Same|Implements|IsType|Regexp|InDelta)"))
((call_expression
   function: (selector_expression operand: (_) @_of field: (_) @_name)
   arguments: (argument_list . (_) . (_) @assertion.actual . (_) @assertion.expected)) @assertion
  (#match? @_of "^(assert|require)$")
  (#any-of? @_name "Equal" "Equalf" "EqualValues" "Same" "JSONEq"))
((call_expression
   function: (selector_expression operand: (_) @_of field: (_) @_name)
   arguments: (argument_list . (_) . (_) @assertion.condition)) @assertion
  (#match? @_of "^(assert|require)$")
  (#any-of? @_name "True" "Truef"))
((call_expression function: (selector_expression operand: (_) @_of field: (_) @_name)) @assertion @assertion.weak
  (#match? @_of "^(assert|require)$")
  (#any-of? @_name "NoError" "NoErrorf" "NotNil" "NotEmpty" "NotZero" "Greater" "Less" "IsType" "Implements" "NotEqual"))

; Functions whose name begins like an assertion.
((call_expression function: (identifier) @_name) @assertion (#match? @_name "^(assert|check|verify|expect|require|must)[A-Z]"))

; Statements that hand the test on to a helper.
(expression_statement
  (call_expression arguments: (argument_list (identifier) @_t)) @assertion
  (#any-of? @_t "t" "tb"))
