; `#[ignore]`, and tests that are compiled on a condition.
((attribute_item (attribute (identifier) @_name)) @skip (#eq? @_name "ignore"))
((attribute_item (attribute (identifier) @_name arguments: (token_tree) @_given)) @skip.conditional
  (#eq? @_name "cfg_attr")
  (#match? @_given "\\bignore\\b"))
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_given)) @skip.conditional
  . (attribute_item (attribute [(identifier) (scoped_identifier)] @_test))
  (#eq? @_cfg "cfg")
  (#not-eq? @_given "(test)")
  (#match? @_test "(^|::)test$"))
((attribute_item (attribute [(identifier) (scoped_identifier)] @_test))
  . (attribute_item (attribute (identifier) @_cfg)) @skip.conditional
  (#eq? @_cfg "cfg")
  (#match? @_test "(^|::)test$"))
((inner_attribute_item (attribute (identifier) @_cfg)) @skip.conditional (#eq? @_cfg "cfg"))

; Modules that are compiled on a condition.
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_given)) @condition
  (#eq? @_cfg "cfg")
  (#not-eq? @_given "(test)"))

; Code that is never compiled, such as `#[cfg(any())]`.
((attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @_given)) @skip
  (#eq? @_cfg "cfg")
  (#match? @_given "^\\((any\\(\\)|all\\(test, *any\\(\\)\\)|false)\\)$"))
