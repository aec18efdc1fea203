// The dashboard in a real browser: wide and narrow, light and dark. SCREENSHOTS=FOLDER keeps the pictures there.
import assert from "node:assert/strict";
import { type Browser, chromium, type Page } from "playwright-core";
import { lacks } from "../support/needs.ts";
import { CHROMIUM, openPages, PAGES, pathOf } from "./pages.ts";

const WIDTHS = [2560, 1280, 820, 360];
const SCHEMES = ["light", "dark"] as const;

const FAINT_TEXTS = `(() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const bytes = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => bytes(colour).slice(0, 3).map((byte) => byte / 255)
    .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (bytes(colour)[3] === 255) return colour;
    }
    return "white";
  };
  return [...document.querySelectorAll("body *")]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ""))
    .map((element) => {
      const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
      return { text: element.textContent, ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) };
    })
    .filter(({ ratio }) => ratio < 4.5);
})()`;

/** What sticks out of its panel, and is cut off there. */
const CUT_OFF = `[...document.querySelectorAll(".panel")].filter((panel) => panel.scrollWidth > panel.clientWidth)
  .map((panel) => panel.textContent)`;

const LANDMARKS = ["banner", "main", "contentinfo", "navigation"] as const;

async function inspectPage(page: Page, url: string): Promise<void> {
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("requestfailed", (request) => complaints.push(request.url()));
  await page.goto(url);
  assert.deepEqual(complaints, [], "nothing is blocked or missing");
  for (const role of LANDMARKS) assert.equal(await page.getByRole(role).count(), 1, role);
}

async function inspectAll(browser: Browser, origin: string, folder: string): Promise<void> {
  for (const name of Object.keys(PAGES)) {
    for (const colorScheme of SCHEMES) {
      const page = await browser.newPage({ colorScheme });
      await inspectPage(page, `${origin}${pathOf(name)}`);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 860 });
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width, `${name} sticks out`);
        assert.deepEqual(await page.evaluate(CUT_OFF), [], `${name} at ${width} is cut off`);
        assert.deepEqual(await page.evaluate(FAINT_TEXTS), [], `${name} at ${width} in ${colorScheme} is hard to read`);
        await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      }
      await page.close();
    }
  }
}

Deno.test("the pages can be read at every width and in both schemes", { ignore: lacks("chromium") }, async () => {
  const wanted = Deno.env.get("SCREENSHOTS");
  const folder = wanted ?? await Deno.makeTempDir({ prefix: "archway-dashboard-" });
  await using pages = openPages();
  const browser = await chromium.launch({ ...CHROMIUM });
  try {
    await inspectAll(browser, pages.origin, folder);
  } finally {
    await browser.close();
    if (wanted === undefined) await Deno.remove(folder, { recursive: true });
  }
});
