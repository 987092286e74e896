; Redefined test tools: `expect`, `it`, `assert` and so on, module loading, or a local file named like a test library.
(program
  [(function_declaration name: (_) @_name) @shadow
   (lexical_declaration
     (variable_declarator
       name: (identifier) @_name
       value: [(arrow_function) (function_expression) (object) (class) (new_expression)]) @shadow)
   (variable_declaration
     (variable_declarator
       name: (identifier) @_name
       value: [(arrow_function) (function_expression) (object) (new_expression)]) @shadow)]
  (#any-of? @_name "expect" "it" "test" "describe" "assert"))
((assignment_expression
   left: [(member_expression) (subscript_expression)] @_left
   right: [(arrow_function) (function_expression) (object)]) @shadow
  (#match? @_left "^((global|globalThis|window)\\.(expect|it|test|describe|assert)$|(assert|expect)[.\\[]|require\\(.(node:)?(assert|chai|expect))"))
((assignment_expression left: (member_expression) @_left) @shadow
  (#match? @_left "odule.*(\\._load|\\._resolveFilename|\\.prototype\\.require|\\._extensions)"))
((call_expression function: (member_expression) @_extend arguments: (arguments (object (_) @_matcher))) @shadow
  (#eq? @_extend "expect.extend")
  (#match? @_matcher "^(async )?(toBe|toEqual|toStrictEqual|toMatchObject|toThrow|toContain|toHaveLength|toMatch)\\b"))
((import_statement source: (string) @_from) @shadow
  (#match? @_from "^.\\.(.*/)?(assert|vitest|jest|chai|mocha|expect|node-test|globals)(\\.\\w+)?.$"))
((call_expression function: (identifier) @_require arguments: (arguments . (string) @_from)) @shadow
  (#eq? @_require "require")
  (#match? @_from "^.\\.(.*/)?(assert|vitest|jest|chai|mocha|expect|node-test|globals)(\\.\\w+)?.$"))

; Tests that are retried until they pass.
((call_expression function: (member_expression) @_name arguments: (arguments (number) @_times)) @runner
  (#any-of? @_name "jest.retryTimes" "this.retries")
  (#not-eq? @_times "0"))
((call_expression
   function: [(identifier) (member_expression)] @_name
   arguments: (arguments (object (pair key: (_) @_key value: (number) @_times)))) @runner
  (#match? @_name "^(it|test|describe|vi\\.setConfig)\\b")
  (#any-of? @_key "retry" "retries")
  (#not-eq? @_times "0"))

; Product code that detects that it is tested, or reads the tests' files.
((member_expression property: (_) @_name) @differs
  (#any-of? @_name "JEST_WORKER_ID" "VITEST" "VITEST_WORKER_ID" "NODE_TEST_CONTEXT" "VITEST_POOL_ID" "npm_lifecycle_event"))
((binary_expression) @differs
  (#match? @differs "NODE_ENV.*[\"']test|typeof (describe|it|jest|vi|expect)\\b"))
((member_expression object: (_) @_object property: (_) @_name) @differs
  (#match? @_object "^\\(?new Error\\b")
  (#eq? @_name "stack"))
((string_fragment) @borrowed (#match? @borrowed "^(\\./|\\.\\./)+(tests?|__tests__|spec)/"))
