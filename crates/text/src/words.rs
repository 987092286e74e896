//! Gives each variant of an enum without data a fixed word, as it appears in texts, tables and the database.

/// The error for a text that is none of the known words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not known; known are {known}")]
pub struct UnknownWord {
    /// The text.
    pub given: String,
    /// The known words, separated by commas.
    pub known: String,
}

/// Defines an enum with its words, or only the words of an enum, with functions to write and to read them.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $variant),*
        }

        $crate::words!($name { $($variant = $word),* });
    };
    ($name:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $name {
            /// All variants, in order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let unknown = || $crate::words::UnknownWord {
                    given: text.to_owned(),
                    known: [$($word),*].join(", "),
                };
                Self::ALL.into_iter().find(|known| known.word() == text).ok_or_else(unknown)
            }
        }
    };
}

/// Stores a type as the text that `Display` writes and `FromStr` reads.
#[macro_export]
macro_rules! stored_as_text {
    ($name:ident, $error:ty) => {
        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    };
}
