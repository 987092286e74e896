; `assert`.
(assert_statement . (_) @assertion.condition) @assertion

; A tuple is always true.
((assert_statement . (tuple)) @assertion @assertion.trivial)

; Assertions of unittest.
(call
  function: (attribute attribute: (identifier) @_name)
  arguments: (argument_list . (_) @assertion.condition)
  (#any-of? @_name "assertTrue" "assertIsNotNone")) @assertion

(call
  function: (attribute attribute: (identifier) @_name)
  arguments: (argument_list . (_) @assertion.actual . (_) @assertion.expected)
  (#any-of? @_name "assertEqual" "assertEquals" "assertIs" "assertListEqual" "assertDictEqual" "assertAlmostEqual")) @assertion

(call
  function: (attribute attribute: (identifier) @_name)
  (#any-of? @_name
    "assertIsNotNone" "assertNotEqual" "assertIsInstance" "assertIsNot" "assertGreater" "assertGreaterEqual"
    "assertLess" "assertLessEqual" "assert_called")) @assertion @assertion.weak

; Calls whose name begins like an assertion, and statements that only fail the test.
(call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]
  (#match? @_name "^(assert|check_|verify_|expect_|raises$|warns$|deprecated_call$|RaisesGroup$)")) @assertion

(call
  function: (attribute) @_name
  (#any-of? @_name "pytest.fail" "self.fail")) @assertion @assertion.guard

(raise_statement (_) @_raised (#match? @_raised "^AssertionError")) @assertion @assertion.guard

; `raises(Exception)`: every error passes.
(call
  function: [(identifier) @_name (attribute attribute: (identifier) @_name)]
  arguments: (argument_list . (identifier) @_error)
  (#any-of? @_name "raises" "assertRaises")
  (#any-of? @_error "Exception" "BaseException")) @assertion @assertion.weak

; A `with raises(…)` block that raises the error itself.
(with_statement
  (with_clause (with_item value: (call function: (_) @_name) @assertion @assertion.trivial))
  body: (block (raise_statement))
  (#match? @_name "raises$|assertRaises$"))

; `assertTrue(value, expected)`: the expected value is only the message.
((call
   function: (attribute attribute: (identifier) @_name)
   arguments: (argument_list (_) . [(integer) (float) (list) (dictionary) (tuple) (true) (false) (none)])) @assertion @assertion.weak
  (#any-of? @_name "assertTrue" "assertFalse"))
