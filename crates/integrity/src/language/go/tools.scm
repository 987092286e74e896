; A `TestMain` that does not run the tests.
((function_declaration
   name: (identifier) @_name
   body: (block) @_body) @runner
  (#eq? @_name "TestMain")
  (#not-match? @_body "\\.Run\\(\\)|goleak|VerifyTestMain"))

; Product code that detects that it is tested, or imports mocks.
((call_expression function: (selector_expression) @_name) @differs
  (#any-of? @_name "testing.Testing" "runtime.Caller" "runtime.Callers"))
((import_spec path: (_) @_path) @borrowed (#match? @_path "testify/mock|golang/mock/gomock|/mocks\"$"))
