// Mutant checks: what the page of pleat mutants must show and do in a browser.
import assert from "node:assert/strict";
import { download, openFolds, panel, sectionData, showAll, status } from "./page.mjs";

export const mutantChecks = [
  {
    name: "mutants: all substitutions are read by pointer and keys, and shown on the molecule", needs: "mutants",
    async run({ page }) {
      await showAll(page);
      const title = "Effects of single mutants", data = await sectionData(page, "substitutions");
      const drawing = panel(page, title).locator("svg.lines");
      const letters = data.groups.map((group) => group.letters).join("");
      assert.equal([...letters].sort().join(""), "ACDEFGHIKLMNPQRSTVWY");
      // One dot per residue marks the wild type.
      const dots = await drawing.locator("path.wild-type").evaluateAll((all) =>
        all.map((one) => one.getAttribute("d").split("M").length - 1).reduce((a, b) => a + b, 0));
      assert.equal(dots, data.numbers.length);
      const rows = (await download(page, () => panel(page, "Single mutants").getByRole("button", { name: "Save all rows" }).click()))
        .bytes.toString().trimEnd().split("\n").map((line) => line.split("\t"));
      const known = Object.fromEntries(rows.slice(1).map((row) => [row[1], row]));
      const effect = rows[0].indexOf("prediction_epistatic"), percentile = rows[0].indexOf("percentile");
      await page.evaluate(() => scrollTo(0, 0));
      // The letter in the second row at the third residue, by the picture's own place and size.
      const place = await drawing.locator("image").first().evaluate((image) => {
        const box = image.getBoundingClientRect();
        return { left: box.left, top: box.top, wide: box.width, high: box.height };
      });
      const first = await drawing.locator("image").first().evaluate((image) => new Promise((done) => {
        const picture = new Image();
        picture.onload = () => done(picture.naturalWidth);
        picture.src = image.getAttribute("href");
      }));
      const residue = 2, row = 1, mutant = data.wild_type[residue] + data.numbers[residue] + letters[row];
      await page.mouse.move(place.left + ((residue + 0.5) / first) * place.wide,
                            place.top + ((row + 0.5) / data.groups[0].letters.length) * place.high);
      const told = await status(page, title);
      assert.ok(told.startsWith(`${mutant}: effect `), told);
      const number = (name) => Number(new RegExp(`(?:^|, |: )${name} ([-\\d.e]+)`).exec(told)[1]);
      assert.ok(Math.abs(number("effect") - Number(known[mutant][effect])) < 2e-3, told);
      assert.ok(Math.abs(number("percentile") - Number(known[mutant][percentile])) < 2e-2, told);
      await drawing.focus();
      await page.keyboard.press("ArrowRight");
      assert.ok((await status(page, title)).startsWith(`${data.wild_type[3]}${data.numbers[3]}`));
      await page.keyboard.press("Enter");
      const molecule = await sectionData(page, "molecule");
      assert.equal(await status(page, "Structure"), `Picked: ${molecule.residues[molecule.columns[3]]}.`);
      assert.equal(await drawing.locator("rect.picked").count(), 1);
      assert.equal(await panel(page, "Structure").locator("input").count(), 0);  // no pairs to draw
      // Every residue of the family's row has a residue of the structure of the same kind.
      const codes = { GLY: "G", ALA: "A", VAL: "V", LEU: "L", ILE: "I", CYS: "C", TRP: "W", PRO: "P" };
      const pairs = molecule.columns.flatMap((at, n) => (at < 0 ? [] : [[codes[molecule.residues[at].slice(0, 3)], data.wild_type[n]]]))
        .filter(([code]) => code !== undefined);
      assert.ok(pairs.length > 60 && pairs.filter(([a, b]) => a === b).length > 0.6 * pairs.length, `${pairs}`);
    },
  },
  {
    name: "mutants: other numbers and colours are shown", needs: "mutants",
    async run({ page }) {
      const box = panel(page, "Effects of single mutants"), href = () => box.locator("image").first().getAttribute("href");
      const before = await href();
      assert.match(await box.locator("svg.lines").textContent(), /colours: effect, blue is harmful/);
      await box.locator("select").nth(1).selectOption("viridis");
      const ramp = await href();
      assert.notEqual(ramp, before);
      await box.locator("select").nth(0).selectOption("percentile");
      assert.notEqual(await href(), ramp);
      assert.match(await box.locator("svg.lines").textContent(), /wild type; colours: percentile/);
    },
  },
  {
    name: "mutants: predictions of both models stand over measurements", needs: "mutants",
    async run({ page }) {
      const spearman = async (title) => Number(/correlation (-?[\d.]+) \(407 mutants\)/.exec(
        await panel(page, title).locator(".body .note").innerText())[1]);
      const own = "Predicted effects against measurements", other = "Effects in the independent model";
      assert.ok((await spearman(own)) > 0.999 && (await spearman(other)) < 0.99);
      await panel(page, own).locator("select").first().selectOption("falling");
      assert.ok(Number(/correlation (-?[\d.]+) /.exec(await panel(page, own).locator(".body .note").innerText())[1]) < -0.999);
      const boxes = await Promise.all([own, other].map((title) => panel(page, title).boundingBox()));
      assert.ok(Math.abs(boxes[0].y - boxes[1].y) < 2, "they are not side by side");
      await panel(page, own).locator("svg.drawing").focus();
      await page.keyboard.press("ArrowRight");
      assert.match(await status(page, own), /^[A-Z]\d+[A-Z](:[A-Z]\d+[A-Z])?: falling -?[\d.]+, predicted effect -?[\d.]+$/);
      assert.match(await page.locator(".tiles").first().innerText(), /rank correlation with rising; independent model 0\.9\d\d/);
      assert.equal(await page.locator("h2").first().innerText(), "trypsin: effects of mutations");
    },
  },
  {
    name: "mutants: the logo's letters are as high as their information", needs: "mutants",
    async run({ page }) {
      const title = "Sequence logo", logo = await sectionData(page, "logo");
      const drawing = panel(page, title).locator("svg.lines");
      const sum = (column) => column.stack.reduce((total, [, bits]) => total + bits, 0);
      // A column with nearly one letter alone: its glyph is nearly as high as all information.
      const n = logo.columns.findIndex((column) => column.stack.length === 1);
      assert.ok(n >= 0);
      const before = logo.columns.slice(0, n).reduce((count, column) => count + column.stack.length, 0);
      const glyph = await drawing.locator("text[transform]").nth(before).evaluate((text) =>
        ({ letter: text.textContent, high: Number(text.getAttribute("transform").split(" ")[3]) }));
      assert.equal(glyph.letter, logo.columns[n].stack[0][0]);
      const box = await drawing.locator("text[transform]").nth(before).evaluate((text) => {
        const context = document.createElement("canvas").getContext("2d");
        context.font = "bold 100px Arial, Helvetica, sans-serif";
        const { actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = context.measureText(text.textContent);
        return up + down;
      });
      assert.ok(Math.abs(glyph.high * box - (sum(logo.columns[n]) / logo.most) * 92) < 0.5);
      await drawing.focus();
      await page.keyboard.press("ArrowRight");
      assert.match(await status(page, title), /^([A-Z]\d+, )?column \d+: [\d.]+ bits/);
    },
  },
  {
    name: "mutants: a phone shows lines of its width, print those of the paper", needs: "mutants",
    options: { viewport: { width: 380, height: 700 }, isMobile: true, hasTouch: true },
    async run({ page, shots }) {
      const lines = () => panel(page, "Effects of single mutants").locator("svg.lines");
      const width = async () => Number((await lines().getAttribute("viewBox")).split(" ")[2]);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 380);
      const narrow = await width();
      assert.ok(narrow < 380, `${narrow}`);
      const inside = await lines().evaluate((drawing) => {
        const right = drawing.viewBox.baseVal.width;
        return [...drawing.querySelectorAll("text")].filter((text) => {
          const box = text.getBBox();
          return box.x < -1 || box.x + box.width > right + 1;
        }).map((text) => text.textContent);
      });
      assert.deepEqual(inside, []);
      if (shots !== "") await panel(page, "Effects of single mutants").screenshot({ path: `${shots}/mutants-phone.png` });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      assert.equal(await width(), 670);
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      assert.equal(await width(), narrow);
    },
  },
  ...["light", "dark"].map((colorScheme) => ({
    name: `mutants: no serious fault of accessibility, ${colorScheme}`, needs: "mutants", options: { colorScheme },
    async run({ page, faults, shots }) {
      await showAll(page);
      await openFolds(page);
      assert.deepEqual(await faults(), []);
      if (shots !== "") await page.screenshot({ path: `${shots}/mutants-${colorScheme}.png`, fullPage: true });
    },
  })),
];
