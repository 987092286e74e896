// The dashboard in a real browser, while a demo runs: what is seen, that it changes by itself, that it works without a
// script, with the keyboard and on a phone, and what axe-core says of it. Screenshots go to the folder that is named.
"use strict";
const { execFileSync, spawn } = require("node:child_process");
const { generateKeyPairSync } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const [program, folder] = process.argv.slice(2);
const screens = folder;
const axe = require.resolve("axe-core");
const wrong = [];
const check = (holds, what) => { console.log(`${holds ? "ok" : "WRONG"}  ${what}`); if (!holds) wrong.push(what); };

const browserOf = () => ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(fs.existsSync);

function startDemo(more = []) {
  const demo = spawn(program, ["demo", ...more], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  const found = (pattern) => new Promise((resolve, reject) => {
    const look = () => { const match = said.match(pattern); if (match) resolve(match[1]); };
    demo.stdout.on("data", look);
    demo.on("exit", () => reject(new Error(`the demo ended: ${said}`)));
    setTimeout(() => reject(new Error(`nothing like ${pattern} came in two minutes: ${said}`)), 120_000).unref();
    look();
  });
  demo.stdout.on("data", (data) => { said += data; });
  return { demo, found };
}

async function judged(page, what) {
  await page.addScriptTag({ path: axe });
  const found = await page.evaluate(() => axe.run());
  const told = found.violations.map((one) => `${one.id} (${one.nodes.length}): ${one.nodes[0].target}`);
  check(told.length === 0, `${what}: axe-core finds nothing${told.map((one) => `\n    ${one}`).join("")}`);
  const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
  check(fits, `${what}: nothing sticks out`);
}

async function looks(browser, address, name, own) {
  for (const [form, options] of Object.entries({
    light: { viewport: { width: 1200, height: 900 }, colorScheme: "light" },
    dark: { viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
    phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
  })) {
    const context = await browser.newContext({ ...own, ...options, bypassCSP: true });
    const page = await context.newPage();
    const answer = await page.goto(address);
    check(answer.ok(), `${name}, ${form}: the page is there`);
    await judged(page, `${name}, ${form}`);
    if (form === "phone") {
      const cells = await page.$$eval("table:not(.diff) td", (all) => all.filter((one) => getComputedStyle(one).display === "table-cell").length);
      check(cells === 0, `${name}, ${form}: the rows of tables are cards`);
    }
    await page.screenshot({ path: path.join(folder, `${name}-${form}.png`), fullPage: true });
    await context.close();
  }
}

async function withoutScript(browser, address, own) {
  const context = await browser.newContext({ ...own, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address);
  const text = await page.textContent("main");
  check(/State: completed/.test(text) && /TASK-005/.test(text), "without a script everything can be read");
  await context.close();
}

async function withKeyboard(browser, address) {
  const page = await browser.newPage();
  await page.goto(address);
  await page.keyboard.press("Tab");
  check((await page.evaluate(() => document.activeElement.textContent)) === "To the content", "the first Tab leads to the content");
  const reached = new Set();
  for (let at = 0; at < 60; at += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.closest("svg") ? "waves" : document.activeElement.tagName));
  }
  check(reached.has("waves") && reached.has("SUMMARY"), "the waves and the folds are reached by Tab");
  await page.close();
}

// Whatever comes, folds stay as the person left them, and so do the focus, what is selected and how far is scrolled. The
// pages that come are made here, from the one that is shown.
async function staysAsLeft(browser, address) {
  const page = await browser.newPage();
  await page.addInitScript(() => {
    window.EventSource = class { constructor() { window.source = this; } addEventListener() {} close() {} };
  });
  await page.goto(address);
  const left = await page.evaluate(() => {
    const main = document.querySelector("[data-live]");
    const come = (change) => {
      const copy = main.cloneNode(true);
      copy.querySelectorAll("details").forEach((one) => { one.open = false; });
      change(copy);
      window.source.onmessage({ data: copy.innerHTML });
    };
    const bear = (copy, selector) => copy.querySelector(selector).insertAdjacentHTML("beforebegin", "<p>New</p>");
    const kept = {};
    const folds = [...main.querySelectorAll("details")];
    folds.filter((one) => one.open).forEach((one) => one.querySelector("summary").click());
    folds[1].querySelector("summary").click();
    const selected = main.querySelector("dl.facts dd").firstChild;
    getSelection().selectAllChildren(selected);
    const words = String(getSelection());
    main.querySelector(".scroll").scrollLeft = 5;
    const scrolled = main.querySelector(".scroll").scrollLeft;
    const links = [...main.querySelectorAll("svg a, td a, dd a, summary")].filter((one) => one.checkVisibility());
    kept.focus = links.every((one) => {
      one.focus();
      come((copy) => { bear(copy, "h1"); bear(copy, "article"); });
      return document.activeElement === one && one.isConnected;
    });
    kept.folds = folds[1].open && folds.every((one, at) => one.isConnected && one.open === (at === 1));
    kept.selection = words !== "" && String(getSelection()) === words;
    kept.scroll = main.querySelector(".scroll").scrollLeft === scrolled;
    const shown = main.innerHTML.replaceAll(" open=\"\"", "");
    come((copy) => { copy.querySelectorAll("p").forEach((one) => { if (one.textContent === "New") one.remove(); }); });
    kept.removed = !main.textContent.includes("New") && shown.includes("<p>New</p>");
    const table = [...main.querySelectorAll("details")].find((one) => one.querySelectorAll("tr a").length > 1);
    if (!table.open) table.querySelector("summary").click();
    const last = [...table.querySelectorAll("tr a")].pop();
    last.focus();
    const href = last.href;
    come((copy) => { const row = copy.querySelector(`#${table.id} tbody`); row.prepend(row.lastElementChild); });
    kept.moved = document.activeElement.href === href && table.querySelector("tbody a").href === href;
    come((copy) => { copy.innerHTML = "<h1>Gone</h1>"; });
    kept.whole = main.innerHTML === "<h1>Gone</h1>";
    return kept;
  });
  for (const [what, holds] of Object.entries(left)) check(holds, `an update leaves as it was: ${what}`);
  await page.close();
}

// An operator signs in on the way to the queue, and presses the button of a failed step. `serve` as it is started by hand.
async function operates(browser) {
  const data = fs.mkdtempSync("/tmp/look-serve-");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, privateKeyEncoding: { type: "pkcs8", format: "pem" }, publicKeyEncoding: { type: "spki", format: "pem" } });
  const env = { ...process.env, AUTOBUILD_DATA_DIR: data, AUTOBUILD_LISTEN: "127.0.0.1:0", AUTOBUILD_ADMIN_TOKEN: "an-operators-own-token",
    AUTOBUILD_APP_ID: "7", AUTOBUILD_PRIVATE_KEY: privateKey, AUTOBUILD_WEBHOOK_SECRET: "a secret of the hook", NO_COLOR: "1",
    AUTOBUILD_GITHUB_URL: "http://127.0.0.1:9", AUTOBUILD_AGENT: "command:true", AUTOBUILD_SANDBOX_MIN_LEVEL: "0" };
  const service = spawn(program, ["serve"], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  service.stderr.on("data", (text) => { said += text; });
  try {
    const page = await browser.newPage({ storageState: undefined });
    for (let at = 0; at < 240 && !/listening on http:\S+/.test(said); at += 1) await page.waitForTimeout(250);
    const address = said.match(/listening on (http:[^\s"]+)/)[1];
    for (let at = 0; at < 240; at += 1) {
      if (await page.request.get(`${address}/readyz`).then((answer) => answer.ok(), () => false)) break;
      await page.waitForTimeout(250);
    }
    execFileSync("python3", ["-c", `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("""INSERT INTO effect (id, kind, lane, subject, feature_id, ordered, installation_id, payload, state, priority,
  run_at, first_due, attempt, last_error) VALUES ('say', 'living', 'forge', '22/42/1', '22/42/1', 0, 11, '{"living":{"emission":1}}', 'failed', 1,
  1, 1, 9, 'GitHub refused it twice')""")
for repo, issue in [(22, 42), (22, 43), (23, 1), (24, 1)]:
  database.execute("INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, data) VALUES (?, 11, ?, ?, 1, 'building', 1, '{}')",
    (f"{repo}/{issue}/1", repo, issue))
database.commit()`, path.join(data, "autobuild.db")]);
    await page.goto(`${address}/queue`);
    check(new URL(page.url()).pathname === "/sign-in", "who is not signed in is asked to");
    await page.fill("#token", "not the token at all");
    await page.click("form.sign-in button");
    check(await page.isVisible("[role=alert]"), "a wrong token is told");
    await page.fill("#token", "an-operators-own-token");
    await page.click("form.sign-in button");
    check(page.url() === `${address}/queue`, "after signing in the operator sees the page that they asked for");
    const own = { storageState: await page.context().storageState() };
    await looks(browser, `${address}/queue`, "queue-failed", own);
    await looks(browser, `${address}/`, "work-of-repositories", own);
    await looks(browser, `${address}/doctor`, "doctor", own);
    await looks(browser, `${address}/sign-in?to=%2Fqueue`, "sign-in", own);
    await Promise.all([page.waitForNavigation(), page.click("button:has-text('Try again')")]);
    const told = await page.textContent("main");
    check(page.url() === `${address}/queue` && !told.includes("GitHub refused it twice"), `the button tries the step again: ${told}`);
    await Promise.all([page.waitForNavigation(), page.click("button:has-text('Sign out')")]);
    await page.goto(`${address}/queue`);
    check(new URL(page.url()).pathname === "/sign-in", "who signed out is out");
    await page.close();
  } finally {
    service.kill("SIGKILL");
    fs.rmSync(data, { recursive: true, force: true });
  }
}

// A person acts on the local forge: a comment, an approval, a commit, a merge; the open page shows it by itself.
async function acts(browser, forge, repository, own) {
  const page = await browser.newPage();
  await page.goto(`${forge}${repository}`);
  const issue = await page.getAttribute("main a[href*='/issues/']", "href");
  const watching = await browser.newPage();
  await watching.goto(`${forge}${issue}`);
  await page.goto(`${forge}${issue}`);
  check(await page.locator("svg.waves rect").count() > 0, "the plan's graph is drawn on the issue");
  await page.fill("#body", "Thank you all");
  await page.click("form.act button.main");
  await page.waitForSelector("text=Thank you all");
  const asked = Date.now();
  await watching.waitForSelector("text=Thank you all", { timeout: 5_000 });
  check(true, `a comment shows on another open page by itself, ${Date.now() - asked} ms later`);
  await looks(browser, `${forge}${issue}`, "forge-issue", own);
  const links = (pattern) => page.$$eval("main a", (all, pattern) => all.map((one) => one.pathname).filter((one) => new RegExp(pattern).test(one)), pattern);
  const pulls = await links("/pull/\\d+$");
  await looks(browser, `${forge}${pulls[0]}`, "forge-pull", own);
  await looks(browser, `${forge}${pulls.at(-1)}`, "forge-pull-of-a-task", own);
  await page.goto(`${forge}${pulls.at(-1)}`);
  const [commit] = await links("/commit/\\w+$");
  await looks(browser, `${forge}${commit}`, "forge-commit", own);
  await watching.close();
  await page.close();
}

// A Feature whose only task is sent back in its only turn.
const STUCK = {
  settings: "max_turns: 1\nplan_approval: always\n",
  issue: `# Greet people

\`\`\`yaml
tasks:
  - id: TASK-001
    name: Greet
    type: documentation
    acceptance_criteria:
      - text: It greets
        check: { file: hello.txt }
    files: [hello.txt]
    dependencies: []
\`\`\`
`,
  agents: `
- role: player
  write: { hello.txt: "Hullo\\n" }
  answer: { summary: Greeting, files_modified: [], files_created: [hello.txt], ready_for_validation: true }
- role: coach
  answer:
    decision: feedback
    summary: Not yet
    issues:
      - { severity: must_fix, category: correctness, description: "It says Hullo, and people expect Hello", file: hello.txt, line: 1 }
- role: coach
  answer: { decision: approve, summary: Fine, criteria: [{ criterion: 1, met: true, evidence: hello.txt }] }
`,
};

// Without a script a person brings a Feature that is blocked to its end: everything is a form.
async function rescues(browser) {
  const folder = fs.mkdtempSync("/tmp/look-");
  const repository = path.join(folder, "greet");
  fs.mkdirSync(repository);
  const run = (...command) => execFileSync(command[0], command.slice(1), { cwd: repository, stdio: "pipe" });
  fs.writeFileSync(path.join(repository, "README.md"), "# Greet\n");
  fs.mkdirSync(path.join(repository, ".github"));
  fs.writeFileSync(path.join(repository, ".github/autobuild.yml"), STUCK.settings);
  run("git", "init", "-q", "-b", "main"); run("git", "add", "-A");
  run("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "Begin");
  fs.writeFileSync(path.join(folder, "issue.md"), STUCK.issue);
  fs.writeFileSync(path.join(folder, "agents.yml"), STUCK.agents);
  const { demo, found } = startDemo(["--repo", repository, "--issue", path.join(folder, "issue.md"), "--agent", `scripted:${path.join(folder, "agents.yml")}`]);
  try {
    const opening = await found(/Watch it while it runs: (http:\S+)/);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(opening);
    await page.waitForURL(`${new URL(opening).origin}/`);
    await found(/(Open these pages)/);
    const forge = new URL(await found(/repository {2}(http:\S+)/));
    await page.goto(forge.href);
    await page.waitForURL(forge.origin + forge.pathname);
    const shows = async (address, words) => {
      for (let at = 0; at < 240; at += 1) {
        await page.goto(address);
        if ((await page.textContent("main")).includes(words)) return true;
        await page.waitForTimeout(250);
      }
      return false;
    };
    const issue = `${forge.origin}${await page.getAttribute("main a[href*='/issues/']", "href")}`;
    await page.goto(issue);
    await page.click("#say-approve-the-plan");
    const dashboard = new URL(opening).origin;
    check(await shows(dashboard + "/", "blocked"), "the approved plan is built, and blocked");
    await page.goto(forge.origin + forge.pathname);
    const pull = `${forge.origin}${await page.getAttribute("main a[href*='/pull/']", "href")}`;
    await page.goto(pull);
    const labels = await page.$$eval("main button", (all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent));
    const twice = labels.filter((label, at) => labels.indexOf(label) !== at);
    check(labels.includes("Resume") && twice.length === 0, `one button for each act ${twice}`);
    await page.click("summary:has-text('Commit by hand')");
    await page.fill("#path", "hello.txt");
    await page.fill("#text", "Hello, world\n");
    await page.click("form.act:has(#path) button.main");
    check(await shows(pull, "Change hello.txt by hand"), "a commit by hand is on the branch");
    await page.screenshot({ path: path.join(screens, "by-hand.png"), fullPage: true });
    await page.goto(pull);
    await page.click("#say-approve-in-the-coach-s-place, [id^='say-approve-in']");
    check(await shows(dashboard + "/", "in review"), "a person's approval brings the Feature to its review");
    await page.goto(forge.origin + forge.pathname);
    const last = `${forge.origin}${await page.getAttribute("main a[href*='/pull/']", "href")}`;
    await page.goto(last);
    await page.click("#merge");
    check(await shows(dashboard + "/", "completed"), "and a person's merge completes it");
    await context.close();
  } finally {
    demo.kill("SIGKILL");
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function median(browser, address) {
  const times = [];
  for (let at = 0; at < 9; at += 1) {
    const page = await browser.newPage();
    await page.goto(address);
    times.push(await page.evaluate(() => new Promise((resolve) => {
      const seen = performance.getEntriesByName("first-contentful-paint")[0];
      if (seen) { resolve(seen.startTime); return; }
      new PerformanceObserver((list) => { const one = list.getEntriesByName("first-contentful-paint")[0]; if (one) resolve(one.startTime); })
        .observe({ type: "paint", buffered: true });
    })));
    await page.close();
  }
  return times.sort((one, two) => one - two)[4];
}

async function weight(browser, address) {
  const page = await browser.newPage();
  const bodies = [];
  page.on("response", (response) => { if (!/live$/.test(new URL(response.url()).pathname)) bodies.push(response.body()); });
  await page.goto(address, { waitUntil: "load" });
  await page.waitForFunction(() => document.getElementById("live").textContent === "live");
  const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + body.length, 0);
  await page.close();
  return bytes;
}

async function main() {
  fs.mkdirSync(folder, { recursive: true });
  const { demo, found } = startDemo();
  const browser = await chromium.launch({
    executablePath: browserOf(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    const opening = await found(/Watch it while it runs: (http:\S+)/);
    const address = new URL(opening).origin;
    const page = await browser.newPage();
    const opened = await page.goto(opening);
    await page.waitForURL(`${address}/`);
    check(opened.ok() && page.url() === `${address}/`, "the printed address opens the dashboard, and its key leaves the address");
    const stranger = await (await browser.newPage()).goto(`${address}/`);
    check(stranger.status() === 403, "without the key nobody sees it");
    const own = { storageState: await page.context().storageState() };
    const newPage = browser.newPage.bind(browser);
    browser.newPage = (options) => newPage({ ...own, ...options });
    const elsewhere = [];
    page.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("data:")) elsewhere.push(request.url()); });
    const complaints = [];
    page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
    await page.goto(`${address}/`);
    await page.waitForSelector("main a[href^='/features/']", { timeout: 60_000 });
    check(true, "a Feature appears on the open page by itself");
    const feature = await page.getAttribute("main a[href^='/features/']", "href");
    await page.click("main a[href^='/features/']");
    await page.waitForSelector("svg .completed ~ .working", { timeout: 60_000 });
    await page.setViewportSize({ width: 1100, height: 720 });
    await page.screenshot({ path: path.join(folder, "at-work.png") });
    await page.waitForFunction(() => /State: completed/.test(document.querySelector("main").textContent), null, { timeout: 120_000 });
    check(true, "the open Feature's page follows to its end by itself");
    check(elsewhere.length === 0, `no request to another host ${elsewhere}`);
    check(complaints.length === 0, `the browser has nothing to complain of ${complaints}`);
    await found(/(Open these pages)/);
    const run = await page.getAttribute("main a[href*='/run?id=']", "href");
    for (const [name, where] of Object.entries({ work: "/", feature, run, queue: "/queue", spending: "/spending" })) {
      await looks(browser, `${address}${where}`, name, own);
    }
    await withoutScript(browser, `${address}${feature}`, own);
    await withKeyboard(browser, `${address}${feature}`);
    await staysAsLeft(browser, `${address}${feature}`);
    await operates(browser);
    const starting = await browser.newPage();
    await starting.route("**/live", (route) => route.fulfill({ status: 503, body: "starting" }), { times: 1 });
    await starting.goto(`${address}/`);
    await starting.waitForFunction(() => document.getElementById("live").textContent === "connecting again …");
    await starting.waitForFunction(() => document.getElementById("live").textContent === "live", null, { timeout: 20_000 });
    check(true, "a page that met a service that was starting is live again");
    await starting.close();
    const pages = new URL(await found(/repository {2}(http:\S+)/));
    await acts(browser, pages.origin, pages.pathname, own);
    for (const [name, where] of Object.entries({ work: "/", feature })) {
      const [bytes, first] = [await weight(browser, `${address}${where}`), await median(browser, `${address}${where}`)];
      console.log(`${name}: ${(bytes / 1000).toFixed(1)} kB with style and script, first paint after ${first.toFixed(0)} ms (median of 9)`);
    }
    demo.kill("SIGINT");
    await page.waitForFunction(() => /connecting again/.test(document.getElementById("live").textContent), null, { timeout: 30_000 });
    check(true, "an open page says that the service is gone");
    await rescues(browser);
  } finally {
    demo.kill("SIGKILL");
    await browser.close();
  }
  if (wrong.length > 0) { console.log(`${wrong.length} wrong`); process.exit(1); }
}

main().catch((error) => { console.error(error.message); process.exit(1); });
