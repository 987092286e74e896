; `it("…", () => {…})`, also with `.skip`, and with options in between. Without a function, only what runners call so: a
; variable may be called `test` as well.
(call_expression
  function: [(identifier) (member_expression)] @_name
  arguments: (arguments . [(string) (template_string) (identifier) (binary_expression)] @test.name)
  (#match? @_name "^(it|test|specify|xit|xtest|fit|xspecify|t\\.test|Deno\\.test)(\\.(skip|todo|only|failing|fails|concurrent|serial|sequential))*$")) @test
(call_expression
  function: [(identifier) (member_expression)] @_name
  arguments: (arguments
    . (_) @test.name
    [(arrow_function body: (_) @test.body) (function_expression body: (_) @test.body)] .)
  (#match? @_name "^(it|test|specify|xit|xtest|fit|xspecify|t\\.test|Deno\\.test)(\\.|$)")
  (#not-match? @_name "\\.(step|extend|use|describe|beforeEach|afterEach|beforeAll|afterAll|before|after|mock(\\.\\w+)*)$")) @test

; Tests with rows or under a condition: `it.each([…])("…", …)`, `it.skipIf(…)("…", …)`.
(call_expression
  function: (call_expression function: (member_expression) @_name) @test.rows
  arguments: (arguments
    . (_) @test.name
    [(arrow_function body: (_) @test.body) (function_expression body: (_) @test.body)])
  (#match? @_name "^(it|test|specify)\\.")) @test

; Suites.
(call_expression
  function: [(identifier) (member_expression) (call_expression)] @_name
  arguments: (arguments . (_) @suite.name)
  (#match? @_name "^(describe|context|suite|xdescribe|fdescribe|xcontext|xsuite|test\\.describe)\\b")) @suite

; Tests in a loop over an empty list, or under a condition that is never true.
(for_in_statement right: (array) @_list (#match? @_list "^\\[\\s*\\]$")) @uncollected
(if_statement condition: (parenthesized_expression [(false) (number)] @_never) (#match? @_never "^(false|0)$")) @uncollected
