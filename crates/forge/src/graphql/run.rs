//! Answers a checked document: one field after the other, with what could not be had as `null` and an error.

use super::{
    Failure, Served,
    check::Fragments,
    schema::Schema,
    things::{Held, Thing},
    values::{Variables, arguments, literal},
};
use graphql_parser::{
    Pos,
    query::{Directive, Field, Selection, SelectionSet, TypeCondition},
};
use serde_json::{Map, Value, json};

/// GitHub's limit for one page of a connection.
const MOST: u64 = 100;

type Set = SelectionSet<'static, String>;

/// What a run needs and what it gathers.
pub(super) struct Run<'a> {
    pub(super) variables: &'a Variables,
    pub(super) fragments: &'a Fragments<'a>,
    pub(super) path: Vec<Value>,
    pub(super) errors: Vec<Value>,
}

impl<'a> Run<'a> {
    /// The fields that a selection asks of an object of the type `name`, in order, each key once.
    pub(super) fn fields(&self, set: &'a Set, name: &str) -> Vec<(&'a str, Vec<&'a Field<'static, String>>)> {
        let mut found = Vec::new();
        self.gather(set, name, &mut found);
        found
    }

    fn gather(&self, set: &'a Set, name: &str, found: &mut Vec<(&'a str, Vec<&'a Field<'static, String>>)>) {
        let schema = Schema::get();
        for item in &set.items {
            match item {
                Selection::Field(field) if self.is_wanted(&field.directives) => {
                    let key = field.alias.as_ref().unwrap_or(&field.name);
                    match found.iter_mut().find(|(known, _)| known == key) {
                        Some((_, fields)) => fields.push(field),
                        None => found.push((key, vec![field])),
                    }
                }
                Selection::InlineFragment(one) if self.is_wanted(&one.directives) => {
                    let fits = |TypeCondition::On(on): &TypeCondition<'static, String>| schema.is_a(name, on);
                    if one.type_condition.as_ref().is_none_or(fits) {
                        self.gather(&one.selection_set, name, found);
                    }
                }
                Selection::FragmentSpread(one) if self.is_wanted(&one.directives) => {
                    if let Some(fragment) = self.fragments.get(one.fragment_name.as_str()) {
                        let TypeCondition::On(on) = &fragment.type_condition;
                        if schema.is_a(name, on) {
                            self.gather(&fragment.selection_set, name, found);
                        }
                    }
                }
                Selection::Field(_) | Selection::InlineFragment(_) | Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn is_wanted(&self, directives: &[Directive<'static, String>]) -> bool {
        directives.iter().all(|one| {
            let truth = one
                .arguments
                .iter()
                .any(|(_, value)| literal(value, self.variables) == Value::Bool(true));
            truth == (one.name == "include")
        })
    }

    /// Everything that is asked of an object.
    pub(super) fn object(&mut self, served: &Served<'a>, thing: Thing<'a>, kind: &str, sets: &[&'a Set]) -> Value {
        let mut answer = Map::new();
        for set in sets {
            for (key, fields) in self.fields(set, kind) {
                self.path.push(Value::from(key));
                let value = self.field(served, thing, kind, &fields);
                self.path.pop();
                answer.insert(key.to_owned(), value);
            }
        }
        Value::Object(answer)
    }

    fn field(
        &mut self,
        served: &Served<'a>,
        thing: Thing<'a>,
        kind: &str,
        fields: &[&'a Field<'static, String>],
    ) -> Value {
        let Some(field) = fields.first() else {
            return Value::Null;
        };
        if field.name == "__typename" {
            return Value::from(kind);
        }
        let Some(def) = Schema::get().field(kind, &field.name) else {
            return Value::Null;
        };
        let given = arguments(&def.arguments, &field.arguments, self.variables);
        let sets: Vec<&'a Set> = fields.iter().map(|field| &field.selection_set).collect();
        match thing.field(served, &field.name, &given) {
            Ok(Held::Value(value)) => value,
            Ok(Held::Thing(thing)) => self.object(served, thing, thing.type_name(served.state), &sets),
            Ok(Held::Things(things)) => self.list(served, &things, &sets),
            Ok(Held::Pages(kind, things, given)) => match page(&field.name, things, &given) {
                Ok(page) => self.page(served, kind, &page, &sets),
                Err(failure) => self.failed(&failure, field.position),
            },
            Err(failure) => self.failed(&failure, field.position),
        }
    }

    pub(super) fn failed(&mut self, failure: &Failure, at: Pos) -> Value {
        self.errors.push(json!({
            "type": failure.kind,
            "path": self.path,
            "locations": [{"line": at.line, "column": at.column}],
            "message": failure.message,
        }));
        Value::Null
    }

    fn list(&mut self, served: &Served<'a>, things: &[Option<Thing<'a>>], sets: &[&'a Set]) -> Value {
        let mut list = Vec::new();
        for (at, thing) in things.iter().enumerate() {
            self.path.push(Value::from(at));
            list.push(thing.map_or(Value::Null, |thing| {
                self.object(served, thing, thing.type_name(served.state), sets)
            }));
            self.path.pop();
        }
        Value::Array(list)
    }

    fn page(&mut self, served: &Served<'a>, kind: &str, page: &Page<'a>, sets: &[&'a Set]) -> Value {
        let mut answer = Map::new();
        for set in sets {
            for (key, fields) in self.fields(set, kind) {
                let inner: Vec<&'a Set> = fields.iter().map(|field| &field.selection_set).collect();
                let name = fields.first().map_or("", |field| field.name.as_str());
                self.path.push(Value::from(key));
                let value = match name {
                    "totalCount" => Value::from(page.total),
                    "nodes" => self.list(served, &page.shown, &inner),
                    "pageInfo" => self.info(page, &inner),
                    _ => Value::from(kind),
                };
                self.path.pop();
                answer.insert(key.to_owned(), value);
            }
        }
        Value::Object(answer)
    }

    fn info(&self, page: &Page<'_>, sets: &[&'a Set]) -> Value {
        let end = page.from.saturating_add(page.shown.len());
        let cursor = |at: usize| {
            if page.shown.is_empty() {
                Value::Null
            } else {
                Value::from(format!("cursor:{at}"))
            }
        };
        let mut answer = Map::new();
        for (key, fields) in sets.iter().flat_map(|set| self.fields(set, "PageInfo")) {
            let value = match fields.first().map_or("", |field| field.name.as_str()) {
                "endCursor" => cursor(end),
                "startCursor" => cursor(page.from.saturating_add(1)),
                "hasNextPage" => Value::from(end < page.total),
                "hasPreviousPage" => Value::from(page.from > 0),
                _ => Value::from("PageInfo"),
            };
            answer.insert(key.to_owned(), value);
        }
        Value::Object(answer)
    }
}

/// A part of a connection.
struct Page<'a> {
    total: usize,
    from: usize,
    shown: Vec<Option<Thing<'a>>>,
}

/// GitHub wants to be told how many, and gives no more than a hundred.
fn page<'a>(name: &str, things: Vec<Thing<'a>>, given: &Variables) -> Result<Page<'a>, Failure> {
    let number = |key: &str| given.get(key).and_then(Value::as_u64);
    let cursor = |key: &str| given.get(key)?.as_str()?.strip_prefix("cursor:")?.parse::<usize>().ok();
    let (first, last) = (number("first"), number("last"));
    if first.is_none() && last.is_none() {
        return Err(Failure {
            kind: "MISSING_PAGINATION_BOUNDARIES",
            message: format!(
                "You must provide a `first` or `last` value to properly paginate the `{name}` connection."
            ),
        });
    }
    for (key, asked) in [("first", first), ("last", last)] {
        if let Some(asked) = asked.filter(|asked| *asked > MOST) {
            return Err(Failure {
                kind: "EXCESSIVE_PAGINATION",
                message: format!(
                    "Requesting {asked} records on the `{name}` connection exceeds the `{key}` limit of {MOST} records."
                ),
            });
        }
    }
    let size = |asked: u64| usize::try_from(asked).unwrap_or(usize::MAX);
    let total = things.len();
    let (mut from, mut to) = (
        cursor("after").unwrap_or(0),
        cursor("before").map_or(total, |at| at.saturating_sub(1)),
    );
    to = first.map_or(to, |asked| to.min(from.saturating_add(size(asked))));
    from = last
        .filter(|_| first.is_none())
        .map_or(from, |asked| from.max(to.saturating_sub(size(asked))));
    let shown = things.into_iter().enumerate().filter(|(at, _)| (from..to).contains(at));
    Ok(Page {
        total,
        from,
        shown: shown.map(|(_, thing)| Some(thing)).collect(),
    })
}
