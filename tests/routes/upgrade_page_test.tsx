import assert from "node:assert/strict";
import { Hono } from "hono";
import { upgradePage, type UpgradePageView } from "../../routes/upgrade_page.tsx";
import { makePlan, NOW_MS, seen } from "../lib/upgrades/decide/make_plan.ts";
import { makeUpgradeView } from "./upgrade_view.ts";

async function render(view: Partial<UpgradePageView>): Promise<{ readonly text: string; readonly headers: Headers }> {
  const app = new Hono();
  const whole: UpgradePageView = { nowMs: NOW_MS, plan: seen(undefined), pools: seen([]), ...view };
  app.get("/", upgradePage(() => Promise.resolve(whole)));
  const response = await app.request("/");
  return { text: await response.text(), headers: response.headers };
}

Deno.test("the page shows the steps with their times, what is waited for, and the nodes done of all", async () => {
  const { text } = await render(makeUpgradeView());
  for (
    const part of [
      "Upgrade to 4.17.2",
      "Upgrading, 10m",
      "Tell that it starts",
      "5m",
      "Waits: Request the version.",
      "2 of 6",
      "2 of 6 have what their pools want",
      "paused",
    ]
  ) assert.ok(text.includes(part), part);
  assert.match(text, /Request the version <span class="chip wait">waiting/);
  assert.match(text, /Tell that it is complete <span class="chip calm">open/);
  assert.ok(!text.includes("<script>"));
});

Deno.test("the page reports why it is empty, and nothing can run in it", async () => {
  const { text, headers } = await render({ pools: { kind: "unknown", why: "pools are forbidden" } });
  assert.match(text, /There is no UpgradeConfig/);
  assert.match(text, /pools are forbidden/);
  assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
  assert.match((await render({ plan: { kind: "unknown", why: "the API server is away" } })).text, /is away/);
  assert.match((await render({ plan: seen(makePlan({ suspend: true })) })).text, /It is suspended/);
});
