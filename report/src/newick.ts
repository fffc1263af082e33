// Newick: a tree read from its text, without recursion, since chains of merges are deep.

export interface Node {
  name: string;
  /** To the parent. */
  length: number;
  children: Node[];
  parent: Node | null;
  /** The distance at which its children join: the way from leaf to leaf through it, both sides alike. */
  height: number;
  /** Place among the leaves, from 0; the middle of its children. */
  place: number;
  /** How many leaves it holds. */
  leaves: number;
}

function newNode(parent: Node | null): Node {
  return { name: "", length: 0, children: [], parent, height: 0, place: 0, leaves: 0 };
}

/** Tokens: brackets, commas, colons, names plain or in quotes; comments in [] are passed over. */
const TOKEN = /\s+|\[[^\]]*\]|[(),:;]|'(?:[^']|'')*'|[^\s()[\],:;']+/g;

/** The root; null where the text is no tree. */
export function parseNewick(text: string): Node | null {
  const root = newNode(null);
  let node: Node | null = root, wantsLength = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (/^[\s[]/.test(token)) continue;
    if (token === ";") break;
    if (node === null) return null;
    if (token === "(" || token === ",") {
      const parent: Node | null = token === "(" ? node : node.parent;
      if (parent === null) return null;
      node = newNode(parent);
      parent.children.push(node);
    } else if (token === ")") node = node.parent;
    else if (token === ":") wantsLength = true;
    else if (wantsLength) {
      node.length = Number(token) || 0;
      wantsLength = false;
    } else node.name = token.startsWith("'") ? token.slice(1, -1).replaceAll("''", "'") : token;
  }
  return node === root && root.children.length > 0 ? root : null;
}

/** All nodes, each before its children. */
export function allNodes(root: Node): Node[] {
  const nodes = [root];
  for (let at = 0; at < nodes.length; ++at) for (const child of nodes[at].children) nodes.push(child);
  return nodes;
}

/** Leaves from left to right. */
export function leavesOf(root: Node): Node[] {
  const found: Node[] = [], open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.children.length === 0) found.push(node);
    for (let n = node.children.length - 1; n >= 0; --n) open.push(node.children[n]);
  }
  return found;
}

/** Sets heights, places and numbers of leaves. */
export function layOut(root: Node): void {
  leavesOf(root).forEach((leaf, place) => {
    leaf.place = place;
    leaf.leaves = 1;
    leaf.height = 0;
  });
  const nodes = allNodes(root);
  for (let at = nodes.length - 1; at >= 0; --at) {
    const node = nodes[at], { children } = node;
    if (children.length === 0) continue;
    node.leaves = children.reduce((sum, child) => sum + child.leaves, 0);
    node.height = Math.max(...children.map((child) => child.height + 2 * child.length));
    node.place = (children[0].place + children[children.length - 1].place) / 2;
  }
}
