; Functions. `@function.value`: the value of the body, if the body is nothing else.
(function_item name: (identifier) @function.name body: (block) @function.body) @function
(function_item
  body: (block
    . (let_declaration pattern: "_")*
    . (line_comment)*
    . (_) @function.value .)) @function

(impl_item type: (_) @class.name) @class

; Traits, trait implementations, and functions compiled under `#[cfg]`.
(trait_item) @abstract
(impl_item trait: (_)) @abstract
((attribute_item (attribute (identifier) @_cfg)) . (function_item) @abstract (#eq? @_cfg "cfg"))

; The file's other definitions.
(struct_item name: (_) @definition)
(enum_item name: (_) @definition)
(trait_item name: (_) @definition)
(const_item name: (_) @definition)
(static_item name: (_) @definition)
(type_item name: (_) @definition)
(macro_definition name: (_) @definition)
