// Builds the page: one HTML file with script and styles inside, the same bytes every time.
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

/** What src/pleat/report/report.cpp replaces by the data of the runs. */
const MARK = '{"pleat":"no data"}';

const FIRST_LINES = `<!doctype html>
<!-- A page of pleat report: built from report/ by "npm run build"; the data of the runs stand where
     they are marked. It holds 3Dmol.js, whose licence follows.
${readFileSync("node_modules/3dmol/LICENSE", "utf8").replaceAll("--", "- -").replaceAll("\r", "").trimEnd()}
-->
`;

/** Puts script and styles into the HTML, and text that could end the script element out of the way. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const pieces = Object.values(bundle);
      const page = pieces.find((piece) => piece.fileName.endsWith(".html"));
      const script = pieces.find((piece) => piece.type === "chunk");
      const style = pieces.find((piece) => piece.fileName.endsWith(".css"));
      if (page?.type !== "asset" || script?.type !== "chunk" || style?.type !== "asset" || pieces.length !== 3)
        throw new Error(`expected a page, a script and a style sheet, found ${pieces.map((p) => p.fileName)}`);
      const code = script.code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trimEnd();
      const html = String(page.source)
        .replace(/<!doctype html>\s*/i, "")
        .replace(/\s*<script[^>]*src=[^>]*><\/script>/, "")
        .replace(/\s*<link[^>]*stylesheet[^>]*>/, "")
        .replace("</head>", () => `<style>${String(style.source).trimEnd()}</style>\n</head>`)
        .replace("</body>", () => `<script type="application/json" id="pleat-data">${MARK}</script>\n` +
                                  `<script type="module">${code}</script>\n</body>`);
      if (html.split(MARK).length !== 2) throw new Error("expected one mark for the data");
      this.emitFile({ type: "asset", fileName: "page.html", source: FIRST_LINES + html });
      for (const piece of pieces) delete bundle[piece.fileName];
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: {
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    outDir: "dist",
    reportCompressedSize: false,
    target: "es2021",
  },
});
