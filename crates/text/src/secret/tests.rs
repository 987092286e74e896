use super::{MASK, SecretKind, Secrets};
use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::json;

/// Forty characters that form no words.
const RANDOM: &str = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b";
const HEX: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn mask(text: &str) -> String {
    Secrets::default().mask(text)
}

/// Returns the kinds that a commit would be refused for, with their lines.
fn find_in(path: &str, text: &str) -> Vec<(SecretKind, usize)> {
    let found = Secrets::default().find(path, text.as_bytes());
    found.into_iter().map(|found| (found.kind, found.line)).collect()
}

fn own(value: &str) -> Secrets {
    Secrets::new(&[SecretString::from(value.to_owned())])
}

#[test]
fn the_tokens_of_known_services_are_found_with_their_line_and_masked() {
    let samples = [
        (format!("ghs_{RANDOM}"), "a GitHub token"),
        (format!("github_pat_{RANDOM}{RANDOM}"), "a GitHub token"),
        (format!("glpat-{}", &RANDOM[..20]), "a GitLab token"),
        ("AKIA2E0A8F3B244C9986".to_owned(), "an AWS access key"),
        (format!("xoxb-{RANDOM}"), "a Slack token"),
        (format!("sk-ant-api03-{RANDOM}"), "an Anthropic API key"),
        (format!("sk-proj-{RANDOM}"), "an OpenAI API key"),
        (format!("sk-{RANDOM}{RANDOM}"), "an OpenAI API key"),
        (format!("sk_live_{}", &RANDOM[..24]), "a Stripe key"),
        (format!("AIza{}", &RANDOM[..35]), "a Google credential"),
        (format!("npm_{}", &RANDOM[..36]), "an npm token"),
        (format!("hf_{}", &RANDOM[..34]), "a Hugging Face token"),
        (format!("dop_v1_{HEX}"), "a DigitalOcean token"),
        (format!("hvs.{RANDOM}{RANDOM}"), "a Vault token"),
        (format!("SG.{}.{}", &RANDOM[..22], &RANDOM[..40]), "a SendGrid key"),
        (format!("https://hooks.slack.com/services/T{RANDOM}"), "a Slack webhook"),
    ];
    for (token, name) in samples {
        let text = format!("first\nlet x = \"{token}\";\n");
        assert_eq!(find_in("src/x.rs", &text), [(SecretKind::Token(name), 2)], "{token}");
        let masked = mask(&text);
        assert!(masked.starts_with("first\nlet x = \"") && masked.ends_with("[masked]\";\n"), "{masked}");
        assert_eq!(
            mask(&format!(r"log: a\n{token}\n")),
            format!("{}\\n", mask(&format!(r"log: a\n{token}"))),
            "escaped"
        );
    }
}

#[test]
fn credentials_are_masked_wherever_they_stand() {
    let token = format!("ghs_{}", "a1B2".repeat(9));
    let secrets = own("hush-hush");
    let table = [
        (format!("token={token}\n"), "token=[masked]\n"),
        (format!("https://x:{token}@github.com"), "https://x:[masked]@github.com"),
        (format!("{token} {token}"), "[masked] [masked]"),
        ("say hush-hush twice".to_owned(), "say [masked] twice"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nb\n".to_owned(),
            "a\n[masked]\nb\n",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIE\nerror: (truncated)\nmore\n".to_owned(),
            "[masked]\nerror: (truncated)\nmore\n",
        ),
        ("connect postgres://app:pw1@db/x".to_owned(), "connect postgres://app:[masked]@db/x"),
        (format!("Authorization: Bearer {RANDOM}"), "Authorization: Bearer [masked]"),
        ("authorization: Basic eDpzb21lLXBhc3N3b3JkLTE=".to_owned(), "authorization: Basic [masked]"),
    ];
    for (text, expected) in table {
        assert_eq!(secrets.mask(&text), expected);
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "",
        "ghs_short",
        "no token, größer",
        "task-sk-ant-1",
        "test a ... ok\n",
        "AKIA",
        "sk-learn-is-a-python-library-for-machine-learning-yes",
        "http://localhost:8080/@types/node",
        "see https://example.org/a:b@c",
        "the password: must be changed, and the token: too",
    ] {
        assert_eq!(mask(text), text);
        assert_eq!(find_in("x.md", text), []);
    }
}

#[test]
fn honest_lookalikes_block_no_commit() {
    let image = format!("data:image/png;base64,{}", RANDOM.repeat(200));
    let table = [
        ("README.md", "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE".to_owned()),
        ("README.md", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
        ("docs.md", format!("GITHUB_TOKEN=ghp_{}", "x".repeat(36))),
        ("src/a.rs", format!("const SHA256: &str = \"{HEX}\";")),
        ("src/a.rs", format!("token_hash = \"{HEX}\"")),
        ("Cargo.lock", format!("checksum = \"{HEX}\"\ntoken = \"{RANDOM}\"")),
        ("package-lock.json", format!("\"js-tokens\": {{\"integrity\": \"sha512-{RANDOM}==\"}}")),
        ("a.html", format!("<img src=\"{image}\">")),
        ("a.json", "{\"secret_id\": \"x\", \"token\": \"123e4567-e89b-12d3-a456-426614174000\"}".to_owned()),
        ("key.pem", format!("-----BEGIN PUBLIC KEY-----\n{RANDOM}\n{RANDOM}\n-----END PUBLIC KEY-----\n")),
        ("cert.pem", format!("-----BEGIN CERTIFICATE-----\n{RANDOM}\n-----END CERTIFICATE-----\n")),
        ("src/a.rs", "if line.contains(\"-----BEGIN PRIVATE KEY-----\") { end(\"-----END PRIVATE KEY-----\") }".to_owned()),
        ("compose.yml", "url: postgres://user:password@localhost/app".to_owned()),
        ("compose.yml", "url: postgres://app:${DB_PASSWORD_2024}@db.internal/app".to_owned()),
        ("src/a.py", "token = tokenizer.next_token_from_stream2(argument)".to_owned()),
        ("src/a.ts", "const passwordField = document.getElementById('password-input-2')".to_owned()),
        ("tests/a.py", "client.login(password=\"correct-horse-battery-staple-9\")".to_owned()),
        (".env.example", "API_KEY=your-api-key-goes-here-12345".to_owned()),
        ("ci.yml", "token: ${{ secrets.GITHUB_TOKEN_2 }}".to_owned()),
        ("jwt.md", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4iLCJpYXQiOjE1MTYyMzkwMjJ9.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c".to_owned()),
    ];
    for (path, text) in table {
        assert_eq!(find_in(path, &text), [], "{path}: {text}");
    }
}

#[test]
fn random_values_of_comparable_names_are_found() {
    let value = "q7Xv2Lm9Tz4Rk8Wp";
    let assigned = [(SecretKind::Assigned, 1)];
    for text in [
        format!("api_key = \"{value}\""),
        format!("API_KEY={value}{value}"),
        format!("{{\"clientSecret\": \"{value}\"}}"),
        format!("{{\\\"client_secret\\\": \\\"{value}\\\"}}"),
        format!("const DB_PASSWORD: &'static str = \"{value}\";"),
        format!("settings['auth_token'] = '{value}'"),
        format!("password: {value}{value}"),
        format!("(\"token\", \"{value}\")"),
    ] {
        assert_eq!(find_in("src/x", &text), assigned, "{text}");
        assert!(!mask(&text).contains(value), "{text}");
    }
}

#[test]
fn keys_tokens_and_passwords_without_a_beginning_are_found() {
    let key = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{RANDOM}\n{RANDOM}\n-----END OPENSSH PRIVATE KEY-----\n");
    assert_eq!(find_in("id", &format!("\n{key}")), [(SecretKind::PrivateKey, 2)]);
    let escaped = format!("{{\"key\": \"{}\"}}", key.replace('\n', "\\n"));
    assert_eq!(find_in("a.json", &escaped), [(SecretKind::PrivateKey, 1)]);
    assert!(!mask(&escaped).contains(RANDOM), "{}", mask(&escaped));
    let signed = format!("eyJhbGciOiJIUzI1NiJ9.eyJhZG1pbiI6dHJ1ZX0.{RANDOM}");
    assert_eq!(find_in("a", &signed), [(SecretKind::Token("a signed token"), 1)]);
    let address = "db = \"postgres://app:q7Xv2Lm9Tz4R@db.internal/x\"";
    assert_eq!(find_in("a", address), [(SecretKind::Login, 1)]);
}

#[test]
fn the_services_own_secrets_are_found_in_every_spelling() {
    let secret = "it's \"own\"/secret+value&1";
    let secrets = own(secret);
    let base64 = |text: String| {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(text)
    };
    let spellings = [
        secret.to_owned(),
        serde_json::to_string(secret).unwrap(),
        serde_json::to_string(&serde_json::to_string(secret).unwrap()).unwrap(),
        secret.replace('&', "&amp;").replace('"', "&quot;"),
        "it%27s%20%22own%22%2Fsecret%2Bvalue%261".to_owned(),
        base64(secret.to_owned()),
        base64(format!("x:{secret}")),
        base64(format!("xy:{secret}:z")),
        secret.bytes().map(|byte| format!("{byte:02x}")).collect(),
    ];
    for spelling in spellings {
        let text = format!("before {spelling} after");
        assert!(secrets.mask(&text).contains("[masked]"), "{text}");
        assert!(secrets.find("x", text.as_bytes()).iter().any(|found| found.kind == SecretKind::Own), "{text}");
    }
}

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[test]
fn encoded_and_escaped_tokens_are_found_and_masked_whole() {
    let token = format!("ghp_{}", &RANDOM[..36]);
    let github = SecretKind::Token("a GitHub token");
    let every = |write: fn(u8) -> String| token.bytes().map(write).collect::<String>();
    let mut spellings: Vec<String> = ["", "x", "xy", "user:", "a longer beginning of something: "]
        .map(|before| base64(&format!("{before}{token} and what follows")))
        .to_vec();
    let url_safe = base64(&format!("?>~{token}")).replace('+', "-").replace('/', "_");
    spellings.extend([
        url_safe,
        every(|byte| format!("{byte:02x}")),
        every(|byte| format!("{byte:02X}")),
        every(|byte| format!("%{byte:02X}")),
        every(|byte| format!("\\u{byte:04x}")),
        every(|byte| format!("\\x{byte:02x}")),
        token.replacen('h', "\\u0068", 1),
        token.replacen('_', "\\_", 1),
        token.replacen('_', "%5F", 1),
    ]);
    for spelling in spellings {
        let text = format!("first\nvalue: \"{spelling}\";\n");
        assert_eq!(find_in("src/x", &text), [(github, 2)], "{text}");
        let masked = mask(&text);
        let left = masked.strip_prefix("first\nvalue: \"").and_then(|rest| rest.strip_suffix("\";\n"));
        let left = left.unwrap_or_else(|| panic!("{masked}"));
        let before = left.find("[masked]").unwrap_or_else(|| panic!("{masked}"));
        assert!(spelling.starts_with(&left[..before]) && before < 50, "{masked}");
        assert!(left.len() - before < 40, "too much is left: {masked}");
    }
}

#[test]
fn what_is_hidden_within_a_token_hides_no_token() {
    let token = format!("ghp_{}", &RANDOM[..36]);
    for hidden in ["\u{200b}", "\u{1b}[31m", "\u{ad}\u{feff}", "&#8203;"] {
        let text = format!("see {}{hidden}{} there", &token[..9], &token[9..]);
        assert_eq!(mask(&text), "see [masked] there", "{text:?}");
        assert_eq!(find_in("a.txt", &text).len(), 1, "{text:?}");
    }
    let own = own("p@ss_W0rd*of-ours");
    assert_eq!(own.mask("say p@&#8203;ss\\_W0rd\\*of-ours"), "say [masked]");
}

#[test]
fn wrapped_and_encoded_keys_are_found() {
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{RANDOM}\n{HEX}\n{RANDOM}\n-----END RSA PRIVATE KEY-----\n");
    for encoded in [base64(&key), base64(&format!("tls.key\n{key}"))] {
        let lines: Vec<&str> = encoded.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        for text in [encoded.clone(), lines.join("\n"), lines.join("\\n")] {
            assert_eq!(find_in("secret.yaml", &text), [(SecretKind::PrivateKey, 1)], "{text}");
            assert!(!mask(&text).contains(&encoded[40..60]), "{}", mask(&text));
        }
    }
}

#[test]
fn files_of_wide_characters_are_read() {
    let text = format!("first\r\ntoken ghp_{}\r\n", &RANDOM[..36]);
    let encoded = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    for (mark, letters) in [([0xff, 0xfe], encoded(u16::to_le_bytes)), ([0xfe, 0xff], encoded(u16::to_be_bytes))] {
        let mut content = mark.to_vec();
        content.extend(letters);
        let found = Secrets::default().find("settings.ps1", &content);
        assert_eq!(found.iter().map(|found| found.line).collect::<Vec<_>>(), [2]);
    }
}

#[test]
fn parts_of_a_secret_are_secret_and_plain_words_are_not() {
    let key = format!("-----BEGIN PRIVATE KEY-----\n{RANDOM}\n{HEX}\n-----END PRIVATE KEY-----\n");
    assert_eq!(own(&key).mask(&format!("only {HEX} of it")), "only [masked] of it");
    let database = own("postgres://app:p%40ss-W0rd!@db/x");
    assert_eq!(database.mask("tried p@ss-W0rd! and p%40ss-W0rd!"), "tried [masked] and [masked]");
    for plain in ["", "short", "postgres", "  \n"] {
        assert_eq!(own(plain).mask("a short postgres word"), "a short postgres word");
    }
    assert_eq!(own("postgres://postgres:postgres@db/x").mask("a postgres word"), "a postgres word");
    assert_eq!(format!("{:?}", own("hush-hush")), "Secrets");
}

#[test]
fn json_is_masked_with_its_names() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let answer =
        json!({"summary": format!("use {token}"), "issues": [{"text": token, "line": 3}], token.clone(): null});
    let expected = json!({"summary": "use [masked]", "issues": [{"text": "[masked]", "line": 3}], "[masked]": null});
    assert_eq!(Secrets::default().mask_json(answer), expected);
}

#[test]
fn what_stood_there_before_is_known_wherever_it_moves() {
    let token = format!("ghs_{RANDOM}");
    let old = Secrets::default().find("a", token.as_bytes());
    let new = Secrets::default().find("b", format!("moved\n{token}\n").as_bytes());
    assert_eq!(new.len(), 1);
    assert!(new.iter().all(|found| found.is_among(&old)));
}

#[test]
fn hostile_text_is_read_in_good_time() {
    for piece in [
        "ghp_",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ.",
        "://a:b@",
        "token=",
        "sk-",
        "Bearer ",
        "Z2hwX",
        "Z2hwX2dochBf",
        "6768705f",
        "LS0tLS1CRUdJTi",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t",
        "\\u0067&#8203;",
    ] {
        let text = piece.repeat(60_000 / piece.len());
        assert!(!mask(&text).is_empty());
        let _ = find_in("x", &text);
    }
}

proptest! {
    #[test]
    fn no_surroundings_save_a_token(
        before in "(ghp_|[a-zA-Z0-9]{0,40}|-----BEGIN PRIVATE KEY-----|\\n|://u:|@|token: |\"|ü){0,8}",
        after in "([a-zA-Z0-9]{0,40}|-----END PRIVATE KEY-----|\\n|://u:|@|\"|ü|-){0,8}",
    ) {
        let masked = mask(&format!("{before}ghp_{RANDOM}{after}"));
        prop_assert!(!masked.contains(RANDOM), "{}", masked);
    }
}

#[test]
fn what_is_learnt_is_found_by_all_until_it_ends() {
    let (secrets, token) = (own("lasting-Value-1"), |text: &str| SecretString::from(text.to_owned()));
    let elsewhere = secrets.clone();
    let text = "a lasting-Value-1 b plain-Token-2 c cGxhaW4tVG9rZW4tMg d other-Token-3";
    assert!(elsewhere.mask(text).contains("plain-Token-2"));
    secrets.learn(&token("plain-Token-2"), 2_000, 1_000);
    assert_eq!(elsewhere.mask(text), "a [masked] b [masked] c [masked] d other-Token-3");
    assert_eq!(elsewhere.find("x", b"plain-Token-2")[0].kind, SecretKind::Own);
    secrets.learn(&token("other-Token-3"), 9_000, 1_999);
    assert_eq!(elsewhere.mask(text), "a [masked] b [masked] c [masked] d [masked]");
    secrets.learn(&token("other-Token-3"), 9_000, 2_000);
    assert_eq!(elsewhere.mask(text), "a [masked] b plain-Token-2 c cGxhaW4tVG9rZW4tMg d [masked]");
}

#[test]
fn a_text_that_has_to_stay_leaves_no_other_text_unmasked() {
    let (key, form) = ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "k7Qz9rT2-form-W3xV8pL6");
    let secrets = Secrets::new([&SecretString::from(form)]);
    let value = json!({form: {"files": [key, form, "a"], "of": {key: key}}});
    let has_form = |value: &serde_json::Value| value.get(form).is_some();
    let expected = json!({form: {"files": [MASK, MASK, "a"], "of": {MASK: MASK}}});
    assert_eq!(secrets.mask_valid(value.clone(), has_form), expected);
    assert_eq!(secrets.mask_valid(value.clone(), |_| false), value);
    assert_eq!(secrets.mask_valid(value.clone(), |_| true), secrets.mask_json(value));
}
