//! Arguments in parentheses after the name of a part, by the names of its parameters.

use clift::config::Parameter;

use super::{Given, leaked};

/// The parameters of a part, in order, and whether each is required.
#[derive(Debug)]
pub(super) struct Signature(Vec<(&'static str, bool)>);

impl Signature {
    pub(super) fn new(parameters: Vec<(String, bool)>) -> Self {
        Self(parameters.iter().map(|(name, needed)| (leaked(name), *needed)).collect())
    }

    /// The names.
    pub(super) fn names(&self) -> &'static [&'static str] {
        Box::leak(self.0.iter().map(|(name, _)| *name).collect())
    }

    /// The required arguments, as written after the name; empty if there are none.
    pub(super) fn shown(&self) -> String {
        let needed: Vec<_> = self.0.iter().filter(|(_, needed)| *needed).map(|it| it.0).collect();
        if needed.is_empty() { String::new() } else { format!("({})", needed.join(", ")) }
    }

    /// Whether the part has parameters.
    pub(super) fn takes_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Binds arguments to parameters: each is a value for the next parameter, or a name and its
    /// value.
    pub(super) fn bind(&self, arguments: &[&str]) -> Result<Given, String> {
        let mut given: Given = Vec::new();
        for (place, argument) in arguments.iter().enumerate() {
            let known = |name: &str| {
                self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|it| it.0)
            };
            // A letter first and then a blank means a name and a value: "times 3", but not "6 ms".
            let named = argument.split_once(char::is_whitespace);
            let named = named.filter(|(name, _)| !name.starts_with(|c: char| !c.is_alphabetic()));
            let (name, value) = match (named, self.0.get(place)) {
                (Some((name, value)), _) => match known(name) {
                    Some(name) => (name, value.trim()),
                    None => {
                        return Err(format!("`{argument}` means nothing here; {}", self.known()));
                    }
                },
                (None, Some((name, _))) if !argument.is_empty() => (*name, *argument),
                _ => return Err(format!("`{argument}` means nothing here; {}", self.known())),
            };
            if given.iter().any(|(other, _)| *other == name) {
                return Err(format!("`{name}` is there twice"));
            }
            given.push((name, value_of(value)));
        }
        self.check(&given)?;
        Ok(given)
    }

    /// Checks that no required argument is missing.
    pub(super) fn check(&self, given: &Given) -> Result<(), String> {
        let is_given = |name: &str| given.iter().any(|(other, _)| *other == name);
        match self.0.iter().find(|(name, needed)| *needed && !is_given(name)) {
            Some((name, _)) => Err(format!("`{name}` is missing; {}", self.known())),
            None => Ok(()),
        }
    }

    fn known(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|(name, _)| *name).collect();
        match names.is_empty() {
            true => "it has no parameters".to_owned(),
            false => format!("its parameters are {}", names.join(", ")),
        }
    }
}

/// Parses a number, true or false; anything else is text.
fn value_of(text: &str) -> Parameter {
    let number = || text.parse().ok().filter(|number: &f64| number.is_finite());
    match text {
        "true" => Parameter::Bool(true),
        "false" => Parameter::Bool(false),
        _ => match (text.parse(), number()) {
            (Ok(whole), _) => Parameter::Integer(whole),
            (_, Some(number)) => Parameter::Float(number),
            _ => Parameter::Text(text.to_owned()),
        },
    }
}
