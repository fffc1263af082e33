// Looks at pages of pleat report in Chromium: node browser.mjs FOLDER BROWSER [FOLDER OF PICTURES]
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { checks } from "./checks.mjs";

const require = createRequire(new URL("../../report/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [folder, executablePath, shots = ""] = process.argv.slice(2);
const SOFTWARE_GL = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
const NO_GL = ["--no-sandbox", "--disable-gpu", "--disable-3d-apis"];

/** A page that keeps count of what must not happen. */
async function open(browser, name, options) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(120_000);  // machines may be busy
  const page = await context.newPage();
  const wrong = [], path = `${folder}/${name}.html`;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !/GPU stall|swiftshader|WebGL/i.test(message.text()))
      wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && request.url() !== `file://${path}`) wrong.push(`request: ${request.url()}`);
  });
  const devTools = await context.newCDPSession(page);
  await devTools.send("Performance.enable", { timeDomain: "threadTicks" });
  /** Seconds of processor that the page's process has taken. */
  const processor = async () => {
    const { metrics } = await devTools.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === "ProcessTime").value;
  };
  await page.goto(`file://${path}`);
  await page.waitForFunction(() => document.documentElement.dataset.state === "ready");
  return { page, wrong, processor, bytes: statSync(path).size, context };
}

/** Serious faults that axe-core finds. */
async function faults(page) {
  // The page forbids itself scripts from elsewhere; the test's own is run by the browser.
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`);
}

let failed = 0;
const withGl = await chromium.launch({ executablePath, args: SOFTWARE_GL });
const withoutGl = await chromium.launch({ executablePath, args: NO_GL });
const wanted = new RegExp(process.env.PLEAT_CHECKS ?? "");  // of names; all by default
for (const { name, needs, webGl = true, options = {}, run } of checks.filter((check) => wanted.test(check.name))) {
  const opened = await open(webGl ? withGl : withoutGl, needs, options);
  try {
    await run({ ...opened, faults: () => faults(opened.page), shots });
    assert.deepEqual(opened.wrong, []);
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}: ${error.message}`);
  } finally {
    await opened.context.close();
  }
}
await withGl.close();
await withoutGl.close();
process.exit(failed > 0 ? 1 : 0);
