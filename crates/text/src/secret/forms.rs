//! The forms in which services print their credentials: a beginning, the characters that follow, and their least
//! number. The services and the makers of secret scanners document them.

use crate::secret::{SecretKind, Span, begins, names_stand_in};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// The characters that follow a beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// Letters and digits.
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    Dashed,
    /// Letters, digits, `_`, `-`, `.` and `=`.
    Dotted,
    /// Hexadecimal digits.
    Hex,
    /// Upper-case letters and digits.
    Upper,
    /// Base64 characters.
    Base64,
}

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'='),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// The beginning, the characters that follow, their least number, and the name.
type Form = (&'static str, Body, usize, &'static str);

const GITHUB: &str = "a GitHub token";
const GITLAB: &str = "a GitLab token";
const SLACK: &str = "a Slack token";
const AWS: &str = "an AWS access key";
const STRIPE: &str = "a Stripe key";
const OPENAI: &str = "an OpenAI API key";
const ANTHROPIC: &str = "an Anthropic API key";
const GOOGLE: &str = "a Google credential";
const DIGITALOCEAN: &str = "a DigitalOcean token";
const ATLASSIAN: &str = "an Atlassian token";
const SHOPIFY: &str = "a Shopify token";
const GRAFANA: &str = "a Grafana token";
const DOPPLER: &str = "a Doppler token";
const VAULT: &str = "a Vault token";
const PLANETSCALE: &str = "a PlanetScale credential";
const NEW_RELIC: &str = "a New Relic key";
const SENTRY: &str = "a Sentry token";
const SONAR: &str = "a SonarQube token";
const HUGGING_FACE: &str = "a Hugging Face token";
const DOCKER: &str = "a Docker token";
const SQUARE: &str = "a Square token";
const FLY: &str = "a Fly.io token";

const FORMS: [Form; 125] = [
    ("github_pat_", Body::Word, 30, GITHUB),
    ("ghp_", Body::Alnum, 30, GITHUB),
    ("gho_", Body::Alnum, 30, GITHUB),
    ("ghu_", Body::Alnum, 30, GITHUB),
    ("ghs_", Body::Dotted, 30, GITHUB),
    ("ghr_", Body::Alnum, 30, GITHUB),
    ("glpat-", Body::Dotted, 16, GITLAB),
    ("gldt-", Body::Dashed, 20, GITLAB),
    ("glrt-", Body::Dashed, 20, GITLAB),
    ("glcbt-", Body::Dashed, 20, GITLAB),
    ("glptt-", Body::Hex, 40, GITLAB),
    ("glft-", Body::Dashed, 20, GITLAB),
    ("glimt-", Body::Dashed, 20, GITLAB),
    ("glagent-", Body::Dashed, 40, GITLAB),
    ("gloas-", Body::Hex, 64, GITLAB),
    ("glsoat-", Body::Dashed, 20, GITLAB),
    ("GR1348941", Body::Dashed, 20, GITLAB),
    ("AKIA", Body::Upper, 16, AWS),
    ("ASIA", Body::Upper, 16, AWS),
    ("ABIA", Body::Upper, 16, AWS),
    ("ACCA", Body::Upper, 16, AWS),
    ("ABSK", Body::Base64, 100, "an AWS Bedrock key"),
    ("bedrock-api-key-", Body::Base64, 20, "an AWS Bedrock key"),
    ("AIza", Body::Dashed, 30, GOOGLE),
    ("GOCSPX-", Body::Dashed, 24, GOOGLE),
    ("ya29.", Body::Dashed, 30, GOOGLE),
    ("xoxb-", Body::Dashed, 20, SLACK),
    ("xoxp-", Body::Dashed, 20, SLACK),
    ("xoxa-", Body::Dashed, 20, SLACK),
    ("xoxr-", Body::Dashed, 20, SLACK),
    ("xoxo-", Body::Dashed, 20, SLACK),
    ("xoxs-", Body::Dashed, 20, SLACK),
    ("xoxe-", Body::Dashed, 20, SLACK),
    ("xoxe.xox", Body::Dashed, 20, SLACK),
    ("xapp-", Body::Dashed, 20, SLACK),
    ("hooks.slack.com/services/T", Body::Base64, 30, "a Slack webhook"),
    ("discord.com/api/webhooks/", Body::Base64, 40, "a Discord webhook"),
    ("sk_live_", Body::Alnum, 16, STRIPE),
    ("sk_test_", Body::Alnum, 16, STRIPE),
    ("rk_live_", Body::Alnum, 16, STRIPE),
    ("rk_test_", Body::Alnum, 16, STRIPE),
    ("sk_prod_", Body::Alnum, 16, STRIPE),
    ("rk_prod_", Body::Alnum, 16, STRIPE),
    ("whsec_", Body::Base64, 24, "a webhook secret"),
    ("sk-ant-", Body::Dashed, 20, ANTHROPIC),
    ("sk-proj-", Body::Dashed, 20, OPENAI),
    ("sk-svcacct-", Body::Dashed, 20, OPENAI),
    ("sk-admin-", Body::Dashed, 20, OPENAI),
    ("sk-or-v1-", Body::Hex, 40, "an OpenRouter key"),
    ("sk-", Body::Dashed, 40, OPENAI),
    ("hf_", Body::Alnum, 34, HUGGING_FACE),
    ("api_org_", Body::Alnum, 34, HUGGING_FACE),
    ("gsk_", Body::Alnum, 40, "a Groq key"),
    ("xai-", Body::Alnum, 60, "an xAI key"),
    ("pplx-", Body::Alnum, 40, "a Perplexity key"),
    ("r8_", Body::Alnum, 37, "a Replicate token"),
    ("nvapi-", Body::Dashed, 50, "an NVIDIA key"),
    ("csk-", Body::Alnum, 40, "a Cerebras key"),
    ("lsv2_pt_", Body::Word, 32, "a LangSmith key"),
    ("lsv2_sk_", Body::Word, 32, "a LangSmith key"),
    ("pcsk_", Body::Word, 40, "a Pinecone key"),
    ("npm_", Body::Alnum, 36, "an npm token"),
    ("pypi-", Body::Dashed, 60, "a PyPI token"),
    ("rubygems_", Body::Hex, 48, "a RubyGems key"),
    ("CLOJARS_", Body::Alnum, 60, "a Clojars token"),
    ("oy2", Body::Alnum, 43, "a NuGet key"),
    ("cio", Body::Alnum, 32, "a crates.io token"),
    ("dckr_pat_", Body::Dashed, 24, DOCKER),
    ("dckr_oat_", Body::Dashed, 24, DOCKER),
    ("AKCp", Body::Alnum, 60, "a JFrog key"),
    ("dop_v1_", Body::Hex, 40, DIGITALOCEAN),
    ("doo_v1_", Body::Hex, 40, DIGITALOCEAN),
    ("dor_v1_", Body::Hex, 40, DIGITALOCEAN),
    ("HRKU-", Body::Dashed, 36, "a Heroku key"),
    ("fo1_", Body::Dashed, 40, FLY),
    ("FlyV1 ", Body::Base64, 40, FLY),
    ("nfp_", Body::Word, 36, "a Netlify token"),
    (".atlasv1.", Body::Dotted, 50, "a Terraform token"),
    ("hvs.", Body::Dashed, 24, VAULT),
    ("hvb.", Body::Dashed, 24, VAULT),
    ("pul-", Body::Hex, 40, "a Pulumi token"),
    ("dapi", Body::Hex, 32, "a Databricks token"),
    ("dp.pt.", Body::Alnum, 40, DOPPLER),
    ("dp.st.", Body::Dotted, 40, DOPPLER),
    ("dp.ct.", Body::Alnum, 40, DOPPLER),
    ("dp.sa.", Body::Alnum, 40, DOPPLER),
    ("ops_eyJ", Body::Base64, 200, "a 1Password token"),
    ("AGE-SECRET-KEY-1", Body::Upper, 50, "an age key"),
    ("ATATT3", Body::Dotted, 100, ATLASSIAN),
    ("ATCTT3", Body::Dotted, 100, ATLASSIAN),
    ("ATBB", Body::Alnum, 32, ATLASSIAN),
    ("lin_api_", Body::Alnum, 36, "a Linear key"),
    ("ntn_", Body::Alnum, 40, "a Notion token"),
    ("figd_", Body::Dashed, 36, "a Figma token"),
    ("PMAK-", Body::Dashed, 50, "a Postman key"),
    ("sntrys_", Body::Base64, 60, SENTRY),
    ("sntryu_", Body::Hex, 60, SENTRY),
    ("glc_", Body::Base64, 40, GRAFANA),
    ("glsa_", Body::Word, 36, GRAFANA),
    ("NRAK-", Body::Alnum, 27, NEW_RELIC),
    ("NRII-", Body::Dashed, 30, NEW_RELIC),
    ("dt0c01.", Body::Dotted, 60, "a Dynatrace token"),
    ("pscale_tkn_", Body::Dotted, 32, PLANETSCALE),
    ("pscale_pw_", Body::Dotted, 32, PLANETSCALE),
    ("pscale_oauth_", Body::Dotted, 32, PLANETSCALE),
    ("sbp_", Body::Hex, 40, "a Supabase token"),
    ("sb_secret_", Body::Dashed, 24, "a Supabase key"),
    ("pnu_", Body::Alnum, 36, "a Prefect key"),
    ("SG.", Body::Dotted, 60, "a SendGrid key"),
    ("xkeysib-", Body::Dashed, 64, "a Brevo key"),
    ("shpat_", Body::Hex, 32, SHOPIFY),
    ("shpca_", Body::Hex, 32, SHOPIFY),
    ("shppa_", Body::Hex, 32, SHOPIFY),
    ("shpss_", Body::Hex, 32, SHOPIFY),
    ("sq0atp-", Body::Dashed, 22, SQUARE),
    ("sq0csp-", Body::Dashed, 40, SQUARE),
    ("LTAI", Body::Alnum, 20, "an Alibaba access key"),
    ("CFPAT-", Body::Dashed, 40, "a Contentful token"),
    ("sk.eyJ", Body::Dotted, 60, "a Mapbox secret token"),
    ("sqp_", Body::Hex, 40, SONAR),
    ("squ_", Body::Hex, 40, SONAR),
    ("sqa_", Body::Hex, 40, SONAR),
    ("bkua_", Body::Hex, 40, "a Buildkite token"),
    ("tskey-", Body::Dashed, 20, "a Tailscale key"),
    ("phx_", Body::Alnum, 40, "a PostHog key"),
];

static BEGINNINGS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(beginnings()).ok());

pub(super) fn beginnings() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|(beginning, ..)| *beginning)
}

/// Finds the credentials that have one of the forms.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    let Some(beginnings) = &*BEGINNINGS else { return };
    // The end of the last value of each form. A beginning within that value was checked with it.
    let mut ends = [0; FORMS.len()];
    for found in beginnings.find_overlapping_iter(text) {
        let form = found.pattern().as_usize();
        let (Some((beginning, body, least, name)), Some(end)) = (FORMS.get(form), ends.get_mut(form)) else {
            continue;
        };
        if found.start() < *end {
            continue;
        }
        let rest = text.get(found.end()..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| body.has(**byte)).count();
        let value = rest.get(..length).unwrap_or_default();
        if length < *least {
            continue;
        }
        *end = found.end() + length;
        if !(is_distinct(beginning) || begins(text, found.start())) || !is_random(beginning, value) {
            continue;
        }
        spans.push(Span::sure(SecretKind::Token(name), found.start()..*end));
    }
}

/// `true` if a beginning identifies a credential anywhere in a word. All others must be at the start of a word.
fn is_distinct(beginning: &str) -> bool {
    beginning.len() >= 4 && beginning.ends_with(['_', '-', '.']) && beginning != "csk-" && beginning != "pul-"
}

/// `false` for examples and, after a short beginning, for names that only look like a token.
fn is_random(beginning: &str, value: &[u8]) -> bool {
    let any = |is: fn(&u8) -> bool| value.iter().any(is);
    let mixed = match beginning {
        "sk-" | "cio" | "oy2" | "hf_" => any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic),
        "LTAI" | "ATBB" | "AIza" | "AKCp" => any(u8::is_ascii_digit) || any(u8::is_ascii_lowercase),
        _ => true,
    };
    let named = beginning == "sk-" && !any(u8::is_ascii_uppercase) && value.contains(&b'-');
    let zeros = value.iter().all(|byte| *byte == b'0');
    mixed && !named && !zeros && !names_stand_in(value)
}

#[cfg(test)]
mod tests {
    use super::{BEGINNINGS, FORMS};
    use std::collections::BTreeSet;

    #[test]
    fn every_form_is_searched_for_and_stands_once() {
        assert!(BEGINNINGS.is_some());
        let beginnings: BTreeSet<&str> = FORMS.iter().map(|(beginning, ..)| *beginning).collect();
        assert_eq!(beginnings.len(), FORMS.len());
        assert!(FORMS.iter().all(|(beginning, _, least, _)| beginning.len() + least >= 20));
    }
}
