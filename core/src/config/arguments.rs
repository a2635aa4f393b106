//! Text that chooses a kind and gives its arguments: `FEC(10/12, interleave 8)`.

use super::{Registry, Row};

/// `NAME` or `NAME(argument, ...)`: the kind of this name, and the arguments.
pub(crate) fn called<R: Row>(text: &str) -> Result<(&'static R, Arguments<'_>), String> {
    let (name, parts) = match text.trim().split_once('(') {
        None => (text, Vec::new()),
        Some((name, rest)) => {
            let inside = rest.strip_suffix(')').ok_or("the closing parenthesis is missing")?;
            (name, inside.split(',').map(str::trim).collect())
        }
    };
    let kind = Registry::current().named(name.trim());
    let kind = kind.ok_or_else(|| format!("unknown {}", R::PART.trim_start_matches("a ")))?;
    Ok((kind, Arguments { parts }))
}

/// The texts as prose: "a, b or c", each between `quotes`.
pub(crate) fn one_of<'a>(texts: impl Iterator<Item = &'a str>, quotes: &str) -> String {
    let texts: Vec<String> = texts.map(|text| format!("{quotes}{text}{quotes}")).collect();
    match texts.split_last() {
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Arguments in parentheses behind the name of a kind, separated by commas. Each function takes
/// its part; [`Arguments::options`] and [`Arguments::end`] refuse all others.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    parts: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    /// All of them, as they are written.
    pub fn all(self) -> Vec<&'a str> {
        self.parts
    }

    /// The next argument.
    ///
    /// # Errors
    /// If there is none: that `what` is missing.
    pub fn next(&mut self, what: &str) -> Result<&'a str, String> {
        if self.parts.is_empty() {
            return Err(format!("{what} is missing"));
        }
        Ok(self.parts.remove(0))
    }

    /// The next argument, a whole number.
    ///
    /// # Errors
    /// If there is none: that `what` is missing; or if it is not a whole number.
    pub fn number(&mut self, what: &str) -> Result<u32, String> {
        number(self.next(what)?)
    }

    /// The value of the option `name`, such as "rounds 2", wherever it stands.
    ///
    /// # Errors
    /// If it is there twice or without a value, or `read` refuses the value.
    pub fn option<T>(
        &mut self,
        name: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let is_it = |part: &&str| {
            part.split_whitespace().next().is_some_and(|known| known.eq_ignore_ascii_case(name))
        };
        let Some(place) = self.parts.iter().position(is_it) else { return Ok(None) };
        let value = self.parts.remove(place)[name.len()..].trim();
        match value {
            _ if self.parts.iter().any(is_it) => Err(format!("`{name}` is there twice")),
            "" => Err(format!("`{name}` has no value")),
            _ => read(value).map(Some),
        }
    }

    /// The values of the options `names`, whole numbers, and no more arguments.
    ///
    /// # Errors
    /// If anything else is there, an option is there twice, or a value is not a whole number.
    pub fn options<const N: usize>(mut self, names: [&str; N]) -> Result<[Option<u32>; N], String> {
        let mut values = [None; N];
        for (value, name) in values.iter_mut().zip(names) {
            *value = self.option(name, number)?;
        }
        self.end().map(|()| values)
    }

    /// No more arguments.
    ///
    /// # Errors
    /// If there is one.
    pub fn end(self) -> Result<(), String> {
        match self.parts.first() {
            None => Ok(()),
            Some(argument) => Err(format!("`{argument}` means nothing here")),
        }
    }
}

/// A whole number.
pub(crate) fn number(text: &str) -> Result<u32, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 to {}", u32::MAX))
}
