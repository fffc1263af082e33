// Tree: a dendrogram with a cut that tells its clusters.
import { addReading, type Box, drawAxes } from "./axes";
import { SET } from "./colours";
import type { Phylogeny, Tree } from "./data";
import { html, shortNumber, slider, svg } from "./dom";
import { allNodes, layOut, leavesOf, type Node, parseNewick } from "./newick";
import { Panel, type Place } from "./panel";
import { makeScale, type Scale } from "./scale";

const WIDTH = 560, HEIGHT = 400;
const BOX: Box = { left: 62, right: WIDTH - 12, top: 12, bottom: HEIGHT - 44 };

/** The brackets of a node: down to each child and across. */
function bracket(node: Node, x: Scale, y: Scale): string {
  const level = y.place(node.height).toFixed(2), { children } = node;
  const down = children.map((child) =>
    `M${x.place(child.place).toFixed(2)} ${level}V${y.place(Math.min(child.height, node.height)).toFixed(2)}`);
  return `M${x.place(children[0].place).toFixed(2)} ${level}H${x.place(children[children.length - 1].place).toFixed(2)}` +
         down.join("");
}

/** The highest nodes below a cut, the largest first. */
function clustersBelow(nodes: Node[], cut: number): Node[] {
  const isBelow = (node: Node): boolean => node.children.length === 0 || node.height < cut;
  return nodes.filter((node) => isBelow(node) && (node.parent === null || !isBelow(node.parent)))
    .sort((a, b) => b.leaves - a.leaves || a.place - b.place);
}

/** Where the run cut the tree: between the two merges that leave as many clusters as it has. */
function runCut(section: Tree, nodes: Node[], top: number): number {
  if (section.cut !== undefined) return section.cut;
  if (section.clusters === undefined) return top * 0.6;
  const merges = nodes.filter((node) => node.children.length > 0).map((node) => node.height).sort((a, b) => b - a);
  return ((merges[section.clusters - 2] ?? top * 1.03) + (merges[section.clusters - 1] ?? 0)) / 2;
}

/** The run's cluster that most leaves below each node are in; nothing where the run's clusters are not known. */
function clustersOfNodes(section: Tree, nodes: Node[], leaves: Node[]): Map<Node, number> {
  const found = new Map<Node, number>(), counts = new Map<Node, Map<number, number>>();
  const { assignment } = section;
  if (!assignment || leaves.some((leaf) => assignment[Number(leaf.name)] === undefined)) return found;
  for (let at = nodes.length - 1; at >= 0; --at) {
    const node = nodes[at], own = new Map<number, number>();
    if (node.children.length === 0) own.set(assignment[Number(node.name)], 1);
    for (const child of node.children) {
      for (const [cluster, count] of counts.get(child) ?? []) own.set(cluster, (own.get(cluster) ?? 0) + count);
      counts.delete(child);
    }
    counts.set(node, own);
    found.set(node, [...own].reduce((a, b) => (b[1] > a[1] ? b : a))[0]);
  }
  return found;
}

/** A panel whose drawing `draw` fills with a tree that is laid out; a word in its place where it cannot be read. */
export function panelOfTree(
  section: Tree | Phylogeny, place: Place, draw: (panel: Panel, drawing: SVGSVGElement, nodes: Node[], leaves: Node[]) => void
): HTMLElement {
  const panel = new Panel(place, section.title, section.note), root = parseNewick(section.newick);
  if (root === null) {
    panel.body.append(html("p", {}, "The tree could not be read."));
    return panel.element;
  }
  layOut(root);
  const drawing = svg("svg", { class: "drawing", tabindex: 0, role: "img",
                               "aria-label": `${section.title}. Arrow keys read its leaves.` });
  draw(panel, drawing, allNodes(root), leavesOf(root));
  panel.body.append(drawing);
  panel.addSaving(() => drawing);
  return panel.element;
}

function drawTree(section: Tree, panel: Panel, drawing: SVGSVGElement, nodes: Node[], leaves: Node[]): void {
  const root = nodes[0];
  const x = makeScale(-0.5, leaves.length - 0.5, BOX.left, BOX.right);
  const y = makeScale(0, root.height * 1.03 || 1, BOX.bottom, BOX.top);
  const branches = svg("g", { fill: "none" });
  const line = svg("line", { class: "cut", x1: BOX.left, x2: BOX.right });
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.append(drawAxes(BOX, null, y, { x: leaves.length > 40 ? `${leaves.length} leaves` : "", y: section.x.label }),
                 branches, line);
  if (leaves.length <= 40)
    for (const leaf of leaves)
      drawing.append(svg("text", { class: "mark", x: x.place(leaf.place), y: BOX.bottom + 15, "text-anchor": "middle" },
                         leaf.name.slice(0, 8)));
  const ofRun = clustersOfNodes(section, nodes, leaves);
  let clusters: Node[] = [];
  const clusterOf = new Map<Node, number>();
  const cutAt = (cut: number): void => {
    clusters = clustersBelow(nodes, cut);
    clusterOf.clear();
    clusters.forEach((node, n) => clusterOf.set(node, n));
    const paths = new Map<number, string>();
    for (const node of nodes) {
      const parent = node.parent !== null ? clusterOf.get(node.parent) : undefined;
      const cluster = clusterOf.get(node) ?? parent ?? -1;
      if (cluster >= 0) clusterOf.set(node, cluster);
      if (node.children.length === 0) continue;
      const shown = cluster < 0 ? -1 : ofRun.get(clusters[cluster]) ?? cluster;
      const look = shown >= 0 && shown < SET.length ? shown : -1;
      paths.set(look, (paths.get(look) ?? "") + bracket(node, x, y));
    }
    branches.replaceChildren(...[...paths].map(([look, path]) =>
      svg("path", { d: path, class: look < 0 ? "branch" : "", style: look < 0 ? "" : `stroke:${SET[look]}` })));
    for (const end of ["y1", "y2"]) line.setAttribute(end, String(y.place(cut)));
    panel.status.textContent = `Cut at ${shortNumber(cut)}: ${clusters.length} clusters, the largest of ` +
      `${clusters.slice(0, 5).map((node) => node.leaves).join(", ")} leaves.`;
  };
  const step = root.height / 1000 || 1, first = runCut(section, nodes, root.height);
  panel.controls.append(slider("Cut at", 0, Number(root.height.toPrecision(6)), first, cutAt, step));
  cutAt(first);
  addReading(drawing, leaves.length, (at) => Math.round(x.value(at)), (n) => {
    const cluster = clusterOf.get(leaves[n]);
    panel.read(`Leaf ${leaves[n].name}: cluster ${cluster} of ${clusters[cluster ?? 0]?.leaves} leaves`);
  });
}

export function treePanel(section: Tree, place: Place): HTMLElement {
  return panelOfTree(section, place, (...parts) => drawTree(section, ...parts));
}
