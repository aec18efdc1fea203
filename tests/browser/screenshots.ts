// `deno task screenshots`: the pictures of the documents, from made up views.
import { chromium } from "playwright-core";
import { CHROMIUM, openPages, pathOf } from "./pages.ts";

const FOLDER = new URL("../../docs/images", import.meta.url).pathname;
const PICTURES = { busy: "dashboard", upgrade: "upgrade", builds: "image-builds" };

await using pages = openPages();
const browser = await chromium.launch(CHROMIUM);
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
for (const [name, file] of Object.entries(PICTURES)) {
  await page.goto(`${pages.origin}${pathOf(name)}`);
  await page.screenshot({ path: `${FOLDER}/${file}.png` });
}
await browser.close();
