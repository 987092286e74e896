//! Chooses two values of a Rust type, as different as the type allows.

/// The deepest nesting of types.
const DEEPEST: usize = 8;

/// The value for an unknown type: the caller panics.
const NONE: &str = "panic!(\"hollow\")";

/// Returns two values of a written type.
pub(super) fn answers(written: &str) -> [String; 2] {
    values_of_type(written, DEEPEST).unwrap_or_else(|| pair(NONE, NONE))
}

fn pair(first: &str, second: &str) -> [String; 2] {
    [first.to_owned(), second.to_owned()]
}

fn values_of_type(written: &str, depth: usize) -> Option<[String; 2]> {
    let depth = depth.checked_sub(1)?;
    let written = written.trim();
    let plain = match written {
        "" | "()" => pair("()", "()"),
        "bool" => pair("false", "true"),
        "char" => pair("'\\0'", "'h'"),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => pair("0", "113"),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => pair("113", "-113"),
        "f32" | "f64" => pair("113.0", "-113.0"),
        "String" | "std::string::String" => pair("String::new()", "String::from(\"hollow\")"),
        "fmt::Result" | "std::fmt::Result" | "core::fmt::Result" => pair("Ok(())", "Err(std::fmt::Error)"),
        text if text.starts_with('&') && !text.contains("mut ") && text.ends_with("str") => pair("\"\"", "\"hollow\""),
        _ => return values_of_composed(written, depth),
    };
    Some(plain)
}

/// Returns two values of a type that is composed of others.
fn values_of_composed(written: &str, depth: usize) -> Option<[String; 2]> {
    if let Some(parts) = written.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let parts: Option<Vec<[String; 2]>> =
            split(parts).into_iter().map(|part| values_of_type(part, depth)).collect();
        let parts = parts?;
        let tuple = |which: fn(&[String; 2]) -> &String| {
            let values: Vec<String> = parts.iter().map(|part| format!("{},", which(part))).collect();
            format!("({})", values.join(" "))
        };
        return Some([tuple(|part| &part[0]), tuple(|part| &part[1])]);
    }
    let (outer, inner) = written.strip_suffix('>')?.split_once('<')?;
    let parts = split(inner);
    let first = parts.first().and_then(|part| values_of_type(part, depth));
    let wrapped = |name: &str| first.clone().map(|both| both.map(|one| format!("{name}({one})")));
    match outer.trim() {
        "io::Result" | "std::io::Result" => {
            let failure = "Err(std::io::ErrorKind::Other.into())".to_owned();
            Some([wrapped("Ok")?[0].clone(), failure])
        }
        "Result" | "std::result::Result" => {
            let failure = parts.get(1).and_then(|part| error(part, depth));
            Some([wrapped("Ok")?[0].clone(), failure.unwrap_or_else(|| NONE.to_owned())])
        }
        "Option" | "std::option::Option" => {
            Some(["None".to_owned(), wrapped("Some").map_or(NONE.to_owned(), |both| both[1].clone())])
        }
        "Box" => wrapped("Box::new"),
        "Rc" | "std::rc::Rc" => wrapped("std::rc::Rc::new"),
        "Arc" | "std::sync::Arc" => wrapped("std::sync::Arc::new"),
        "Vec" => Some(["Vec::new()".to_owned(), first.map_or(NONE.to_owned(), |both| format!("vec![{}]", both[1]))]),
        "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" | "VecDeque" => {
            Some([format!("{}::new()", outer.trim()), NONE.to_owned()])
        }
        _ => None,
    }
}

fn error(written: &str, depth: usize) -> Option<String> {
    let written = written.trim();
    if written.starts_with("Box<dyn") {
        return Some("Err(\"hollow\".into())".to_owned());
    }
    values_of_type(written, depth).map(|both| format!("Err({})", both[1]))
}

pub(super) fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' => depth = depth.saturating_add(1),
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(list.get(from..at));
                from = at.saturating_add(1);
            }
            _ => {}
        }
    }
    parts.extend(list.get(from..));
    parts.retain(|part| !part.trim().is_empty() && !part.trim().starts_with('\''));
    parts
}

#[cfg(test)]
mod tests {
    use super::answers;

    #[test]
    fn answers_are_of_the_type_and_apart() {
        let table = [
            ("", "()", "()"),
            ("u8", "0", "113"),
            ("Option<u32>", "None", "Some(113)"),
            ("Result<(), String>", "Ok(())", "Err(String::from(\"hollow\"))"),
            ("Result<u8, Box<dyn std::error::Error>>", "Ok(0)", "Err(\"hollow\".into())"),
            ("Vec<(String, bool)>", "Vec::new()", "vec![(String::from(\"hollow\"), true,)]"),
            ("impl Iterator<Item = u8>", "panic!(\"hollow\")", "panic!(\"hollow\")"),
            ("Result<u8, Error>", "Ok(0)", "panic!(\"hollow\")"),
            ("Price", "panic!(\"hollow\")", "panic!(\"hollow\")"),
            ("&'static str", "\"\"", "\"hollow\""),
        ];
        for (written, first, second) in table {
            assert_eq!(answers(written), [first, second], "{written}");
        }
        let deep = format!("{}u8{}", "Box<".repeat(400), ">".repeat(400));
        assert_eq!(answers(&deep), ["panic!(\"hollow\")"; 2]);
    }
}
