// The set-up in a real browser, against a forge: what a person clicks and types from `autobuild serve` on, counted, with
// screenshots and axe-core on each page. Usage: setup.js PROGRAM FORGE FOLDER
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { chromium } = require("playwright-core");

const [program, forgeProgram, folder] = process.argv.slice(2);
const axe = fs.readFileSync(require.resolve("axe-core"), "utf8");
const wrong = [];
const check = (holds, what) => { console.log(`${holds ? "ok" : "WRONG"}  ${what}`); if (!holds) wrong.push(what); };
const browserOf = () => ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(fs.existsSync);

// What a person does, one by one. Passwords of GitHub are not counted, nor is saying who one is on the forge.
const done = [];
const act = async (what, deed) => { done.push(what); console.log(`    ${done.length}. ${what}`); await deed; };

function said(child, stream, pattern) {
  let text = "";
  return new Promise((resolve, reject) => {
    child[stream].on("data", (data) => { text += data; const match = text.match(pattern); if (match) resolve(match[1]); });
    child.on("exit", () => reject(new Error(`it ended: ${text}`)));
  });
}

async function judged(page, name) {
  // Evaluated, not loaded: the page's own policy stays in force.
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run());
  const told = found.violations.map((one) => `${one.id} (${one.nodes.length}): ${one.nodes[0].target}`);
  check(told.length === 0, `${name}: axe-core finds nothing${told.map((one) => `\n    ${one}`).join("")}`);
  const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
  check(fits, `${name}: nothing sticks out`);
  await page.screenshot({ path: path.join(folder, `setup-${name}.png`), fullPage: true });
}

const forms = {
  light: { viewport: { width: 1100, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1100, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
};

/** Looks at the page as it is in every form. */
async function looked(page, name) {
  for (const [form, { viewport, colorScheme }] of Object.entries(forms)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await judged(page, `${name}-${form}`);
  }
  await page.setViewportSize(forms.light.viewport);
  await page.emulateMedia({ colorScheme: "light" });
}

async function walk(browser, forge, data) {
  const env = { ...process.env, AUTOBUILD_DATA_DIR: data, AUTOBUILD_LISTEN: "127.0.0.1:0", AUTOBUILD_GITHUB_URL: forge,
    AUTOBUILD_AGENT: "command:true", AUTOBUILD_SANDBOX_MIN_LEVEL: "0", AUTOBUILD_WRITE_SPACING_MS: "0" };
  delete env.DISPLAY;
  let service;
  await act("type `autobuild serve`", (async () => { service = spawn(program, ["serve"], { env, stdio: ["ignore", "ignore", "pipe"] }); })());
  const began = Date.now();
  try {
    const link = await said(service, "stderr", /GitHub: open (\S+)/);
    const context = await browser.newContext();
    const page = await context.newPage();
    const elsewhere = [];
    page.on("request", (request) => { if (!request.url().startsWith("http://127.0.0.1:") && !request.url().startsWith("data:")) elsewhere.push(request.url()); });
    const leaked = [];
    page.on("request", (request) => { if (/token=|code=/.test(request.headers().referer || "")) leaked.push(request.url()); });
    await page.goto(`${forge}/login`);
    await page.click("button[value=ann]");
    await act("open the link", page.goto(link));
    check(!page.url().includes("token="), "the link's token does not stay in the address");
    await looked(page, "1-where");
    await act("type the organisation", page.fill("#organization", "acme"));
    await act("Continue", page.click("button:has-text('Continue')"));
    await page.waitForURL(/settings\/apps\/new/);
    check(true, "with a script, Continue leads to GitHub at once");
    await act("Create GitHub App", page.click("button:has-text('Create GitHub App')"));
    await page.waitForURL(/installations\/new/);
    await act("Install", page.click("main button:has-text('Install')"));
    await page.waitForURL(/\/setup/);
        await looked(page, "2-installed");
    const first = done.length;
    await act("Register AutoBuild Coach", page.click("text=Register AutoBuild Coach on GitHub"));
    await act("Create GitHub App (Coach)", page.click("button:has-text('Create GitHub App')"));
    await page.waitForURL(/installations\/new/);
    await act("Install (Coach)", page.click("main button:has-text('Install')"));
    await page.waitForURL(/\/setup/);
    const coach = done.length - first;
    for (let tries = 0; tries < 50 && !/GitHub reached/.test(await page.textContent("main")); tries += 1) {
      await page.waitForTimeout(300);
      await page.reload();
    }
    check(/GitHub reached/.test(await page.textContent("main")), "the address is proven");
    await looked(page, "3-both");
    await act("tick a repository", page.check("label.row:has-text('acme/shop') input"));
    await act("Finish", page.click("button:has-text('Finish')"));
    await page.waitForSelector("h1:has-text('AutoBuild is set up')");
    await looked(page, "4-done");
    const again = await context.request.get(`${new URL(link).origin}/setup`);
    check(again.status() === 410, "after the last step the page is gone");
    check(elsewhere.length === 0, `no request to another host ${elsewhere}`);
    check(leaked.length === 0, `no address with a token or a code is told to others ${leaked}`);
    const issue = await page.getAttribute("a:has-text('A first issue')", "href");
    check(/\/acme\/shop\/issues\/new\?labels=autobuild&title=/.test(issue), "the link to a first issue brings the label");
    // On GitHub: that link, and the button that creates the issue.
    const labelled = 2;
    console.log(`first App: ${done.length - coach} actions, and ${labelled} on GitHub to the first labelled issue`);
    console.log(`both Apps: ${done.length} actions, and ${labelled} on GitHub; ${((Date.now() - began) / 1000).toFixed(0)} s with looking at each page`);
    check(done.length - coach + labelled <= 10 && done.length + labelled <= 14, "at most 10 with the first App, 14 with both");
  } finally {
    service.kill("SIGKILL");
  }
}

async function main() {
  fs.mkdirSync(folder, { recursive: true });
  const data = fs.mkdtempSync(path.join(os.tmpdir(), "autobuild-setup-"));
  const forge = spawn(forgeProgram, [], { stdio: ["pipe", "pipe", "inherit"] });
  const address = await said(forge, "stdout", /(http:\S+)/);
  const browser = await chromium.launch({
    executablePath: browserOf(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    await walk(browser, address, data);
  } finally {
    await browser.close();
    forge.kill("SIGKILL");
    fs.rmSync(data, { recursive: true, force: true });
  }
  if (wrong.length > 0) { console.log(`${wrong.length} wrong`); process.exit(1); }
}

main().catch((error) => { console.error(error.message); process.exit(1); });
