; The base class of each class.
([(class_declaration (class_heritage (identifier) @class.base)) (class (class_heritage (identifier) @class.base))] @class)

; The fields of a class: declared, or set by its constructor.
(class_declaration body: (class_body (field_definition property: (_) @class.field))) @class
