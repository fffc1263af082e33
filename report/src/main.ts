// Main: the page of all runs, drawn from its data.
import "./style.css";
import { contactMapPanel } from "./contact_map";
import { barsPanel, clusterColour, histogramPanel, stepsPanel } from "./counts";
import { curvePanel } from "./curve";
import { readPageData, type PageData, type Run, type Section } from "./data";
import { chooser, html, newId, readable, svg } from "./dom";
import { heatMapPanel, unknownPanel } from "./heat_map";
import { columnLabels, mutatedResidues } from "./labels";
import { keepArranged } from "./layout";
import { logoPanel } from "./logo";
import { manifestPanel } from "./manifest";
import { modelsPanel, moleculePanel } from "./molecule";
import type { Place } from "./panel";
import { phylogenyPanel } from "./phylogeny";
import { preparePrinting } from "./print";
import { scatterPanel } from "./scatter";
import { Selection } from "./selection";
import { dwellsPanel, transitionsPanel } from "./states";
import { substitutionsPanel } from "./substitutions";
import { tablePanel } from "./table";
import { treePanel } from "./tree";

function drawSection(section: Section, place: Place): HTMLElement {
  switch (section.kind) {
    case "contact_map": return contactMapPanel(section, place);
    case "heat_map": return heatMapPanel(section, place);
    case "curve": return curvePanel(section, place);
    case "scatter": return scatterPanel(section, place);
    case "histogram": return histogramPanel(section, place);
    case "bars": return barsPanel(section, place);
    case "steps": return stepsPanel(section, place);
    case "transitions": return transitionsPanel(section, place);
    case "dwells": return dwellsPanel(section, place);
    case "tree": return treePanel(section, place);
    case "phylogeny": return phylogenyPanel(section, place);
    case "table": return tablePanel(section, place);
    case "molecule": return moleculePanel(section, place);
    case "models": return modelsPanel(section, place, clusterColour);
    case "substitutions": return substitutionsPanel(section, place);
    case "logo": return logoPanel(section, place);
    default: return unknownPanel((section as { kind: string }).kind, place);
  }
}

function titleOf(run: Run): string {
  return run.title ?? `${run.name}: pleat ${String(run.manifest.command ?? "")}`;
}

/** One sentence and up to three numbers, and the folder where all of it is. */
function headline(run: Run): HTMLElement[] {
  if (run.headline === undefined) return [];
  const { sentence, tiles } = run.headline;
  return [html("p", { class: "headline" }, readable(sentence), html("span", { class: "folder" }, ` Run ${run.name}`)),
          ...(tiles.length === 0 ? [] : [html("ul", { class: "tiles" }, ...tiles.map(({ value, label }) =>
            html("li", {}, html("strong", {}, value), html("span", {}, readable(label)))))])];
}

/** What the data of the runs are called, each once. */
function pageTitle(data: PageData): string {
  return data.title !== "" ? data.title : [...new Set(data.runs.map((run) => run.subject ?? run.name))].join(", ");
}

/** Of the columns of a map, or else of the residues whose mutants are shown. */
function selectionOf(sections: Section[]): Selection {
  for (const section of sections)
    if (section.kind === "contact_map") return new Selection(section.places, columnLabels(section));
  for (const section of sections)
    if (section.kind === "substitutions") return new Selection(section.places, mutatedResidues(section));
  return new Selection();
}

function drawRun(run: Run, id: string): HTMLElement {
  const selection = selectionOf(run.sections);
  const place: Place = { run: run.name, selection };
  // Maps tell molecules which pairs are best, so those that listen are made first.
  const panels = new Map<Section, HTMLElement>();
  const later = run.sections.filter((section) => section.kind === "contact_map");
  for (const section of [...run.sections.filter((one) => one.kind !== "contact_map"), ...later])
    panels.set(section, drawSection(section, place));
  const inOrder = run.sections.map((section) => panels.get(section) as HTMLElement);
  const notes = run.notes.map((note) => html("p", { class: "note" }, note)), frame = html("div", { class: "panels" });
  keepArranged(frame, inOrder, manifestPanel(run, place));
  return html("section", { "aria-labelledby": id },
    html("h2", { id, tabindex: -1 }, titleOf(run)), ...headline(run), ...notes, frame);
}

/** A link to a run: its first drawing as it is below, its title and its sentence. */
function card(run: Run, id: string, section: HTMLElement): HTMLElement {
  const drawing = section.querySelector<SVGSVGElement>("svg.drawing:not(.lines)"), link = html("a", { class: "card", href: `#${id}` });
  if (drawing !== null) {
    drawing.id ||= newId();
    link.append(svg("svg", { viewBox: drawing.getAttribute("viewBox") ?? "", "aria-hidden": "true" }, svg("use", { href: `#${drawing.id}` })));
    new IntersectionObserver((entries, watch) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      drawing.dispatchEvent(new Event("pleat-shown"));
    }).observe(link);
  }
  link.append(html("span", {}, html("strong", {}, titleOf(run)), readable(run.headline?.sentence ?? ""),
                   html("span", { class: "folder" }, `Run ${run.name}`)));
  return link;
}

/** Light, dark, or as the system is; drawings that cannot follow by style alone are told. */
function themeChooser(): HTMLElement {
  const set = (theme: string): void => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new Event("pleat-theme"));
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new Event("pleat-theme")));
  return chooser("Theme", ["system", "light", "dark"], "system", set);
}

function drawPage(data: PageData, page: HTMLElement): void {
  const title = pageTitle(data);
  document.title = `${title} - pleat`;
  const ids = data.runs.map(() => newId());
  const sections = data.runs.map((run, n) => drawRun(run, ids[n]));
  // The title names a single run already.
  const cards = sections.length < 2 ? [] : [html("nav", { "aria-label": "Runs" }, ...data.runs.map((run, n) => card(run, ids[n], sections[n])))];
  page.replaceChildren(
    html("header", {}, html("h1", {}, title), themeChooser()), html("main", {}, ...cards, ...sections),
    html("footer", {}, `Made by pleat ${data.pleat}. Molecules are drawn by 3Dmol.js (Rego and Koes, ` +
      "Bioinformatics 31:1322, 2015); its licence is in this file's source."));
  document.documentElement.dataset.state = "ready";
}

preparePrinting();
const data = readPageData(), page = document.getElementById("page");
if (page !== null && data !== null) drawPage(data, page);
else if (page !== null) page.append("This is the template of pleat report; it holds no runs.");
