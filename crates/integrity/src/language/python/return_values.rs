//! Makes Python functions return another value of the same type, or nothing, after they ran.

use crate::language::{
    outline::{Source, quoted},
    return_values::ReturnValueChanges,
    syntax::At,
};
use std::collections::BTreeSet;

/// Python code that turns a value into another one of the same type.
const OTHER: &str = "
def _made(value, depth=0):
    import copy, datetime, math, numbers

    def deeper(inner):
        return _made(inner, depth + 1)

    if value is None or depth > 5:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, (str, bytes)):
        made = 'hollow' if isinstance(value, str) else b'hollow'
        return value[:1] if value == made else made
    if isinstance(value, numbers.Real) or hasattr(value, 'as_tuple'):
        if not math.isfinite(value):
            return value
        off = abs(value) * 3 / 10
        return value + (max(1, math.ceil(off)) if value == int(value) else off)
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return value + datetime.timedelta(days=1)
    if isinstance(value, dict):
        return type(value)((key, deeper(inner)) for key, inner in value.items())
    if isinstance(value, tuple) and hasattr(value, '_make'):
        return value._make(map(deeper, value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(deeper, value))
    if hasattr(value, '__dict__') and not callable(value):
        made = copy.copy(value)
        for key, inner in vars(value).items():
            object.__setattr__(made, key, deeper(inner))
        return made
    return value
";
/// Python code that turns a value into nothing.
const NOTHING: &str = "
def _made(value):
    return None
";
/// Python code that wraps the functions of some names, so that they return the changed value.
const WRAPS: &str = "

def _otherwise(names):
    import functools, inspect, types

    def wrapped(function):
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            return function
        if inspect.iscoroutinefunction(function):

            async def made(*given, **named):
                return _made(await function(*given, **named))
        else:

            def made(*given, **named):
                return _made(function(*given, **named))

        return functools.wraps(function)(made)

    for name, value in list(globals().items()):
        if getattr(value, '__module__', None) != __name__:
            continue
        if isinstance(value, types.FunctionType) and value.__name__ in names:
            globals()[name] = wrapped(value)
        for key, part in list(vars(value).items()) if isinstance(value, type) else []:
            if key not in names or key.startswith('__'):
                continue
            if isinstance(part, types.FunctionType):
                setattr(value, key, wrapped(part))
            elif isinstance(part, (staticmethod, classmethod)):
                setattr(value, key, type(part)(wrapped(part.__func__)))
            elif isinstance(part, property) and part.fget:
                setattr(value, key, property(wrapped(part.fget), part.fset, part.fdel))
";

/// Changes the results of the functions of these names, at the end of the file.
pub(super) fn change_return_values(source: &Source<'_>, names: &BTreeSet<String>) -> Option<ReturnValueChanges> {
    let functions = source.root.below().filter(|at| at.is(&["function_definition"]));
    let known: BTreeSet<&str> = functions
        .map(|at: At<'_>| at.field_text("name"))
        .filter(|name| names.contains(*name))
        .collect();
    let listed: Vec<String> = known.iter().map(|name| quoted(name).replace('`', "'")).collect();
    let end = |makes: &str| format!("\n{makes}{WRAPS}\n\n_otherwise(({},))\n", listed.join(", "));
    (!known.is_empty()).then(|| ReturnValueChanges {
        end: [end(OTHER), end(NOTHING)],
        ..ReturnValueChanges::default()
    })
}
