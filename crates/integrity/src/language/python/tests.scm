; The functions and classes that pytest and unittest collect.
(function_definition
  name: (identifier) @test.name
  body: (block) @test.body
  (#match? @test.name "^test")) @test

(decorated_definition
  (decorator) @test.rows
  definition: (function_definition name: (identifier) @test.name body: (block) @test.body) @test
  (#match? @test.name "^test"))

(class_definition name: (identifier) @suite.name) @suite

; A class whose name does not begin with `Test` and that has no test case among its base classes.
(class_definition
  name: (identifier) @_name
  !superclasses
  (#not-match? @_name "^Test")) @uncollected

(class_definition
  name: (identifier) @_name
  superclasses: (argument_list) @_bases
  (#not-match? @_name "^Test")
  (#not-match? @_bases "Test|Case")) @uncollected

; A class with `__test__ = False`, or with a constructor and no base class: pytest does not collect it.
(class_definition
  body: (block (expression_statement (assignment left: (identifier) @_left right: (false))))
  (#eq? @_left "__test__")) @uncollected

(class_definition
  !superclasses
  body: (block (function_definition name: (identifier) @_constructor))
  (#eq? @_constructor "__init__")) @uncollected

; A function inside another function, and a fixture.
(function_definition body: (block (function_definition) @uncollected))
(function_definition body: (block (decorated_definition (function_definition) @uncollected)))

(decorated_definition
  (decorator) @_decorator
  definition: (function_definition) @uncollected
  (#match? @_decorator "fixture"))

; Names that the module deletes, sets to `None` or `False`, or marks with `__test__ = False`.
(module (delete_statement (identifier) @uncollected.name))
(module (delete_statement (expression_list (identifier) @uncollected.name)))
(module (expression_statement (assignment left: (identifier) @uncollected.name right: [(none) (false)])))
(module
  (expression_statement
    (assignment
      left: (attribute object: (identifier) @uncollected.name attribute: (identifier) @_attribute)
      right: (false)))
  (#eq? @_attribute "__test__"))
