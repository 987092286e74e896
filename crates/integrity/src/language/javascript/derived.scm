; The base class of each class.
([(class_declaration (class_heritage (identifier) @class.base)) (class (class_heritage (identifier) @class.base))] @class)
