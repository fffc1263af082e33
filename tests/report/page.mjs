// Page: how checks find and use what a page of pleat report shows.
import { readFileSync } from "node:fs";

/** The panel whose title begins so. */
export const panel = (page, title) =>
  page.locator("article", { has: page.locator("h3", { hasText: new RegExp(`^${title}`) }) }).first();
export const status = (page, title) => panel(page, title).locator("[role=status]").innerText();

/** Brings everything that is drawn when it comes into sight there, and waits for it. */
export async function showAll(page) {
  for (const [look, state] of [[".heat", "painted"], [".molecule", "drawn"]]) {
    for (const one of await page.locator(look).all()) {
      await one.scrollIntoViewIfNeeded();
      await page.waitForFunction(([element, wanted]) => element.dataset.state === wanted,
                                 [await one.elementHandle(), state]);
    }
  }
  await page.evaluate(() => scrollTo(0, 0));
}

export const openFolds = (page) => page.evaluate(() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});

/** The middle of a cell of a map, in pixels of the window. */
export async function cell(page, title, row, column) {
  await panel(page, title).locator("svg.heat").scrollIntoViewIfNeeded();
  return panel(page, title).locator("svg.heat").evaluate((drawing, [r, c]) => {
    const inner = drawing.querySelector("svg"), box = inner.getBoundingClientRect(), view = inner.viewBox.baseVal;
    const matrix = drawing.getScreenCTM(), x = inner.x.baseVal.value, y = inner.y.baseVal.value;
    const wide = inner.width.baseVal.value;
    const at = new DOMPoint(x + ((c + 0.5 - view.x) / view.width) * wide, y + ((r + 0.5 - view.y) / view.height) * wide);
    const { x: left, y: top } = at.matrixTransform(matrix);
    return box.width > 0 ? [left, top] : null;
  }, [row, column]);
}

export async function download(page, press) {
  const [got] = await Promise.all([page.waitForEvent("download"), press()]);
  return { name: got.suggestedFilename(), bytes: readFileSync(await got.path()) };
}

/** A row of a table as texts. */
export const cells = (page, title, row) => panel(page, title).locator("tbody tr").nth(row).locator("td").allInnerTexts();

/** The same by the names of their columns. */
export async function row(page, title, number) {
  const names = await panel(page, title).locator("thead th").allInnerTexts();
  return Object.fromEntries((await cells(page, title, number)).map((cell, n) => [names[n], cell]));
}

/** The text of a mark and where it stands along an axis, in cells of the map (`side`: "x" or "y"). */
export async function marks(page, title, side) {
  return panel(page, title).locator("svg.heat").evaluate((drawing, along) => {
    const inner = drawing.querySelector("svg"), view = inner.viewBox.baseVal;
    const [start, wide, first, size] = along === "x" ? [inner.x.baseVal.value, inner.width.baseVal.value, view.x, view.width]
      : [inner.y.baseVal.value, inner.height.baseVal.value, view.y, view.height];
    const anchor = along === "x" ? "middle" : "end";
    return [...drawing.querySelectorAll(`.axes text.mark[text-anchor=${anchor}]`)].map((text) => {
      const at = Number(text.getAttribute(along)) - (along === "x" ? 0 : 4);
      return { text: text.textContent, cell: first + ((at - start) / wide) * size - 0.5 };
    });
  }, side);
}

/** The data of the page's first section of a kind. */
export const sectionData = (page, kind) => page.evaluate((wanted) =>
  JSON.parse(document.getElementById("pleat-data").textContent).runs[0].sections.find((one) => one.kind === wanted), kind);

export async function setSlider(page, title, label, value) {
  await panel(page, title).locator("label", { hasText: label }).locator("input").evaluate((input, to) => {
    input.value = String(to);
    input.dispatchEvent(new Event("input"));
  }, value);
}
