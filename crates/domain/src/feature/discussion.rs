//! The comments of people with write access below an issue, from before it was labelled: the newest ones that fit.

use crate::{
    command,
    ids::{Millis, User},
};
use serde::{Deserialize, Serialize};
use text::{markdown, shorten};

/// The most text that is kept, in characters.
pub const MOST_CHARACTERS: usize = 20_000;

/// The shortest form that a comment is cut to, in characters. If there is less room, the comment is left out.
const LEAST_CHARACTERS: usize = 200;

/// The comments below an issue that belong to its snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discussion {
    /// Newest first.
    pub comments: Vec<EarlierComment>,
    /// The fate of the comments before these.
    pub older: OlderComments,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierComment {
    pub by: User,
    /// The time when it was written.
    pub at: Millis,
    /// Its text without commands. Images are replaced by their names.
    pub text: String,
}

/// The fate of the comments before these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OlderComments {
    /// None were left out.
    #[default]
    None,
    /// Some did not fit.
    LeftOut,
}

/// Returns the part of a comment for people: the text before the first command. `None` if there is no such text.
pub fn spoken_text(comment: &str) -> Option<String> {
    let text = markdown::with_named_images(command::text_before_command(comment).trim());
    (!text.is_empty()).then_some(text)
}

impl Discussion {
    /// Adds the next older comment, as far as there is room.
    pub fn add(&mut self, comment: EarlierComment) {
        let taken: usize = self.comments.iter().map(|one| one.text.chars().count()).sum();
        let room = MOST_CHARACTERS.saturating_sub(taken);
        if self.is_full() || room < LEAST_CHARACTERS && comment.text.chars().count() > room {
            self.older = OlderComments::LeftOut;
            return;
        }
        if comment.text.chars().count() > room {
            self.older = OlderComments::LeftOut;
        }
        let text = shorten::middle(&comment.text, room);
        self.comments.push(EarlierComment { text, ..comment });
    }

    /// `true` if older comments do not have to be read any more.
    pub fn is_full(&self) -> bool {
        self.older == OlderComments::LeftOut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::UserId;

    fn comment(text: &str) -> EarlierComment {
        EarlierComment { by: User { id: UserId(1), login: "wendy".to_owned() }, at: Millis(0), text: text.to_owned() }
    }

    fn of(lengths: &[usize]) -> Discussion {
        let mut discussion = Discussion::default();
        for length in lengths {
            discussion.add(comment(&"ü".repeat(*length)));
        }
        discussion
    }

    fn lengths(discussion: &Discussion) -> Vec<usize> {
        let lengths = discussion.comments.iter().map(|one| one.text.chars().count());
        lengths.collect()
    }

    #[test]
    fn the_newest_comments_fill_the_room_and_the_one_that_reaches_over_is_shortened() {
        let all = of(&[5_000, 15_000]);
        assert_eq!((lengths(&all), all.older), (vec![5_000, 15_000], OlderComments::None));
        let shortened = of(&[5_000, 14_000, 5_000, 10]);
        assert_eq!((lengths(&shortened), shortened.older), (vec![5_000, 14_000, 1_000], OlderComments::LeftOut));
        let almost = of(&[19_900, 300, 10]);
        assert_eq!((lengths(&almost), almost.older), (vec![19_900], OlderComments::LeftOut));
        let short = of(&[19_900, 90, 10, 1]);
        assert_eq!((lengths(&short), short.older), (vec![19_900, 90, 10], OlderComments::LeftOut));
        assert_eq!(lengths(&of(&[90_000])), [20_000]);
    }

    #[test]
    fn a_command_is_no_part_of_what_was_said() {
        assert_eq!(spoken_text("/autobuild plan use the parser"), None);
        assert_eq!(spoken_text("We keep the parser.\n\n/autobuild approve\n"), Some("We keep the parser.".to_owned()));
        assert_eq!(spoken_text("`/autobuild` is nice"), Some("`/autobuild` is nice".to_owned()));
        assert_eq!(spoken_text(" \n"), None);
    }
}
