// `deno task screenshots`: the pictures of the documents, from made up views.
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { print, runTask } from "../../manifests/tool.ts";
import { CHROMIUM, serve } from "./pages.ts";
import { PICTURES } from "./pictures.ts";

const USAGE = `\
Writes the pictures of the documents, docs/images/*.png, anew. Needs chromium.

Usage: deno task screenshots [flags]

  --help    shows this, and writes nothing
`;
const FOLDER = new URL("../../docs/images", import.meta.url).pathname;

await runTask(async () => {
  const { values } = parseArgs({ options: { help: { type: "boolean", short: "h", default: false } } });
  if (values.help) return await print(USAGE);
  await using pages = serve(Object.entries(PICTURES).map(([name, { page }]) => [`/${name}`, page]));
  const browser = await chromium.launch(CHROMIUM);
  const page = await browser.newPage();
  for (const [name, { height }] of Object.entries(PICTURES)) {
    await page.setViewportSize({ width: 1280, height });
    await page.goto(`${pages.origin}/${name}`);
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
  }
  await browser.close();
});
