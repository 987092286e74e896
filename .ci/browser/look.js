// The dashboard in a real browser, while a demo runs: what is seen, that it changes by itself, that it works without a
// script, with the keyboard and on a phone, and what axe-core says of it. Screenshots go to the folder that is named.
"use strict";
const { execFileSync, spawn } = require("node:child_process");
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

// A fold that the person closed stays closed, and the focus stays where it was, whatever comes.
async function staysAsLeft(browser, address) {
  const page = await browser.newPage();
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById("live").textContent === "live");
  const fold = await page.getAttribute("details[open][id]", "id");
  await page.click(`[id="${fold}"] > summary`);
  await page.focus("svg a");
  const kept = await page.evaluate((fold) => {
    const main = document.querySelector("[data-live]");
    const link = document.activeElement.id;
    const source = new EventSource(main.dataset.live);
    return new Promise((resolve) => {
      source.onmessage = () => { source.close(); resolve({ closed: !document.getElementById(fold).open, link: Boolean(link) }); };
    });
  }, fold);
  check(kept.closed && kept.link, "a closed fold stays closed, and links of the waves have names to keep the focus by");
  await page.close();
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
  const pull = await page.evaluate(() => [...document.querySelectorAll("main a")].map((one) => one.pathname).find((one) => /\/pull\/\d+$/.test(one)));
  if (pull) await looks(browser, `${forge}${pull}`, "forge-pull", own);
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
    await found(/(Open these pages)/);
    const forge = new URL(await found(/repository {2}(http:\S+)/));
    await page.goto(forge.href);
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
    await page.waitForSelector("svg .done ~ .working", { timeout: 60_000 });
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
