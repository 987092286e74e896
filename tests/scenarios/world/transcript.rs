//! What happened, as a text that is the same at every run: ids, shas, ports and times are masked.

use super::World;

impl World {
    /// Everything that happened, one line each; for a story that failed.
    pub fn happenings(&self) -> String {
        let events = self.forge.events();
        let lines = events.iter().map(|event| {
            let number = event.number.map(|number| format!(" #{number}")).unwrap_or_default();
            let text: String = event.text.chars().take(4000).collect();
            let text = text.replace('\n', "\n    ");
            format!("{} {} {}{number}\n    {text}", event.actor, event.kind, event.what)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}
