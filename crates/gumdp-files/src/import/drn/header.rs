//! The header of a DRN file.

use super::super::super::document::shortened;
use super::super::super::error::FileError;
use super::super::Text;
use super::piece::{Lines, Piece, id};

/// What stands before the states.
pub(super) struct Header {
    pub(super) reward_models: Vec<String>,
    pub(super) states: Option<u32>,
    /// A field is wrong, which is told already.
    doubtful: bool,
}

impl Header {
    pub(super) fn read(text: &Text, lines: &mut Lines) -> Result<Self, FileError> {
        let mut header = Self { reward_models: Vec::new(), states: None, doubtful: false };
        let (mut typed, mut last) = (false, None);
        while let Some(line) = last.take().or_else(|| lines.next()) {
            let Some(line) = line.uncommented() else { continue };
            if line.content == "@model" {
                if !typed && !header.doubtful {
                    let error = text.error(line.offset, "the field \"@type\" is missing; it must be MDP or DTMC");
                    text.accept::<()>(Err(error))?;
                }
                return Ok(header);
            }
            if !line.content.starts_with('@') {
                let message = format!("\"{}\" stands before \"@model\"", shortened(line.content));
                return Err(text.error(line.offset, message).hint("the header consists of fields that begin with @"));
            }
            let name_end = line.content.find([':', ' ', '\t']).unwrap_or(line.content.len());
            let name = line.until(name_end);
            let mut value = line.from(name_end);
            value = value.content.strip_prefix(':').map_or(value, |_| value.from(1));
            if value.content.is_empty() {
                // The value is on the next line, which may be empty.
                match lines.next() {
                    Some(next) if next.content.starts_with('@') => last = Some(next),
                    Some(next) => value = next.uncommented().unwrap_or(next.until(0)),
                    None => {}
                }
            }
            if text.accept(header.field(text, name, value, &mut typed))?.is_none() {
                header.doubtful = true;
            }
        }
        let end = text.error(text.content.len(), "the line \"@model\" is missing");
        Err(end.hint("a DRN file has a header, a line \"@model\", and then its states"))
    }

    fn field(&mut self, text: &Text, name: Piece, value: Piece, typed: &mut bool) -> Result<(), FileError> {
        match name.content {
            "@type" => {
                *typed = true;
                if !["mdp", "dtmc"].contains(&value.content.to_lowercase().as_str()) {
                    let message = format!("@type is \"{}\"; it must be MDP or DTMC", shortened(value.content));
                    return Err(text.error(value.offset, message));
                }
            }
            "@parameters" | "@placeholders" if !value.content.is_empty() => {
                let (name, value_text) = (name.content, shortened(value.content));
                let message = format!("{name} is \"{value_text}\"; it must be empty: every value must be a number");
                return Err(text
                    .error(value.offset, message)
                    .hint("let Storm fill the parameters in before exporting"));
            }
            "@reward_models" => {
                let mut rest = value;
                while !rest.content.is_empty() {
                    let (word, next) = rest.word();
                    rest = next;
                    if self.reward_models.iter().any(|name| name == word.content) {
                        let message = format!("the reward model \"{}\" is given twice", shortened(word.content));
                        text.accept::<()>(Err(text.error(word.offset, message)))?;
                    }
                    self.reward_models.push(word.content.to_owned());
                }
            }
            "@nr_states" => self.states = Some(id(text, value, "@nr_states")?),
            _ => {}
        }
        Ok(())
    }
}
