; Functions, and those that only give a value which is written out.
(function_item name: (identifier) @function.name body: (block) @function.body) @function
(function_item
  body: (block
    . (let_declaration pattern: "_")*
    . (line_comment)*
    . (_) @function.value .)) @function

(impl_item type: (_) @class.name) @class

; Methods that a trait asks for, and what is compiled on a condition.
(trait_item) @abstract
(impl_item trait: (_)) @abstract
((attribute_item (attribute (identifier) @_cfg)) . (function_item) @abstract (#eq? @_cfg "cfg"))

; What else the file defines.
(struct_item name: (_) @definition)
(enum_item name: (_) @definition)
(trait_item name: (_) @definition)
(const_item name: (_) @definition)
(static_item name: (_) @definition)
(type_item name: (_) @definition)
(macro_definition name: (_) @definition)
