import assert from "node:assert/strict";
import { Hono } from "hono";
import { buildsPage, type BuildsPageView } from "../../routes/builds_page.tsx";
import { makePoolBuild } from "./builds_view.ts";

async function render(view: Partial<BuildsPageView>): Promise<{ readonly text: string; readonly headers: Headers }> {
  const app = new Hono();
  app.get("/", buildsPage(() => ({ nowMs: 0, isLeader: true, pools: [], ...view })));
  const response = await app.request("/");
  return { text: await response.text(), headers: response.headers };
}

Deno.test("the page shows each pool: states, times, nodes that are not covered, what is published", async () => {
  const { text } = await render({ pools: [makePoolBuild()] });
  for (
    const part of [
      "Pool worker",
      "Succeeded",
      "5m",
      "Failed, deadline exceeded",
      "no image for arm64",
      makePoolBuild().published,
    ]
  ) {
    assert.ok(text.includes(part), part);
  }
  assert.ok(text.includes("Another builder active: It runs."));
  assert.ok(!text.includes("<script>"));
});

Deno.test("the page reports why it is empty, and nothing can run in it", async () => {
  assert.match((await render({})).text, /No MachineOSConfig was seen/);
  const { text, headers } = await render({ isLeader: false });
  assert.match(text, /holds the Lease/);
  assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
});
