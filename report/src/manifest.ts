// Manifest: what a run was, what it read, and what to cite.
import type { Run } from "./data";
import { html, shortNumber } from "./dom";
import { Panel, type Place } from "./panel";
import { copyText, download } from "./save";

function text(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : shortNumber(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A word that a shell takes as one. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function list(entries: [string, unknown][]): HTMLDListElement {
  const shown = entries.map(([name, value]) => [name, text(value)]).filter(([, value]) => value !== "");
  return html("dl", {}, ...shown.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
}

function entries(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function fold(title: string, ...children: Node[]): HTMLDetailsElement {
  return html("details", {}, html("summary", {}, title), ...children);
}

/** A text with its DOIs as links. */
function withLinks(words: string): (Node | string)[] {
  return words.split(/(doi:10\.\S+)/).map((part) => {
    if (!part.startsWith("doi:10.")) return part;
    const doi = part.slice(4).replace(/[.,;]$/, "");
    return html("a", { href: `https://doi.org/${encodeURI(doi)}`, rel: "noreferrer" }, part);
  });
}

function citations(run: Run): HTMLElement[] {
  const cited = records(run.manifest.citations);
  return cited.length === 0 ? [] : [html("h4", {}, "Cite"),
    html("ul", { class: "citations" }, ...cited.map((one) => html("li", {}, ...withLinks(text(one.text)))))];
}

export function manifestPanel(run: Run, place: Place): HTMLElement {
  const panel = new Panel(place, "Run");
  const { manifest } = run, json = JSON.stringify(manifest, null, 2);
  const words = Array.isArray(manifest.arguments) ? manifest.arguments.map(String) : [];
  const command = ["pleat", ...words.map(quoted)].join(" ");
  panel.element.classList.add("run-panel");
  panel.body.append(fold("Command, results, parameters, inputs and citations",
    html("pre", { class: "command", tabindex: 0, role: "region", "aria-label": "Command" }, command),
    list([["status", manifest.status], ["version", manifest.version], ["finished", manifest.finished],
          ["seconds", manifest.seconds], ["device", manifest.device], ["threads", manifest.threads]]),
    ...citations(run),
    fold("Results", list(entries(manifest.results))),
    fold("Parameters", list(entries(manifest.parameters))),
    fold("Inputs", list(records(manifest.inputs).map((input): [string, unknown] =>
      [text(input.path), `${text(input.bytes)} bytes, SHA-256 ${text(input.sha256)}`]))),
    fold("Files", html("p", {}, run.files.join(", ")))));
  panel.addTool("Copy", () => void copyText(command), "Copy the command");
  panel.addTool("JSON", () => download(`${panel.file}.json`, json), "Save the manifest as JSON");
  return panel.element;
}
