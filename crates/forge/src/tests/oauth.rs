//! The OAuth web flow, and GitHub's refusals in it.

use super::world::*;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use url::Url;

const CALLBACK: &str = "https://build.example/sign-in/github";
const VERIFIER: &str = "0123456789012345678901234567890123456789abc";

type Fields<'a> = Vec<(&'a str, &'a str)>;

fn asks<'a>(fields: &'a Fields<'a>) -> impl Fn(&str) -> Option<String> + 'a {
    move |wanted| {
        let found = fields.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| (*value).to_owned())
    }
}

fn query(address: &Url) -> BTreeMap<String, String> {
    address.query_pairs().into_owned().collect()
}

/// Returns the address that the browser is sent to, for these parameters besides the client's id.
fn authorized(world: &World, more: &Fields<'_>, agreed: Option<u64>) -> Option<Url> {
    let mut fields = vec![("client_id", world.worker.client_id.as_str())];
    fields.extend(more);
    let forge = &world.forge;
    forge.site.change(|state| match state.authorization(&asks(&fields)).ok()? {
        Ok(authorization) => state.authorize(authorization, agreed).ok(),
        Err(address) => Some(address),
    })
}

fn exchanged(world: &World, fields: &Fields<'_>) -> Value {
    world.forge.site.change(|state| state.exchange_code(&asks(fields)))
}

#[tokio::test]
async fn a_code_is_good_once_for_who_asked_for_it() {
    let world = World::new().await;
    let secret = world.forge.let_sign_in("worker", CALLBACK).unwrap();
    let mona = world.forge.create_user("mona");
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let asked = vec![("state", "xyz"), ("code_challenge", challenge.as_str()), ("code_challenge_method", "S256")];
    let code = || {
        let back = authorized(&world, &asked, Some(mona)).unwrap();
        assert!(back.as_str().starts_with(CALLBACK) && query(&back)["state"] == "xyz", "{back}");
        query(&back)["code"].clone()
    };
    let exchange = |code: &str, secret: &str, verifier: &str| {
        let client = ("client_id", world.worker.client_id.as_str());
        let fields = vec![client, ("client_secret", secret), ("code", code), ("code_verifier", verifier)];
        exchanged(&world, &fields)
    };
    let (first, own) = (code(), secret.expose_secret());
    assert_eq!(exchange(&first, "guessed", VERIFIER)["error"], "incorrect_client_credentials");
    let token = exchange(&first, own, VERIFIER);
    assert_eq!((&token["token_type"], &token["scope"]), (&json!("bearer"), &json!("")));
    let (status, user) = world.raw("GET", "/user", token["access_token"].as_str(), Value::Null).await;
    assert_eq!((status, &user["login"], &user["id"]), (200, &json!("mona"), &json!(mona)));
    assert_eq!(exchange(&first, own, VERIFIER)["error"], "bad_verification_code", "used");
    assert_eq!(exchange("0000", own, VERIFIER)["error"], "bad_verification_code");
    let stolen = code();
    assert_eq!(exchange(&stolen, own, "another")["error"], "bad_verification_code", "PKCE");
    assert_eq!(exchange(&stolen, own, VERIFIER)["error"], "bad_verification_code", "and it is gone");
    let elsewhere = code();
    let fields = vec![
        ("client_id", world.worker.client_id.as_str()),
        ("client_secret", own),
        ("code", elsewhere.as_str()),
        ("redirect_uri", "https://evil.example/"),
    ];
    assert_eq!(exchanged(&world, &fields)["error"], "redirect_uri_mismatch");
}

#[tokio::test]
async fn what_github_refuses_comes_back_to_the_registered_address() {
    let world = World::new().await;
    assert_eq!(authorized(&world, &Vec::new(), None), None, "no callback is registered");
    world.forge.let_sign_in("worker", CALLBACK).unwrap();
    let error = |more: Fields<'_>| {
        let back = authorized(&world, &more, None).unwrap();
        assert!(back.as_str().starts_with(CALLBACK), "{back}");
        query(&back)["error"].clone()
    };
    assert_eq!(error(vec![("state", "xyz")]), "access_denied");
    for elsewhere in [
        "https://evil.example/",
        "https://build.example/",
        "http://build.example/sign-in/github",
        "https://build.example/sign-in/github2",
        "x",
    ] {
        assert_eq!(error(vec![("redirect_uri", elsewhere)]), "redirect_uri_mismatch", "{elsewhere}");
    }
    assert_eq!(error(vec![("code_challenge", "x")]), "invalid_request");
    let stranger = vec![("client_id", "Iv1.unknown")];
    let found = world.forge.site.read(|state| state.authorization(&asks(&stranger)).is_ok());
    assert!(!found);
}
