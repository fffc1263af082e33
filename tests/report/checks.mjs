// Checks: what each page must show and do in a browser.
import assert from "node:assert/strict";
import { mutantChecks } from "./mutant_checks.mjs";
import { cell, cells, download, marks, openFolds, panel, row, sectionData, setSlider, showAll, status } from "./page.mjs";

/** Shows columns without a residue too. */
const showAllColumns = (page) =>
  panel(page, "Contact map").locator("label", { hasText: "only columns with a residue" }).locator("input").uncheck();

export const checks = [
  {
    name: "pointing at a cell tells its columns and score", needs: "wide",
    async run({ page }) {
      await showAll(page);
      const { i, j, letter_i: letterI, letter_j: letterJ, corrected } = await row(page, "Pairs", 0);
      await page.mouse.move(...(await cell(page, "Scores of pairs", Number(i) - 1, Number(j) - 1)));
      const text = await status(page, "Scores of pairs");
      assert.match(text, new RegExp(`^column ${i} \\(${letterI}\\) and column ${j} \\(${letterJ}\\): .*rank 1`));
      const shown = Number(/score \(APC\) ([-\d.e]+)/.exec(text)[1]);
      // The table shows three digits.
      assert.ok(Math.abs(shown - Number(corrected)) < 5e-3 * Math.abs(Number(corrected)), `${shown} and ${corrected}`);
    },
  },
  {
    name: "columns that were left out leave the axes of the others right", needs: "gaps",
    async run({ page }) {
      await showAll(page);
      const places = await page.evaluate(() => JSON.parse(document.getElementById("pleat-data").textContent).runs[0]
        .sections[0].places);
      assert.ok(places.length < 100 && places.at(-1) > 170, `${places}`);
      const first = await row(page, "Pairs", 0);
      assert.deepEqual([first.letter_i, first.i, first.letter_j, first.j], ["A", "42", "U", "104"]);
      await page.mouse.move(...(await cell(page, "Scores of pairs", places.indexOf(42), places.indexOf(104))));
      assert.match(await status(page, "Scores of pairs"), /^column 42 \(A\) and column 104 \(U\): .*rank 1$/);
      const check = async () => {
        for (const side of ["x", "y"]) {
          const found = await marks(page, "Scores of pairs", side);
          assert.ok(found.length >= 4, `${found.length} marks`);
          for (const { text, cell: at } of found)
            assert.ok(Math.abs(at - places.indexOf(Number(text))) < 0.01, `${text} stands at cell ${at}`);
        }
      };
      await check();
      assert.ok(Number((await marks(page, "Scores of pairs", "x")).at(-1).text) > 150);
      // Zoomed to a few cells about the pair, each column has its mark.
      await panel(page, "Scores of pairs").locator("svg.heat").focus();
      for (let n = 0; n < 4; ++n) await page.keyboard.press("+");
      await check();
      assert.deepEqual((await marks(page, "Scores of pairs", "y")).filter(({ text }) => text === "42").length, 1);
      assert.deepEqual((await marks(page, "Scores of pairs", "x")).filter(({ text }) => text === "104").length, 1);
      const bars = await panel(page, "By column").locator("svg.drawing > path").first().getAttribute("d");
      const wide = Number(/h([\d.]+)/.exec(bars)[1]), lefts = [...bars.matchAll(/M([\d.]+)/g)].map((one) => Number(one[1]));
      lefts.slice(1).forEach((left, k) => assert.ok(left - lefts[k] > wide, `bars ${k} and ${k + 1} overlap`));
    },
  },
  {
    name: "a null along a tree marks its pairs, and its tree tells the substitutions", needs: "along_tree",
    async run({ page, faults }) {
      await showAll(page);
      const { significant } = await sectionData(page, "contact_map"), count = significant.i.length;
      assert.ok(count >= 21 && count < 40, `${count} pairs`);
      const map = panel(page, "Scores of pairs");
      assert.match(await map.locator("ul.legend").innerText(), new RegExp(`${count} pairs with E below 0.05`));
      const drawn = await map.locator('path.mark-cells[fill="#56b4e9"]').getAttribute("d");
      assert.equal(drawn.split("M").length - 1, count);
      assert.match(await status(page, "Scores of pairs"), new RegExp(`^Best ${count} pairs at least 1 columns`));
      assert.ok(Number((await row(page, "Pairs", 0)).tree_e) < 1e-6);
      const columns = await page.evaluate(() => JSON.parse(document.getElementById("pleat-data").textContent).runs[0]
        .sections.find((one) => one.title === "By column").series.find((one) => one.name === "substitutions").values);
      const sum = columns.reduce((all, one) => all + one, 0);
      assert.match(await status(page, "Tree of the sequences"), new RegExp(`^${sum} substitutions on \\d+ of \\d+ branches`));
      await panel(page, "Tree of the sequences").locator("svg.drawing").focus();
      await page.keyboard.press("ArrowRight");
      assert.match(await status(page, "Tree of the sequences"), /: \d+ substitutions? on its branch, \d+ from the root$/);
      assert.deepEqual(await faults(), []);
    },
  },
  {
    name: "with a structure its residues lead", needs: "columns",
    async run({ page }) {
      await showAll(page);
      const map = await sectionData(page, "contact_map"), placed = map.residues.filter((_, n) => map.placed[n]);
      const check = async (residues) => {
        for (const side of ["x", "y"])
          for (const { text, cell: at } of await marks(page, "Contact map", side))
            assert.equal(residues[Math.round(at)].split(" ")[1], text);
      };
      await check(placed);
      assert.match(await status(page, "Contact map"), new RegExp(`^Best ${placed.length} pairs .* of ${placed.length} with known`));
      await showAllColumns(page);
      await check(map.residues);
      assert.match(await panel(page, "Contact map").locator("svg.heat").textContent(), /residue number/);
      const known = map.residues.findIndex((residue) => residue !== ""), none = map.residues.indexOf("");
      await page.mouse.move(...(await cell(page, "Contact map", known, known)));
      const words = { H: ", helix", E: ", strand" }, entropy = Number(map.entropy[known].toPrecision(4));
      assert.equal(await status(page, "Contact map"), `${map.residues[known]}, column ${map.places[known]} (${map.letters[known]})` +
        `${words[map.structure[known]] ?? ""}: entropy ${entropy} bits`);
      assert.ok(none >= 0);
      await page.mouse.move(...(await cell(page, "Contact map", none, none)));
      assert.match(await status(page, "Contact map"),
                   new RegExp(`^column ${map.places[none]} \\((gap|[A-Z])\\), no residue: entropy [\\d.]+ bits$`));
      const heads = await panel(page, "Pairs").locator("thead th").allInnerTexts();
      assert.deepEqual(heads.slice(0, 8), ["show", "rank", "residue_i", "number_i", "residue_j", "number_j", "i", "j"]);
      await panel(page, "By residue").locator("svg.drawing").focus();
      for (let n = 0; n <= known; ++n) await page.keyboard.press("ArrowRight");
      assert.match(await status(page, "By residue"), new RegExp(`^${map.residues[known]}: entropy`));
    },
  },
  {
    name: "secondary structure and entropy stand beside the residues of the map", needs: "columns",
    async run({ page }) {
      await showAll(page);
      const map = await sectionData(page, "contact_map"), shown = map.placed.flatMap((one, n) => (one ? [n] : []));
      assert.ok(shown.length < map.places.length && map.structure.includes("H") && map.structure.includes("E"));
      /** Viewport of the map and of each track, and what the paths of a track are. */
      const read = () => panel(page, "Contact map").locator("svg.heat").evaluate((drawing) => {
        const box = (one) => ["x", "y", "width", "height"].map((name) => one.viewBox.baseVal[name]);
        const tracks = [...drawing.querySelectorAll(".tracks svg")];
        return { map: box(drawing.querySelector("svg")), tracks: tracks.map(box),
                 paths: tracks.map((one) => [...one.querySelectorAll("path")].map((path) => path.getAttribute("d"))) };
      });
      const { map: whole, paths } = await read();
      assert.deepEqual(whole, [0, 0, shown.length, shown.length]);
      // Coil, helices, strands: where each piece begins and ends.
      const letters = shown.map((n) => map.structure[n]).join("");
      for (const [n, pattern] of [/-+/g, /H+/g, /E+/g].entries()) {
        const expected = [...letters.matchAll(pattern)].map((one) => [one.index, one.index + one[0].length]);
        const ends = (path, at) => path.split("M").filter((one) => one !== "").map((one) => {
          const along = one.replace("z", "").split("L").map((point) => Number(point.split(" ")[at]));
          return [Math.min(...along), Math.max(...along)];
        });
        assert.deepEqual(ends(paths[0][n], 0), expected);
        assert.deepEqual(ends(paths[1][n], 1), expected);
      }
      assert.deepEqual([...paths[2][0].matchAll(/H([\d.e-]+)V/g)].map((one) => Number(one[1])), shown.map((n) => map.entropy[n]));
      // Zoomed, they show the same columns as the map.
      await panel(page, "Contact map").locator("svg.heat").focus();
      await page.keyboard.press("+");
      const { map: [x, y, size], tracks: [across, down, bars] } = await read();
      assert.ok(size < shown.length);
      assert.deepEqual([across[0], across[2], down[1], down[3], bars[1], bars[3]], [x, size, y, size, y, size]);
    },
  },
  {
    name: "a cell that is clicked is shown in the molecule and the table", needs: "columns",
    async run({ page }) {
      await showAll(page);
      const rows = await Promise.all([...Array(15).keys()].map((n) => row(page, "Pairs", n)));
      const { i, j, residue_i: residueI, number_i: numberI, residue_j: residueJ, number_j: numberJ } =
        rows.find((one) => one.residue_i !== "NA" && one.residue_j !== "NA");
      const places = await page.evaluate(() => JSON.parse(document.getElementById("pleat-data").textContent).runs[0]
        .sections[0].places);
      await showAllColumns(page);
      await page.mouse.click(...(await cell(page, "Contact map", places.indexOf(Number(i)), places.indexOf(Number(j)))));
      assert.equal(await status(page, "Structure"), `Picked: ${residueI} ${numberI} and ${residueJ} ${numberJ}.`);
      const picked = await panel(page, "Pairs").locator("tr.picked td").allInnerTexts();
      assert.deepEqual(picked.slice(2, 6), [residueI, numberI, residueJ, numberJ]);
      assert.equal(await panel(page, "Contact map").locator("circle.picked").count(), 2);
    },
  },
  {
    name: "a row that is picked is shown in the map and changes the molecule", needs: "columns",
    async run({ page }) {
      await showAll(page);
      const canvas = panel(page, "Structure").locator("canvas");
      const before = await canvas.screenshot();
      await panel(page, "Structure").locator("label", { hasText: "lines" }).locator("input").uncheck();
      await page.waitForTimeout(300);
      const without = await canvas.screenshot();
      assert.notDeepEqual(before, without, "the lines made no difference");
      const { i, j } = await row(page, "Pairs", 3);
      await panel(page, "Pairs").locator("tbody tr").nth(3).locator("button").focus();
      await page.keyboard.press("Enter");
      assert.match(await status(page, "Contact map"), new RegExp(`column ${i} .* and .*column ${j} `));
    },
  },
  {
    name: "sliders of the map change what it marks", needs: "columns",
    async run({ page }) {
      await setSlider(page, "Contact map", "Best pairs", 50);
      assert.match(await status(page, "Contact map"), /^Best 50 pairs at least 6 columns apart: \d+ of \d+ .* contacts/);
      await setSlider(page, "Contact map", "Separation", 24);
      assert.match(await status(page, "Contact map"), /^Best 50 pairs at least 24 columns apart/);
      await setSlider(page, "Contact map", "Best pairs", 0);
      assert.match(await status(page, "Contact map"), /^Best 0 pairs/);
    },
  },
  {
    name: "the best pairs are those of the list", needs: "wide",
    async run({ page }) {
      await showAll(page);
      await setSlider(page, "Scores of pairs", "Best pairs", 10);
      const marks = await panel(page, "Scores of pairs").locator("path.hollow").getAttribute("d");
      const first = marks.split("M").filter((one) => one !== "").map((one) => one.split("h")[0].split(" ").map(Number));
      const side = Number(/h([\d.]+)/.exec(marks)[1]);
      const found = first.map(([x, y]) => `${Math.round(y + side / 2 - 0.5) + 1} ${Math.round(x + side / 2 - 0.5) + 1}`);
      const listed = [];
      for (let n = 0; n < 10; ++n) listed.push((await cells(page, "Pairs", n)).slice(2, 4).join(" "));
      assert.deepEqual(found, listed);
    },
  },
  {
    name: "parts have borders on the map, and columns of two parts are apart", needs: "parts",
    async run({ page }) {
      await showAll(page);
      const map = panel(page, "Scores of pairs");
      assert.equal(await map.locator("path.border").getAttribute("d"), "M12 0V30M0 12H30");
      assert.match(await map.locator(".legend").innerText(), /borders of the parts my chain, B/);
      await page.mouse.move(...(await cell(page, "Scores of pairs", 11, 12)));
      assert.match(await status(page, "Scores of pairs"), /^my chain 12, column 12 \(N\) and B 1, column 13 \(P\): /);
      await setSlider(page, "Scores of pairs", "Separation", 20);
      await setSlider(page, "Scores of pairs", "Best pairs", 90);
      // 55 pairs are at least 20 apart, all of two parts; of 216 between parts all are ranked.
      assert.match(await status(page, "Scores of pairs"), /^Best 90 pairs at least 20 columns apart, 90 of them between parts\.$/);
    },
  },
  {
    name: "keys move, pick and zoom in a map", needs: "wide",
    async run({ page }) {
      await showAll(page);
      const map = panel(page, "Scores of pairs"), inner = map.locator("svg.heat > svg");
      await map.locator("svg.heat").focus();
      for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
      assert.match(await status(page, "Scores of pairs"), /^column 2 .* and column 3 .*:/);
      await page.keyboard.press("Enter");
      assert.equal(await map.locator("circle.picked").count(), 2);
      await page.keyboard.press("+");
      assert.equal((await inner.getAttribute("viewBox")).split(" ")[2], "132");
      await page.keyboard.press("0");
      assert.equal(await inner.getAttribute("viewBox"), "0 0 264 264");
    },
  },
  {
    name: "a frame that is drawn zooms in", needs: "frames",
    async run({ page }) {
      await showAll(page);
      const title = "RMSD of frames", from = await cell(page, title, 60, 60), to = await cell(page, title, 119, 119);
      await page.mouse.move(...from);
      await page.mouse.down();
      await page.mouse.move(...to, { steps: 4 });
      await page.mouse.up();
      const [x, y, size] = (await panel(page, title).locator("svg.heat > svg").getAttribute("viewBox")).split(" ").map(Number);
      assert.ok(Math.abs(x - 60.5) < 1 && Math.abs(y - 60.5) < 1 && Math.abs(size - 59) < 2, `${x} ${y} ${size}`);
      await page.mouse.move(...(await cell(page, title, 70, 80)));
      assert.match(await status(page, title), /^frame 70, frame 80: RMSD [\d.]+ Å$/);
    },
  },
  {
    name: "one set stands against another", needs: "sets",
    async run({ page }) {
      await showAll(page);
      await page.mouse.move(...(await cell(page, "TM-score of frames", 3, 7)));
      assert.match(await status(page, "TM-score of frames"), /^frame 3, other frame 7: TM-score 0\.47/);  // (67 % 50) / 100 + 0.3
      const before = await status(page, "TM-score of frames");
      await page.mouse.move(...(await cell(page, "TM-score of frames", 3, 30)));  // there are 20 of them
      assert.equal(await status(page, "TM-score of frames"), before);
      for (const title of ["TM-score from the reference", "RMSF of residues", "Histogram of TM-score", "Superposed frames"])
        assert.equal(await panel(page, title).count(), 1, title);
    },
  },
  {
    name: "panels are saved as SVG and PNG", needs: "all",
    async run({ page }) {
      await showAll(page);
      for (const title of ["Contact map", "RMSD of frames", "Dendrogram", "Fit to the curve", "Cluster against time"]) {
        const svg = await download(page, () => panel(page, title).getByRole("button", { name: "as SVG" }).click());
        const text = svg.bytes.toString();
        assert.match(svg.name, /^[a-z0-9-]+\.svg$/);
        assert.ok(text.startsWith("<svg") && text.endsWith("</svg>") && !text.includes("var(--"), title);
        if (title === "RMSD of frames") assert.match(text, /<image[^>]*href="data:image\/png;base64,/);
        const png = await download(page, () => panel(page, title).getByRole("button", { name: "as PNG" }).click());
        assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
        assert.ok(png.bytes.readUInt32BE(16) >= 1000, `${title}: ${png.bytes.readUInt32BE(16)} wide`);
      }
      const molecule = await download(page, () => panel(page, "Structure").getByRole("button", { name: "as PNG" }).click());
      assert.equal(molecule.bytes.subarray(1, 4).toString(), "PNG");
    },
  },
  {
    name: "a table sorts, turns, and is copied and saved as TSV", needs: "columns",
    options: { permissions: ["clipboard-read", "clipboard-write"] },
    async run({ page }) {
      const table = panel(page, "Pairs"), head = table.locator("th", { hasText: /^mi \(bits\)$/ });
      await head.getByRole("button").click();
      assert.equal(await head.getAttribute("aria-sort"), "descending");
      await head.getByRole("button").click();
      assert.equal(await head.getAttribute("aria-sort"), "ascending");
      await table.getByRole("button", { name: "Copy" }).click();
      await page.waitForFunction(() => [...document.querySelectorAll("[role=status]")].some((one) => one.textContent.includes("rows copied")));
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      const saved = await download(page, () => table.getByRole("button", { name: "Save all rows" }).click());
      assert.equal(saved.bytes.toString(), copied);
      const rows = copied.trimEnd().split("\n").map((line) => line.split("\t")), mi = rows[0].indexOf("mi");
      const values = rows.slice(1).map((row) => Number(row[mi]));
      assert.equal(values.length, 1000);
      assert.deepEqual(values, [...values].sort((a, b) => a - b));
      const first = await cells(page, "Pairs", 0);
      await table.getByRole("button", { name: "Later rows" }).click();
      assert.notDeepEqual(await cells(page, "Pairs", 0), first);
    },
  },
  {
    name: "curves are read by pointer and keys", needs: "scattering",
    async run({ page }) {
      const drawing = panel(page, "Fit to the curve").locator("svg.drawing");
      await drawing.focus();
      await page.keyboard.press("ArrowRight");
      const text = await status(page, "Fit to the curve");
      assert.match(text, /^q \(1\/Å\) 0\.01: measured [\d.]+ ± [\d.]+, model 999\.9$|^q .* 0\.01: .*model 9\d\d/);
      await page.keyboard.press("ArrowRight");
      assert.match(await status(page, "Fit to the curve"), /0\.013:/);
      assert.ok((await panel(page, "Guinier").locator("svg path").count()) > 3);
    },
  },
  {
    name: "frames of a selection are read and shown by other scores", needs: "selection",
    async run({ page }) {
      await showAll(page);
      assert.deepEqual(await page.locator("h2").allInnerTexts(), ["selection: pleat select", "selection/clusters: pleat cluster"]);
      const title = "Scores of frames", box = panel(page, title), drawing = box.locator("svg.drawing");
      assert.equal(await (await box.locator(".legend text").allTextContents()).join("; "),
                   "1: cluster 0; 2: cluster 2; others");
      await drawing.focus();
      await page.keyboard.press("ArrowRight");
      const told = await status(page, title);
      assert.match(told, /^frame \d+, cluster 0: RMSD from the first selected cluster \(Å\) [\d.]+, fraction of satisfied contacts/);
      const paths = await box.locator("path").evaluateAll((all) => all.map((one) => one.getAttribute("d").split("M").length - 1));
      assert.equal(paths.reduce((sum, count) => sum + count, 0), 200);
      assert.deepEqual(paths.slice(0, 3).sort((a, b) => a - b), [33, 66, 101]);  // others, and the two selected
      const before = await drawing.innerHTML();
      await box.locator("select").nth(1).selectOption("density");
      assert.notEqual(await box.locator("svg.drawing").innerHTML(), before);
      assert.deepEqual(await box.locator("select").nth(0).locator("option").allInnerTexts(),
                       ["rmsd", "contacts", "left", "density", "joined"]);
      assert.equal(await panel(page, "Best frames of selected clusters").locator("input").first().getAttribute("min"), "1");
    },
  },
  {
    name: "models of CA atoms only are drawn as tubes", needs: "frames",
    async run({ page }) {
      await showAll(page);
      await page.waitForTimeout(300);
      const shot = (await panel(page, "Medoids").locator("canvas").screenshot()).toString("base64");
      // The part of the picture that has the blue of cluster 0: a tube seen along its helix.
      const share = await page.evaluate(async (data) => {
        const picture = new Image();
        picture.src = `data:image/png;base64,${data}`;
        await picture.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [picture.width, picture.height];
        const context = canvas.getContext("2d");
        context.drawImage(picture, 0, 0);
        const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
        let blue = 0;
        for (let at = 0; at < pixels.length; at += 4) blue += pixels[at + 2] > pixels[at] + 60;
        return blue / (canvas.width * canvas.height);
      }, shot);
      assert.ok(share > 0.01, `${share}`);
    },
  },
  {
    name: "tables leave out columns without values, and wrap long texts", needs: "selection",
    async run({ page }) {
      const title = "Frames, best first", heads = await panel(page, title).locator("thead th").allInnerTexts();
      assert.ok(!heads.includes("chi2") && heads.includes("contacts"), `${heads}`);
      assert.match(await status(page, title), /^Rows 1 to 15 of 200\. Without values: chi2, curve_part\.$/);
      const { bytes } = await download(page, () => panel(page, title).getByRole("button", { name: "Save all rows" }).click());
      assert.match(String(bytes).split("\n")[0], /\tchi2\t/);
    },
  },
  {
    name: "tables give the unit of lengths", needs: "frames",
    async run({ page }) {
      const heads = (title) => panel(page, title).locator("thead th").allInnerTexts();
      assert.deepEqual(await heads("Distances"), ["frame", "cluster", "nearest", "distance (Å)", "second", "second_distance (Å)"]);
      assert.deepEqual(await heads("Lengths"), ["frame", "rg (Å)", "distance_1_2 (Å)"]);
    },
  },
  {
    name: "runs are linked if there are several", needs: "all",
    async run({ page }) {
      assert.ok((await page.locator("nav a").count()) > 4);
      for (const picture of await page.locator("nav a svg use").all())
        assert.equal(await page.locator(`svg.drawing${await picture.getAttribute("href")}`).count(), 1);
    },
  },
  ...[1280, 1440, 1900].map((width) => ({
    name: `panels fill their rows at ${width} pixels`, needs: "all", options: { viewport: { width, height: 900 } },
    async run({ page }) {
      const gaps = await page.evaluate(() => [...document.querySelectorAll(".panels")].flatMap((frame) => {
        const { right } = frame.getBoundingClientRect(), boxes = [...frame.children].map((one) => one.getBoundingClientRect());
        return boxes.map((box) => Math.min(...[right, ...boxes.filter((one) => Math.abs(one.top - box.top) < 1 && one.left > box.left)
          .map((one) => one.left)]) - box.right);
      }));
      assert.deepEqual(gaps.filter((gap) => gap > 17), []);
    },
  })),
  {
    name: "a lone run has no links", needs: "frames",
    async run({ page }) {
      assert.equal(await page.locator("nav").count(), 0);
    },
  },
  {
    name: "long numbers of an axis are written with exponents", needs: "scattering",
    async run({ page }) {
      const marked = async (title) => panel(page, title).locator(".axes text.mark[text-anchor=end]").allTextContents();
      assert.deepEqual((await marked("Scattering profile")).filter((text) => !/^(\d+|0\.\d+|10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)$/.test(text)), []);
      for (const title of ["Fit to the curve", "Scattering profile", "Guinier", "Kratky"])
        for (const text of await marked(title)) assert.ok(text.length < 6, text);
      assert.equal(await panel(page, "Guinier").locator(".label").first().textContent(), "q² (1/Å²)");
    },
  },
  {
    name: "transitions and dwell times are read", needs: "frames",
    async run({ page }) {
      await showAll(page);
      const title = "Transitions between clusters", data = await page.evaluate(() => JSON.parse(document.getElementById("pleat-data").textContent));
      const { from, to, count, probability } = data.runs[0].sections.find(({ kind }) => kind === "transitions");
      const of = (row, column) => from.findIndex((one, n) => one === row && to[n] === column);
      await page.mouse.move(...(await cell(page, title, 0, 3)));  // noise comes last
      const leaving = count.filter((_, n) => from[n] === 0).reduce((sum, one) => sum + one, 0), n = of(0, -1);
      assert.equal(await status(page, title), `cluster 0 to noise: probability ${Number(probability[n].toPrecision(3))}, ${count[n]} of ${leaving} steps`);
      assert.deepEqual(await panel(page, title).locator("svg .mark").evaluateAll((all) => all.slice(0, 4).map((one) => one.textContent)), ["0", "1", "2", "-1"]);
      await panel(page, title).locator("select").first().selectOption("counts");
      assert.ok((await panel(page, title).locator("svg .mark").allTextContents()).includes(String(Math.max(...count))));
      const dwells = panel(page, "Dwell times"), choose = async (n, value) => dwells.locator("select").nth(n).selectOption(value);
      await dwells.locator("svg").focus();
      await page.keyboard.press("ArrowRight");
      assert.equal(await status(page, "Dwell times"), "cluster 0, 20 to 60 ps: 4 visits");
      await choose(1, "frames");
      await choose(0, "2");
      await dwells.locator("svg").focus();
      for (let n = 0; n < 5; ++n) await page.keyboard.press("ArrowRight");
      assert.equal(await status(page, "Dwell times"), "cluster 2, 5 frames: 0 visits and 1 cut");
      await choose(0, "-1");
      await dwells.locator("svg").focus();
      await page.keyboard.press("ArrowRight");
      assert.equal(await status(page, "Dwell times"), "noise, 1 frames: 9 visits and 1 cut");
    },
  },
  {
    name: "a cut through the tree tells its clusters", needs: "frames",
    async run({ page }) {
      await setSlider(page, "Dendrogram", "Cut at", 0);
      assert.match(await status(page, "Dendrogram"), /: 30 clusters, the largest of 1, 1, 1, 1, 1 leaves/);
      const most = await panel(page, "Dendrogram").locator("input").getAttribute("max");
      await setSlider(page, "Dendrogram", "Cut at", most);
      assert.match(await status(page, "Dendrogram"), /: 1 clusters, the largest of 30 leaves|: 2 clusters/);
    },
  },
  {
    name: "a tree is cut below a distance, twice the height of its branches", needs: "frames",
    async run({ page }) {
      const data = await page.evaluate(() => JSON.parse(document.getElementById("pleat-data").textContent));
      const { newick } = data.runs[0].sections.find(({ kind }) => kind === "tree");
      // A chain of merges: the first two leaves join at their branches' sum.
      const [, left, right] = /\(0:([\d.]+),1:([\d.]+)\)/.exec(newick).map(Number);
      assert.equal(left, right);
      const input = panel(page, "Dendrogram").locator("input"), step = Number(await input.getAttribute("step"));
      await setSlider(page, "Dendrogram", "Cut at", 2 * left - step);
      assert.match(await status(page, "Dendrogram"), /: 30 clusters/);
      await setSlider(page, "Dendrogram", "Cut at", 2 * left + 2 * step);
      assert.match(await status(page, "Dendrogram"), /: 29 clusters, the largest of 2, /);
    },
  },
  {
    name: "names of files stay texts", needs: "hostile",
    async run({ page }) {
      await showAll(page);
      await openFolds(page);
      assert.match(await page.title(), /^<img src=x onerror=alert\(4\)> - pleat$/);
      assert.equal(await page.locator("#page script, #page img, #page b, #page svg[onload]").count(), 0);
      assert.match(await page.locator("h2").innerText(), /<\/script><script>document\.title='owned'<\/script>$/);
      assert.ok((await page.getByText("\"><svg onload=alert(2)>", { exact: true }).count()) > 3);
      const svg = await download(page, () => panel(page, "Dendrogram").getByRole("button", { name: "as SVG" }).click());
      assert.ok(!svg.bytes.toString().includes("<script"));
    },
  },
  {
    name: "the least that files can hold is drawn", needs: "tiny",
    async run({ page }) {
      await showAll(page);
      for (const title of ["RMSD of frames", "Cluster against time", "Fit to the curve", "Scores of pairs"]) {
        await panel(page, title).locator("svg.drawing").focus();
        await page.keyboard.press("ArrowRight");
        assert.notEqual(await status(page, title), "", title);
      }
      assert.match(await status(page, "Scores of pairs"), /^column 1 and column 2: score/);
      assert.equal(await page.locator("[d*=NaN], [d*=Infinity], [x*=NaN], [y*=NaN], [height*=NaN], [width*=NaN]").count(), 0);
      assert.match(await panel(page, "Guinier").innerText(), /no values to draw/);
    },
  },
  {
    name: "without WebGL a text stands in the molecule's place", needs: "all", webGl: false,
    async run({ page }) {
      await page.waitForFunction(() => {
        scrollBy(0, 300);
        return document.querySelectorAll(".no-webgl").length === 5;
      });
      assert.match(await page.locator(".no-webgl").first().innerText(), /no WebGL/);
      await page.evaluate(() => scrollTo(0, 0));
      await page.mouse.click(...(await cell(page, "Contact map", 20, 60)));
      assert.match(await status(page, "Structure"), /^Picked: /);
    },
  },
  // Processor time does not depend on what else the machine does.
  ...[["264", "wide", 2e6], ["1000", "large", 4e6]].map(([columns, needs, most]) => ({
    name: `${columns} columns: below ${most / 1e6} MB, painted within 2 s`, needs,
    async run({ page, bytes, processor }) {
      await page.waitForFunction(() => document.querySelector(".heat").dataset.state === "painted");
      const seconds = await processor(), wall = await page.evaluate(() => performance.now() / 1000);
      console.log(`        ${(bytes / 1e6).toFixed(2)} MB, painted after ${seconds.toFixed(2)} s of processor, ` +
                  `${wall.toFixed(2)} s by the clock`);
      assert.ok(bytes < most);
      assert.ok(seconds < 2);
    },
  })),
  {
    name: "a run begins with its headline", needs: "columns",
    async run({ page }) {
      assert.equal(await page.locator("h1").innerText(), "trypsin");
      assert.equal(await page.locator("h2").innerText(), "trypsin: mutual information");
      assert.match(await page.locator(".headline").innerText(), /^[A-Z]{3} \d+ and [A-Z]{3} \d+ are the strongest pair: [\d.]+ bits/);
      const best = await row(page, "Pairs", 0), tiles = await page.locator(".tiles strong").allInnerTexts();
      assert.equal(tiles.length, 2);  // without a null model there is no Z
      assert.equal(Number(tiles[0].split(" ")[0]).toPrecision(3), best["mi (bits)"]);
    },
  },
  {
    name: "the reading stands beside the pointer, not where nothing is read", needs: "wide",
    async run({ page }) {
      await showAll(page);
      const [x, y] = await cell(page, "Scores of pairs", 30, 200), tip = panel(page, "Scores of pairs").locator(".tip");
      await page.mouse.move(x, y);
      assert.equal(await tip.innerText(), await status(page, "Scores of pairs"));
      const box = await tip.boundingBox();
      assert.ok(Math.abs(box.x - x) < 40 + box.width && Math.abs(box.y - y) < 40 + box.height, `${box.x} ${box.y}`);
      await page.mouse.move(x, y + 600);
      assert.equal(await tip.isVisible(), false);
    },
  },
  {
    name: "the wheel scrolls the page over a molecule", needs: "columns",
    async run({ page }) {
      await showAll(page);
      const molecule = panel(page, "Structure").locator(".molecule");
      await molecule.scrollIntoViewIfNeeded();
      const box = await molecule.boundingBox(), before = await page.evaluate(() => scrollY);
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.wheel(0, 150);
      await page.waitForFunction((from) => scrollY > from, before);
    },
  },
  {
    name: "both halves of a grey map have the ground's colour in the dark", needs: "columns", options: { colorScheme: "dark" },
    async run({ page }) {
      await showAll(page);
      const lightest = await panel(page, "Contact map").locator("image").evaluate(async (image) => {
        const picture = new Image();
        picture.src = image.getAttribute("href");
        await picture.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [picture.width, picture.height];
        const context = canvas.getContext("2d");
        context.drawImage(picture, 0, 0);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height), found = new Map();
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] > 0) found.set(data.slice(at, at + 3).join(), (found.get(data.slice(at, at + 3).join()) ?? 0) + 1);
        return [...found].sort((a, b) => b[1] - a[1])[0][0];
      });
      assert.equal(lightest, "27,32,41");
    },
  },
  {
    name: "print has every map, molecule and fold, and the first rows of tables", needs: "all",
    async run({ page }) {
      const open = await page.locator("details[open]").count();
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      await page.emulateMedia({ media: "print" });
      const found = await page.evaluate(() => ({
        unpainted: document.querySelectorAll(".heat:not([data-state=painted])").length,
        molecules: document.querySelectorAll(".molecule").length,
        pictures: [...document.querySelectorAll("img.print-only")].filter((one) => one.src.length > 2000).length,
        closed: document.querySelectorAll("details:not([open])").length,
        wide: [...document.querySelectorAll(".scroll")].filter((one) => one.scrollHeight > one.clientHeight + 1).length,
        rows: [...document.querySelectorAll("article")].find((one) => one.querySelector("h3").textContent === "Pairs")
          .querySelectorAll("tbody tr").length,
        theme: document.documentElement.dataset.theme,
      }));
      assert.deepEqual(found, { unpainted: 0, molecules: 5, pictures: 5, closed: 0, wide: 0, rows: 50, theme: "light" });
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      assert.equal(await page.locator("img.print-only").count(), 0);
      assert.equal(await page.locator("details[open]").count(), open);
      assert.equal(await panel(page, "Pairs").locator("tbody tr").count(), 15);
    },
  },
  ...["light", "dark"].map((colorScheme) => ({
    name: `no serious fault of accessibility, ${colorScheme}`, needs: "all", options: { colorScheme },
    async run({ page, faults }) {
      await showAll(page);
      await openFolds(page);
      assert.deepEqual(await faults(), []);
    },
  })),
  {
    name: "a phone shows everything in its width", needs: "all",
    options: { viewport: { width: 380, height: 700 }, isMobile: true, hasTouch: true },
    async run({ page }) {
      await showAll(page);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 380);
      await page.touchscreen.tap(...(await cell(page, "Contact map", 20, 60)));
      assert.match(await status(page, "Structure"), /^Picked: /);
    },
  },
  ...mutantChecks,
  {
    name: "the theme is chosen, and every panel has its picture", needs: "all",
    async run({ page, shots }) {
      await page.locator("header select").selectOption("dark");
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(18, 21, 27)");
      await page.locator("header select").selectOption("light");
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(243, 244, 246)");
      await showAll(page);
      const panels = await page.locator("article").all();
      assert.equal(panels.length, await page.evaluate(() => {
        const { runs } = JSON.parse(document.getElementById("pleat-data").textContent);
        return runs.reduce((sum, run) => sum + run.sections.length + 1, 0);
      }));
      for (const [n, one] of panels.entries()) {
        assert.ok((await one.boundingBox()).height > 60);
        if (shots !== "") await one.screenshot({ path: `${shots}/panel-${n}.png` });
      }
    },
  },
];
