// The dashboard in a real browser, while a demo runs: what is seen, that it changes by itself, that it works without a
// script, with the keyboard and on a phone, and what axe-core says of it. Screenshots go to the folder that is named.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const [program, folder] = process.argv.slice(2);
const axe = require.resolve("axe-core");
const wrong = [];
const check = (holds, what) => { console.log(`${holds ? "ok" : "WRONG"}  ${what}`); if (!holds) wrong.push(what); };

const browserOf = () => ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(fs.existsSync);

function startDemo() {
  const demo = spawn(program, ["demo"], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  const found = (pattern) => new Promise((resolve, reject) => {
    const look = () => { const match = said.match(pattern); if (match) resolve(match[1]); };
    demo.stdout.on("data", look);
    demo.on("exit", () => reject(new Error(`the demo ended: ${said}`)));
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

async function looks(browser, address, name) {
  for (const [form, options] of Object.entries({
    light: { viewport: { width: 1200, height: 900 }, colorScheme: "light" },
    dark: { viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
    phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
  })) {
    const context = await browser.newContext({ ...options, bypassCSP: true });
    const page = await context.newPage();
    await page.goto(address);
    await judged(page, `${name}, ${form}`);
    await page.screenshot({ path: path.join(folder, `${name}-${form}.png`), fullPage: true });
    await context.close();
  }
}

async function withoutScript(browser, address) {
  const context = await browser.newContext({ javaScriptEnabled: false });
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

async function main() {
  fs.mkdirSync(folder, { recursive: true });
  const { demo, found } = startDemo();
  const browser = await chromium.launch({
    executablePath: browserOf(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    const opening = await found(/dashboard, while this runs: (http:\S+)/);
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
    await found(/(The pages are served until)/);
    const run = await page.getAttribute("main a[href*='/run?id=']", "href");
    await looks(browser, `${address}/`, "work");
    await looks(browser, `${address}${feature}`, "feature");
    await looks(browser, `${address}${run}`, "run");
    await withoutScript(browser, `${address}${feature}`);
    await withKeyboard(browser, `${address}${feature}`);
    const size = (await (await browser.newPage()).goto(`${address}${feature}`)).headers()["content-length"];
    console.log(`the Feature's page has ${size} bytes`);
    demo.kill("SIGINT");
    await page.waitForFunction(() => /connecting again/.test(document.getElementById("live").textContent), null, { timeout: 30_000 });
    check(true, "an open page says that the service is gone");
  } finally {
    demo.kill("SIGKILL");
    await browser.close();
  }
  if (wrong.length > 0) { console.log(`${wrong.length} wrong`); process.exit(1); }
}

main().catch((error) => { console.error(error.message); process.exit(1); });
