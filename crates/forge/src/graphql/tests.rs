use super::{check::Fragments, *};

/// What is wrong with a document: `<code> <message>` of each error.
fn wrong(text: &str) -> Vec<String> {
    let document = graphql_parser::parse_query::<String>(text).unwrap().into_static();
    let fragments: Fragments<'_> = document
        .definitions
        .iter()
        .filter_map(|one| match one {
            Definition::Fragment(fragment) => Some((fragment.name.as_str(), fragment)),
            Definition::Operation(_) => None,
        })
        .collect();
    let operation = operation(&document, None).unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    check(&operation, &fragments)
        .iter()
        .map(|error| format!("{} {}", word(&error["extensions"]["code"]), word(&error["message"])))
        .collect()
}

#[test]
fn what_fits_the_schema_is_fine() {
    for text in [
        "{ viewer { login } }",
        "query A($o: String!, $n: Int = 3) { repository(owner: $o, name: \"x\") { issue(number: $n) { ...I } } } \
         fragment I on Issue { title comments(first: 3) { nodes { author { login ... on Bot { id } } } } }",
        "mutation($input: MarkPullRequestReadyForReviewInput!) { \
         a: markPullRequestReadyForReview(input: $input) { clientMutationId pullRequest { isDraft __typename } } }",
        "query($id: ID!, $w: Boolean!) { node(id: $id) { id ... on PullRequest @include(if: $w) { isDraft } } }",
        "{ nodes(ids: [\"a\", \"b\"]) { id } }",
    ] {
        assert_eq!(wrong(text), [""; 0], "{text}");
    }
}

/// Documents, and what is said of each.
const REFUSED: &[(&str, &str)] = &[
    (
        "{ discussions { id } }",
        "undefinedField Field 'discussions' doesn't exist on type 'Query'",
    ),
    (
        "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { draft } } }",
        "undefinedField Field 'draft' doesn't exist on type 'PullRequest'",
    ),
    (
        "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequest: $id, pullRequestId: $id}) { clientMutationId } }",
        "argumentNotAccepted InputObject 'MarkPullRequestReadyForReviewInput' doesn't accept argument 'pullRequest'",
    ),
    (
        "mutation { markPullRequestReadyForReview(input: {}) { clientMutationId } }",
        "missingRequiredInputObjectAttribute Argument 'pullRequestId' on InputObject \
             'MarkPullRequestReadyForReviewInput' is required. Expected type ID!",
    ),
    (
        "mutation { markPullRequestReady(input: {}) { clientMutationId } }",
        "undefinedField Field 'markPullRequestReady' doesn't exist on type 'Mutation'",
    ),
    (
        "mutation($id: String!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId } }",
        "variableMismatch Type mismatch on variable $id and argument pullRequestId (String! / ID!)",
    ),
    (
        "{ node(id: $id) { id } }",
        "variableNotDefined Variable $id is used by anonymous query but not declared",
    ),
    (
        "query($id: ID!) { viewer { login } }",
        "variableNotUsed Variable $id is declared by anonymous query but not used",
    ),
    (
        "{ repository(name: \"x\") { id } }",
        "missingRequiredArguments Field 'repository' is missing required arguments: owner",
    ),
    (
        "{ repository(name: \"x\", owner: 7) { id } }",
        "argumentLiteralsIncompatible Argument 'owner' on Field 'repository' has an invalid value (7). Expected type \
             'String!'.",
    ),
    (
        "{ viewer }",
        "selectionMismatch Field must have selections (field 'viewer' returns User but has no selections. Did you \
             mean 'viewer { ... }'?)",
    ),
    (
        "{ viewer { ...A } } fragment A on User { ...A }",
        "infiniteLoop Fragment A contains an infinite loop",
    ),
    (
        "{ node(id: \"a\") { lastEditedAt } }",
        "undefinedField Field 'lastEditedAt' doesn't exist on type 'Node'",
    ),
];

#[test]
fn what_does_not_fit_the_schema_is_said_as_github_says_it() {
    for (text, expected) in REFUSED {
        assert_eq!(wrong(text), [*expected], "{text}");
    }
}

#[test]
fn variables_are_held_against_their_types() {
    let text = "query($id: ID!, $n: Int = 3, $in: MarkPullRequestReadyForReviewInput) { node(id: $id) { id } }";
    let document = graphql_parser::parse_query::<String>(text).unwrap().into_static();
    let declared = operation(&document, None).unwrap().variables;
    let read = |given: Value| variables(declared, &given);
    assert_eq!(
        Value::Object(read(object!({"id": "a"})).unwrap()),
        object!({"id": "a", "n": 3})
    );
    for given in [
        object!({}),
        object!({"id": null}),
        object!({"id": true}),
        object!({"id": "a", "n": "3"}),
        object!({"id": "a", "n": 3_000_000_000_u64}),
        object!({"id": "a", "in": {"pullRequestId": null}}),
        object!({"id": "a", "in": {"pullRequestId": "x", "draft": true}}),
    ] {
        let errors = read(given.clone()).unwrap_err();
        assert!(
            errors[0]["message"]
                .as_str()
                .unwrap()
                .contains("was provided invalid value"),
            "{given}"
        );
    }
}
