// Looks at the built documentation in Chromium: node browser.mjs HTML_FOLDER BROWSER [FOLDER OF PICTURES]
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../report/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [folder, executablePath, shots = ""] = process.argv.slice(2);
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const LIGHT = "rgb(255, 255, 255)", DARK = "rgb(19, 20, 22)";

/** A page that keeps count of errors, and of files that are missing or not of the site. */
async function open(browser, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage(), wrong = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => wrong.push(`missing: ${request.url()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`file://${folder}/`) && !request.url().startsWith("data:"))
      wrong.push(`request: ${request.url()}`);
  });
  return { page, wrong, context };
}

const checks = {
  async "every page opens without an error"({ page }) {
    const pages = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html"));
    assert.ok(pages.length > 60, `${pages.length} pages`);
    for (const name of pages) {
      await page.goto(`file://${folder}/${name}`);
      assert.equal(await page.evaluate(() => document.documentElement.classList.contains("no-js")), false, name);
    }
  },
  async "the switch turns the theme, and pages keep it"({ page }) {
    await page.goto(`file://${folder}/index.html`);
    assert.equal(await background(page), LIGHT);
    const press = () => page.locator(".theme-toggle:visible").first().click();
    await press();
    assert.equal(await background(page), DARK);
    await page.goto(`file://${folder}/engines/rmsd.html`);
    assert.equal(await background(page), DARK);
    await press();
    assert.equal(await background(page), LIGHT);
  },
  async "a system that prefers dark pages gets them"({ page }) {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(`file://${folder}/engines/rmsd.html`);
    assert.equal(await background(page), DARK);
    await page.emulateMedia({ colorScheme: "dark", media: "print" });
    assert.equal(await background(page), LIGHT);
  },
  async "the search finds pleat rmsd"({ page }) {
    await page.goto(`file://${folder}/index.html`);
    await page.locator("input[name=q]").fill("pleat rmsd");
    await page.keyboard.press("Enter");
    const first = page.locator("#search-results ul.search li a").first();
    await first.waitFor();
    assert.equal(await first.innerText(), "pleat rmsd");
    await first.click();
    assert.match(page.url(), /cli\/pleat-rmsd\.html/);
    assert.equal(await page.locator("h1").innerText(), "pleat rmsd");
  },
  async "the gallery and the tutorials show their pictures"({ page }) {
    const widths = () => page.evaluate(() => [...document.querySelectorAll("article img")].map((image) => image.naturalWidth));
    await page.goto(`file://${folder}/gallery.html`);
    const shown = await widths();
    assert.ok(shown.length >= 6 && shown.length <= 10 && shown.every((width) => width > 300), String(shown));
    for (const name of ["couplings", "mutual_information", "rmsd", "cluster", "saxs", "select", "refine", "report"]) {
      await page.goto(`file://${folder}/tutorials/${name}.html`);
      assert.ok((await widths()).some((width) => width > 300), name);
    }
  },
  async "pages fit a phone"({ page }) {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const name of ["index", "overview", "gallery", "tutorials/saxs", "engines/rmsd", "reference/python", "speed"]) {
      await page.goto(`file://${folder}/${name}.html`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 390, `${name}: ${width} wide`);
    }
  },
  async "the search finds a function of Python"({ page }) {
    await page.goto(`file://${folder}/search.html?q=read_ensemble`);
    const found = page.locator("#search-results ul.search li a");
    await found.first().waitFor();
    assert.ok((await found.evaluateAll((links) => links.map((link) => link.getAttribute("href"))))
      .some((link) => link.includes("reference/python.html")));
  },
  async "the contents follow the reader"({ page }) {
    await page.goto(`file://${folder}/engines/rmsd.html`);
    const last = page.locator(".toc-tree a").last();
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.locator(".toc-tree .scroll-current").first().waitFor();
    assert.ok(await last.isVisible());
  },
};

let failed = 0;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const [name, run] of Object.entries(checks)) {
  const opened = await open(browser, { colorScheme: "light" });
  try {
    await run(opened);
    assert.deepEqual(opened.wrong, []);
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}: ${error.message}`);
  } finally {
    await opened.context.close();
  }
}
if (shots !== "")
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await open(browser, { colorScheme });
    for (const name of ["index", "gallery", "engines/rmsd", "reference/python", "search"]) {
      await page.goto(`file://${folder}/${name}.html`);
      await page.screenshot({ path: `${shots}/site-${name.replace("/", "-")}-${colorScheme}.png` });
    }
  }
await browser.close();
process.exit(failed > 0 ? 1 : 0);
