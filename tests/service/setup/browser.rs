//! The parts of a browser that a page without scripts needs: cookies for each host, redirects, forms with their
//! buttons.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use std::collections::BTreeMap;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

#[derive(Clone, Default)]
pub struct Browser {
    /// By host and port, so that two services of one machine are different.
    cookies: BTreeMap<(String, String), String>,
}

pub struct Page {
    pub status: u16,
    pub address: String,
    pub text: String,
    pub headers: http::HeaderMap,
}

struct Form {
    action: String,
    fields: Vec<(String, String)>,
    text: String,
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    Some(value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

impl Page {
    /// Returns the value of a field of its first form.
    pub fn value(&self, name: &str) -> String {
        let forms = self.forms();
        let mut fields = forms[0].fields.iter();
        fields.find(|(key, _)| key == name).unwrap().1.clone()
    }

    fn forms(&self) -> Vec<Form> {
        let parts = self.text.split("<form ").skip(1);
        parts
            .map(|part| {
                let text = part.split("</form>").next().unwrap().to_owned();
                let (head, rest) = text.split_once('>').unwrap();
                let tags = rest.split("<input").skip(1).map(|tag| tag.split('>').next().unwrap());
                let is_given = |tag: &&str| {
                    let choice = tag.contains("type=\"radio\"") || tag.contains("type=\"checkbox\"");
                    !choice || tag.contains(" checked")
                };
                let field = |tag: &str| Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default()));
                Form {
                    action: attribute(&format!(" {head}"), "action").unwrap(),
                    fields: tags.filter(is_given).filter_map(field).collect(),
                    text: rest.to_owned(),
                }
            })
            .collect()
    }
}

/// Returns the target of a form, and its fields.
fn filled(page: &Page, form: &Form, fields: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    let own = form.fields.iter().cloned();
    let own = own.filter(|(name, _)| !fields.iter().any(|(given, _)| given == name));
    let given = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let address = Url::parse(&page.address).unwrap().join(&form.action).unwrap();
    (address.to_string(), own.chain(given).collect())
}

fn lent(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn encoded(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

impl Browser {
    pub async fn sign_in(&mut self, forge: &str, login: &str) {
        self.request("POST", &format!("{forge}/session"), &[("login", login)]).await;
    }

    pub async fn get(&mut self, address: &str) -> Page {
        self.request("GET", address, &[]).await
    }

    /// Sends the form whose button has this text, with these fields besides its own.
    pub async fn press(&mut self, page: &Page, button: &str, fields: &[(&str, &str)]) -> Page {
        let forms = page.forms();
        let form = forms.iter().find(|form| form.text.contains(&format!("<button>{button}</button>")));
        let form = form.unwrap_or_else(|| panic!("no button {button}: {}", page.text));
        let (address, fields) = filled(page, form, fields);
        self.request("POST", &address, &lent(&fields)).await
    }

    /// The same, without following the answer's redirect.
    pub async fn press_once(&mut self, page: &Page, button: &str) -> Page {
        let forms = page.forms();
        let form = forms.iter().find(|form| form.text.contains(&format!("<button>{button}</button>")));
        let (address, fields) = filled(page, form.unwrap(), &[]);
        self.once("POST", &address, &lent(&fields)).await
    }

    /// Sends the form with this target.
    pub async fn send(&mut self, page: &Page, action: &str, fields: &[(&str, &str)]) -> Page {
        let forms = page.forms();
        let form = forms.iter().find(|form| form.action == action);
        let form = form.unwrap_or_else(|| panic!("no form {action}: {}", page.text));
        let (address, fields) = filled(page, form, fields);
        self.request("POST", &address, &lent(&fields)).await
    }

    /// Sends a request and follows redirects.
    pub async fn request(&mut self, method: &str, address: &str, fields: &[(&str, &str)]) -> Page {
        let page = self.once(method, address, fields).await;
        let Some(to) = page.headers.get("location").filter(|_| (300..400).contains(&page.status)) else {
            return page;
        };
        let to = Url::parse(address).unwrap().join(to.to_str().unwrap()).unwrap();
        Box::pin(self.request("GET", to.as_str(), &[])).await
    }

    /// Sends a request, waits until this has happened, and closes the connection before the answer. The other side has
    /// noticed that when this returns.
    pub async fn leave(&self, method: &str, address: &str, fields: &[(&str, &str)], happened: impl Future) {
        let url = Url::parse(address).unwrap();
        let (host, body) = (url.authority(), encoded(fields));
        let mut stream = TcpStream::connect(host).await.unwrap();
        let request = format!(
            "{method} {} HTTP/1.1\r\nhost: {host}\r\ncookie: {}\r\ncontent-length: {}\r\n\r\n{body}",
            &url[url::Position::BeforePath..],
            self.cookies_of(host),
            body.len(),
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        happened.await;
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        assert!(answer.is_empty(), "it was answered");
    }

    /// Sends only the beginning of a form; the caller keeps the connection open.
    pub async fn begins(&self, method: &str, address: &str) -> TcpStream {
        let url = Url::parse(address).unwrap();
        let mut stream = TcpStream::connect(url.authority()).await.unwrap();
        let (host, path) = (url.authority(), url.path());
        let request = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 9\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    fn cookies_of(&self, host: &str) -> String {
        let own = self.cookies.iter().filter(|((at, _), _)| *at == host);
        let cookies: Vec<String> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        cookies.join("; ")
    }

    /// Sends one request without following redirects.
    pub async fn once(&mut self, method: &str, address: &str, fields: &[(&str, &str)]) -> Page {
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let url = Url::parse(address).unwrap();
        let host = format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap());
        let body = encoded(fields);
        let request = http::Request::builder()
            .method(method)
            .uri(address)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", self.cookies_of(&host))
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let Ok(answer) = client.request(request).await else {
            return Page {
                status: 0,
                address: address.to_owned(),
                text: String::new(),
                headers: http::HeaderMap::new(),
            };
        };
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert((host.clone(), name.to_owned()), value.to_owned());
        }
        let (head, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Page {
            status: head.status.as_u16(),
            address: address.to_owned(),
            text: String::from_utf8_lossy(&body).into_owned(),
            headers: head.headers,
        }
    }
}
