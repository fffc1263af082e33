// Phylogeny: a tree of sequences whose branches are as long as the substitutions on them.
import { addReading, type Box, drawAxes } from "./axes";
import type { Phylogeny } from "./data";
import { svg } from "./dom";
import type { Node } from "./newick";
import type { Panel, Place } from "./panel";
import { makeScale } from "./scale";
import { panelOfTree } from "./tree";

const WIDTH = 560, TOP = 12, BELOW = 44;
/** More leaves than these have no names on the drawing. */
const NAMED = 40;
const THIN = 3.5;

function drawPhylogeny(panel: Panel, drawing: SVGSVGElement, nodes: Node[], leaves: Node[]): void {
  const isNamed = leaves.length <= NAMED, depth = new Map<Node, number>([[nodes[0], 0]]);
  for (const node of nodes.slice(1)) depth.set(node, (depth.get(node.parent as Node) ?? 0) + node.length);
  const height = Math.max(200, Math.min(420, 13 * leaves.length)) + TOP + BELOW;
  const box: Box = { left: 24, right: WIDTH - (isNamed ? 130 : 12), top: TOP, bottom: height - BELOW };
  const x = makeScale(0, leaves.reduce((most, leaf) => Math.max(most, depth.get(leaf) ?? 0), 0) || 1, box.left, box.right);
  const y = makeScale(-0.5, leaves.length - 0.5, box.top, box.bottom);
  const at = (node: Node): string => x.place(depth.get(node) ?? 0).toFixed(1);
  const row = (node: Node): string => y.place(node.place).toFixed(1);
  // Of a group lower than a line and its gap, the mean way to its leaves is drawn.
  const isOne = (node: Node): boolean => node.leaves * (box.bottom - box.top) < THIN * leaves.length;
  const below = new Map<Node, number>(nodes.map((node) => [node, 0]));
  for (const node of [...nodes].reverse()) {
    if (node.children.length === 0) below.set(node, depth.get(node) ?? 0);
    if (node.parent !== null) below.set(node.parent, (below.get(node.parent) ?? 0) + (below.get(node) ?? 0));
  }
  let path = "", groups = 0;
  for (const node of nodes) {
    if (node.parent !== null && isOne(node.parent)) continue;
    const isGroup = isOne(node) && node.children.length > 0;
    if (isGroup) ++groups;
    const end = isGroup ? x.place((below.get(node) ?? 0) / node.leaves).toFixed(1) : at(node);
    if (node.parent !== null) path += `M${at(node.parent)} ${row(node)}H${end}`;
    if (node.children.length > 0 && !isGroup) path += `M${at(node)} ${row(node.children[0])}V${row(node.children[node.children.length - 1])}`;
  }
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  drawing.append(drawAxes(box, x, null, { x: "substitutions from the root", y: isNamed ? "" : `${leaves.length} sequences` }, 10),
                 svg("path", { class: "branch", d: path, fill: "none" }));
  if (isNamed)
    for (const leaf of leaves)
      drawing.append(svg("text", { class: "mark", x: x.place(depth.get(leaf) ?? 0) + 4, y: y.place(leaf.place) + 4 },
                         leaf.name.slice(0, 18)));
  const count = (number: number): string => `${number} substitution${number === 1 ? "" : "s"}`;
  const changed = nodes.filter((node) => node.parent !== null && node.length > 0).length;
  panel.status.textContent = `${count(nodes.reduce((sum, node) => sum + node.length, 0))} on ` +
    `${changed} of ${nodes.length - 1} branches.` +
    (groups > 0 ? ` ${groups} groups of neighbours are drawn as one line each, as long as their mean.` : "");
  addReading(drawing, leaves.length, (_, down) => Math.round(y.value(down)), (n) =>
    panel.read(`${leaves[n].name}: ${count(leaves[n].length)} on its branch, ${depth.get(leaves[n]) ?? 0} from the root`));
}

export function phylogenyPanel(section: Phylogeny, place: Place): HTMLElement {
  return panelOfTree(section, place, drawPhylogeny);
}
