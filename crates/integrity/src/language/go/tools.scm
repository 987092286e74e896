; Another program in the place of the one that runs tests.
((function_declaration
   name: (identifier) @_name
   body: (block) @_body) @runner
  (#eq? @_name "TestMain")
  (#not-match? @_body "\\.Run\\(\\)|goleak|VerifyTestMain"))

; Code that knows that it is tested, or is made of the tools of tests.
((call_expression function: (selector_expression) @_name) @differs (#eq? @_name "testing.Testing"))
((import_spec path: (_) @_path) @borrowed (#match? @_path "testify/mock|golang/mock/gomock|/mocks\"$"))
