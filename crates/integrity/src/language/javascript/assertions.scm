; `expect(…).toBe(…)`: the whole chain, and both sides of an equality.
((call_expression function: (member_expression) @_chain) @assertion
  (#match? @_chain "^expect(\\.soft)?\\((\\n|.)*\\)(\\.\\w+)+$"))
((expression_statement (member_expression) @assertion)
  (#match? @assertion "^expect\\((\\n|.)*\\)\\.(to|be|is|have|not)\\b"))
((call_expression
   function: (member_expression
     object: (call_expression function: (_) @_expect arguments: (arguments . (_) @assertion.actual))
     property: (_) @_matcher)
   arguments: (arguments . (_) @assertion.expected .)) @assertion
  (#match? @_expect "^expect(\\.soft)?$")
  (#any-of? @_matcher "toBe" "toEqual" "toStrictEqual" "toMatchObject"))
((call_expression
   function: (member_expression
     object: (member_expression
       object: (call_expression function: (_) @_expect arguments: (arguments . (_) @assertion.actual)))
     property: (_) @_matcher)
   arguments: (arguments . (_) @assertion.expected)) @assertion
  (#eq? @_expect "expect")
  (#any-of? @_matcher "equal" "equals" "eql" "eq" "toBe" "toEqual" "toStrictEqual"))

; Matchers that only check existence, type or size, and negated ones. Then assertions that cannot fail:
; `expect(true).toBe(true)`, and `expect(x)` without a matcher.
((call_expression function: (member_expression property: (_) @_matcher) @_chain) @assertion @assertion.weak
  (#match? @_chain "^expect\\(")
  (#any-of? @_matcher
    "toBeDefined" "toBeTruthy" "toBeInstanceOf" "toBeTypeOf" "ok" "exist" "a" "an" "instanceOf" "instanceof"
    "toHaveBeenCalled" "called" "toBeGreaterThan" "toBeGreaterThanOrEqual" "toBeLessThan" "toBeLessThanOrEqual"
    "above" "below" "least" "most"))
((call_expression function: (member_expression object: (_) @_object) @_chain) @assertion @assertion.weak
  (#match? @_chain "^expect\\(")
  (#match? @_object "\\.not$"))
((call_expression function: (member_expression property: (_) @_matcher) @_chain arguments: (arguments) @_given)
  @assertion @assertion.weak
  (#match? @_chain "^expect\\(")
  (#any-of? @_matcher "toThrow" "toThrowError" "throw" "throws")
  (#match? @_given "^\\(\\s*\\)$"))
((call_expression function: (member_expression property: (_) @_matcher) @_chain arguments: (arguments) @_given)
  @assertion @assertion.weak
  (#match? @_chain "^expect\\(")
  (#any-of? @_matcher "toEqual" "toStrictEqual" "toMatchObject")
  (#match? @_given "^\\(\\s*\\{?(\\s*(\\w+:\\s*)?expect\\.any(thing)?\\(\\w*\\),?)+\\s*\\}?\\s*\\)$"))
((call_expression
   function: (member_expression
     object: (call_expression
       function: (_) @_expect
       arguments: (arguments . [(true) (false) (number) (string) (null)])))
   arguments: (arguments . [(true) (false) (number) (string) (null)] .)?) @assertion @assertion.trivial
  (#eq? @_expect "expect"))

(expression_statement
  (call_expression function: (identifier) @_expect arguments: (arguments . (_) .)) @assertion @assertion.trivial
  (#eq? @_expect "expect"))

; `assert` of Node and chai, the assertions of `t`, and statements that only fail the test.
((call_expression
   function: [(identifier) (member_expression)] @_name
   arguments: (arguments . (_) @assertion.condition)) @assertion
  (#match? @_name "^(assert|assert\\.ok|assert\\.strict|t\\.(ok|true|truthy)|assert\\.isTrue|assert\\.isOk|t\\.assert\\.ok)$"))
((call_expression
   function: (member_expression object: (_) @_object property: (_) @_name)
   arguments: (arguments . (_) @assertion.actual . (_) @assertion.expected)) @assertion
  (#match? @_object "^(assert|assert\\.strict|t|t\\.assert|chai\\.assert)$")
  (#any-of? @_name "equal" "strictEqual" "deepEqual" "deepStrictEqual" "is" "same"))
((call_expression function: (member_expression object: (_) @_object property: (_) @_name)) @assertion
  (#match? @_object "^(assert|assert\\.strict|t|t\\.assert|chai\\.assert|sinon\\.assert)$")
  (#not-any-of? @_name
    "fail" "test" "skip" "todo" "plan" "end" "comment" "teardown" "log" "diagnostic" "after" "before" "mock" "context"
    "pass" "timeout" "afterEach" "beforeEach" "it" "describe" "runOnly" "name" "signal"))
((call_expression function: (member_expression object: (_) @_object property: (_) @_name)) @assertion @assertion.weak
  (#match? @_object "^(assert|assert\\.strict|t|t\\.assert)$")
  (#any-of? @_name
    "notEqual" "notStrictEqual" "notDeepEqual" "notDeepStrictEqual" "not" "exists" "isDefined" "doesNotThrow"))
((call_expression function: (member_expression) @_name) @assertion @assertion.guard
  (#match? @_name "^(assert|t)\\.fail$"))
(throw_statement) @assertion @assertion.guard

; The same, imported by name.
((call_expression
   function: (identifier) @_name
   arguments: (arguments . (_) @assertion.actual . (_) @assertion.expected)) @assertion
  (#any-of? @_name "equal" "strictEqual" "deepEqual" "deepStrictEqual"))
((call_expression function: (identifier) @_name) @assertion (#any-of? @_name "throws" "rejects"))

; Functions whose name begins like an assertion, and `should` chains.
((call_expression function: (identifier) @_name) @assertion (#match? @_name "^(assert|expect|check|verify)[A-Z]"))
((call_expression function: (member_expression) @_name) @assertion (#match? @_name "\\.(expect|should)\\b"))
((expression_statement (member_expression) @assertion) (#match? @assertion "\\.should\\."))

; Assertions of a promise that nobody waits for.
((expression_statement (call_expression function: (member_expression property: (_) @_name)) @assertion @assertion.trivial)
  (#any-of? @_name "rejects" "doesNotReject"))
((expression_statement (call_expression function: (member_expression) @_chain) @assertion @assertion.trivial)
  (#match? @_chain "^expect\\((\\n|.)*\\)\\.(resolves|rejects)\\."))
