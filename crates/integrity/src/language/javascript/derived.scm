; What a class is derived from.
([(class_declaration (class_heritage (identifier) @class.base)) (class (class_heritage (identifier) @class.base))] @class)
