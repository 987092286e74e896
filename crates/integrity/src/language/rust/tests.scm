; A function with a test attribute.
((attribute_item)* @test.rows
  . (attribute_item (attribute [(identifier) (scoped_identifier)] @_attribute)) @test.rows
  . [(attribute_item) (line_comment) (block_comment)]* @test.rows
  . (function_item name: (identifier) @test.name body: (block) @test.body) @test
  (#match? @_attribute "(^|::)(test|rstest|test_case|wasm_bindgen_test|quickcheck|bolero_test)$"))

; A test among the tokens of a macro call.
(token_tree
  (token_tree) @_mark . "fn" . (identifier) @test.name @test . (token_tree) . (token_tree) @test.body
  (#eq? @_mark "[test]"))
(mod_item name: (identifier) @suite.name) @suite

; Calls that may make tests, and the macros that do.
(mod_item body: (declaration_list (macro_invocation) @test.maker))
(macro_definition) @test.macro

; Code that is only compiled for tests.
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_given))
  . [(attribute_item) (line_comment)]*
  . [(mod_item) (function_item) (impl_item) (use_declaration) (struct_item)] @test.code
  (#eq? @_cfg "cfg")
  (#match? @_given "^\\((all\\()?test\\b"))

; Functions that the test runner does not find: inside another function, or in a macro definition.
(function_item body: (block (function_item) @uncollected))
(macro_definition) @uncollected
