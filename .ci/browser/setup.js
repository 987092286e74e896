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

/** Starts the service in a folder of its own. */
function serves(forge, data, more) {
  const env = { ...process.env, AUTOBUILD_DATA_DIR: data, AUTOBUILD_LISTEN: "127.0.0.1:0", AUTOBUILD_GITHUB_URL: forge,
    AUTOBUILD_AGENT: "command:true", AUTOBUILD_SANDBOX_MIN_LEVEL: "0", AUTOBUILD_WRITE_SPACING_MS: "0", ...more };
  for (const name of ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]) delete env[name];
  return { env, service: spawn(program, ["serve"], { env, stdio: ["ignore", "ignore", "pipe"] }) };
}

/** Signs in on the forge, opens the link, and chooses the organisation. */
async function chose(page, forge, link, login) {
  await page.goto(`${forge}/login`);
  await page.click(`button[value=${login}]`);
  await page.goto(link);
  await page.fill("#organization", "acme");
  await page.click("button:has-text('Continue')");
  await page.waitForURL(/settings\/apps\/new/);
}

// What goes wrong between the page and GitHub, each with the sentence that a person reads then.
async function refusals(browser, forge, data) {
  const { service } = serves(forge, data, { AUTOBUILD_AGENT: "claude", PATH: "/usr/local/bin:/usr/bin:/bin" });
  try {
    const link = await said(service, "stderr", /GitHub: open (\S+)/);
    const context = await browser.newContext();
    const page = await context.newPage();
    const reads = async (what, name, pattern) => {
      const text = (await page.textContent("main, body")).replace(/\s+/g, " ");
      check(pattern.test(text), `${what}: ${(text.match(pattern) || [text.slice(0, 300)])[0]}`);
      await page.screenshot({ path: path.join(folder, `setup-refused-${name}.png`), fullPage: true });
    };
    await page.goto(link);
    for (let tries = 0; tries < 50 && /still looked at/.test(await page.textContent("main")); tries += 1) await page.reload();
    await reads("a missing agent is told first", "agent", /agent claude broken: .*?npm install -g @anthropic-ai\/claude-code/);
    await looked(page, "0-agent");
    // The App is made, and the browser comes back with something else than GitHub gave it.
    const create = async (change) => {
      const [to, form] = await page.$eval("form.sign-in", (form) => [form.action, Object.fromEntries(new FormData(form))]);
      const made = await context.request.post(to, { form, maxRedirects: 0 });
      await page.goto(await change(new URL(made.headers().location)));
    };
    // The page that comes back registers at a click.
    const again = async (button) => { await page.click(button); await page.waitForURL(/settings\/apps\/new/); };
    await chose(page, forge, `${new URL(link).origin}/setup`, "eve");
    await reads("who does not own the organisation", "owner", /Not Found/);
    await page.goto(`${forge}/login`);
    await page.click("button[value=ann]");
    await page.goto(`${new URL(link).origin}/setup`);
    await again("text=Register AutoBuild on GitHub");
    await create(async (url) => { url.searchParams.set("state", "forged"); return url.href; });
    await reads("a wrong state", "state", /was not asked for here.*?delete it there; then use the button below\./);
    await again("text=Register AutoBuild on GitHub");
    await create(async (url) => { url.searchParams.set("code", "0123456789abcdef"); return url.href; });
    await reads("an expired code", "expired", /its key is lost: .*?then register it again\./);
    await page.click("text=I deleted it: register again");
    await again("text=Register AutoBuild on GitHub");
    await create(async (url) => {
      await context.request.post(`${forge}/api/v3/app-manifests/${url.searchParams.get("code")}/conversions`);
      return url.href;
    });
    await reads("a used code", "used", /its key is lost: .*?then register it again\./);
    await page.click("text=I deleted it: register again");
    await again("text=Register AutoBuild on GitHub");
    const name = await page.inputValue("#name");
    await page.click("button:has-text('Create GitHub App')");
    await page.waitForURL(/installations\/new/);
    await page.goto(`${new URL(link).origin}/setup`);
    await again("text=Register AutoBuild Coach on GitHub");
    await page.fill("#name", name);
    await page.click("button:has-text('Create GitHub App')");
    await reads("a taken name", "name", /Name is already taken/);
    await page.fill("#name", `${name} 2`);
    await page.click("button:has-text('Create GitHub App')");
    await page.waitForURL(/installations\/new/);
    check(true, "another name is taken at once");
    await page.goto(`${new URL(link).origin}/setup`);
    await reads("a service that cannot start", "start", /The service cannot start yet: .*? on\./);
  } finally {
    service.kill("SIGKILL");
  }
}

/** After the set-up, a new link opens the page again, with what is there. */
async function reopened(page, env, host) {
  const setup = spawn(program, ["setup", "--print"], { env: { ...env, AUTOBUILD_LISTEN: host }, stdio: ["ignore", "pipe", "inherit"] });
  await page.goto(await said(setup, "stdout", /(http:\S+token=\S+)/));
  const text = await page.textContent("main");
  check((text.match(/Registered as/g) || []).length === 2 && /The Coach is installed/.test(text), "the page opens again, with what is there");
  await looked(page, "5-again");
}

async function walk(browser, forge, data) {
  let started;
  await act("type `autobuild serve`", (async () => { started = serves(forge, data); })());
  const { env, service } = started;
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
    await act("A first issue, filled in", page.click("a:has-text('A first issue')"));
    await page.waitForURL(/\/acme\/shop\/issues\/new/);
    check(await page.inputValue("#labels") === "autobuild" && await page.inputValue("#title") !== "", "the first issue is written and labelled");
    await act("Create", page.click("main button:has-text('Create')"));
    await page.waitForURL(/\/acme\/shop\/issues\/\d+$/);
    for (let tries = 0; tries < 100 && !/autobuild-\w+\[bot\]/.test(await page.textContent("main")); tries += 1) {
      await page.waitForTimeout(200);
      await page.reload();
    }
    check(/autobuild-\w+\[bot\]/.test(await page.textContent("main")), "AutoBuild answers on the first issue");
    console.log(`first App: ${done.length - coach} actions; both Apps: ${done.length}; ${((Date.now() - began) / 1000).toFixed(0)} s with looking at each page`);
    check(done.length - coach <= 10 && done.length <= 14, "at most 10 with the first App, 14 with both");
    await reopened(page, env, new URL(link).host);
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
    await refusals(browser, address, path.join(data, "refused"));
  } finally {
    await browser.close();
    forge.kill("SIGKILL");
    fs.rmSync(data, { recursive: true, force: true });
  }
  if (wrong.length > 0) { console.log(`${wrong.length} wrong`); process.exit(1); }
}

main().catch((error) => { console.error(error.message); process.exit(1); });
