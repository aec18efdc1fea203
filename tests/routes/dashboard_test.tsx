import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Hono } from "hono";
import { parseConfig } from "../../lib/config/parse.ts";
import { DECISION_KINDS } from "../../lib/placement/decide/history/recent_decisions.ts";
import { dashboard, podPage } from "../../routes/dashboard.tsx";
import { POD_PAGE, podPath } from "../../routes/dashboard/elements.tsx";
import type { DashboardView } from "../../routes/dashboard/view.ts";
import { decisionsOf, makeBusyView, makeEntry, makeView, NOW_MS } from "./dashboard_view.ts";

const request = async (view: DashboardView) => {
  const app = new Hono();
  app.get("/", dashboard(() => view));
  const response = await app.request("/");
  return { status: response.status, headers: response.headers, page: await response.text() };
};

async function render(view: Partial<DashboardView>): Promise<string> {
  return (await request(makeView(view))).page;
}

function wordsIn(page: string): string {
  return page.replaceAll(/<(style|script)[ >].*?<\/\1>/gs, "").replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
}

/** The page's words: no tags, no style sheet. */
async function wordsOf(view: Partial<DashboardView>): Promise<string> {
  return wordsIn(await render(view));
}

Deno.test("dashboard() answers a whole HTML page that renews itself", async () => {
  const { status, headers, page } = await request(makeBusyView());
  assert.deepEqual([status, headers.get("cache-control")], [200, "no-store"]);
  assert.match(headers.get("content-type") ?? "", /^text\/html; charset=utf-8/i);
  assert.match(page, /^<!doctype html><html lang="en">/);
  assert.match(page, /<meta http-equiv="refresh" content="5"\/?>/);
  assert.match(page, /<\/html>$/);
});

Deno.test("dashboard() allows its own style sheet and script by hash and nothing else", async () => {
  const { headers, page } = await request(makeBusyView());
  const policy = headers.get("content-security-policy") ?? "";
  const hashIn = (tag: string): string => {
    const [, text = ""] = new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, "s").exec(page) ?? [];
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  };
  assert.deepEqual(policy.split("; "), [
    "default-src 'none'",
    `style-src ${hashIn("style")}`,
    `script-src ${hashIn("script")}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  assert.doesNotMatch(page, /<script(?! type="module">)|\sstyle=|\son[a-z]+=|https?:\/\/(?!www\.w3\.org)/);
});

Deno.test("dashboard() shows every part of a busy leader", async () => {
  const words = await wordsOf(makeBusyView());
  for (
    const expected of [
      "archway-7c9f8d6b54-x2x9q leader",
      "Gating new pods",
      "Configuration present",
      "Leader this replica",
      "Gated now 4 pods",
      "Queue 2 waiting",
      "Images known 1,907",
      "recommender-7f9c5d88b-c6k2n 340ms",
      "and 1 more",
      "train-embeddings-0 gated › retrying an image cannot be inspected; asked again registry.example/ml/train",
      "amd64 6 nodes, 12 pods",
      "s390x 1 node, 3 pods",
      "placed 1,284",
      "mixed-toolchain-8hs7x nowhere its images share no architecture",
      "quay.io no error healthy – quota unknown",
      "ghcr.io last error RateLimited probing 0",
      "registry.corp.example:5000 last error Timeout held back",
    ]
  ) assert.ok(words.includes(expected), `"${expected}" in: ${words}`);
});

Deno.test("dashboard() reports what is missing when nothing has happened yet", async () => {
  const page = await render({ lease: { holder: "me", isLeader: true } });
  const missing = ["No decision yet", "Nothing is held", "None so far", "None asked yet", "no pod was held yet"];
  for (const expected of missing) assert.ok(wordsIn(page).includes(expected), expected);
  assert.doesNotMatch(page, /<table|NaN|undefined/);
});

Deno.test("dashboard() leaves what is gated to the leader when it is a follower", async () => {
  const words = await wordsOf({ lease: { holder: "archway-other", isLeader: false } });
  assert.match(words, /follower/);
  assert.match(words, /Leader archway-other/);
  assert.match(words, /Gated now – known to the leader/);
  assert.doesNotMatch(words, /Nothing is held/);
});

Deno.test("dashboard() tells the reason and what follows from it when gating is stopped", async () => {
  const config = ["ConfigUnread", "ConfigAbsent", "ConfigLeaving"] as const;
  for (const reason of [...config, "NoLeader", "LeaderSilent", "LeaderImpaired"] as const) {
    const words = await wordsOf({ gating: { kind: "stopped", reason } });
    assert.match(words, /Not gating new pods/);
    assert.ok(words.includes(`Reason ${reason}`), reason);
    assert.match(words, /pass untouched|Create it/);
  }
});

Deno.test("dashboard() escapes every text that comes from outside", async () => {
  const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;
  const page = await render({
    identity: hostile,
    lease: { holder: hostile, isLeader: false },
    gated: { count: 1, pods: [{ namespace: hostile, pod: hostile, sinceMs: NOW_MS }] },
    registries: [{ host: hostile, circuit: "open" }],
    decisions: decisionsOf([
      makeEntry({ namespace: hostile, pod: hostile, reason: hostile, architectures: [hostile] }),
    ]),
  });
  assert.doesNotMatch(page, /<script>alert|<img/i);
  const escaped = page.split("&lt;script&gt;").length - 1;
  assert.equal(escaped, 10, "identity, holder, host, reason, two names and an architecture twice");
});

Deno.test("dashboard() isolates names, so that their writing direction stays their own", async () => {
  const name = "\u202Egnirts";
  const page = await render({ decisions: decisionsOf([makeEntry({ pod: name })]) });
  assert.ok(page.includes(`<bdi>${name}</bdi>`));
});

Deno.test("dashboard() shows ages from the view's moment, and now when a clock runs ahead", async () => {
  const times = [NOW_MS + 5_000, NOW_MS - 12_000, NOW_MS - 200_000];
  const page = await render({ decisions: decisionsOf(times.map((atMs) => makeEntry({ atMs, pod: `web-${atMs}` }))) });
  assert.deepEqual([...page.matchAll(/<time [^>]*>([^<]*)<\/time>/g)].map(([, age]) => age), ["now", "12s", "3m20s"]);
});

Deno.test("dashboard() has a row for each kind of decision, and an architecture or a dash in each", async () => {
  const entries = DECISION_KINDS.map((kind) =>
    makeEntry({ kind, pod: kind, architectures: kind === "place" ? ["riscv64"] : [], gatedMs: undefined })
  );
  const page = await render({ decisions: decisionsOf(entries) });
  const rows = [...page.matchAll(/<span class="way"><span class="chip \w+">([^<]+)</g)];
  assert.equal(new Set(rows.map(([, label]) => label)).size, DECISION_KINDS.length);
  assert.match(page, /<span class="arch other">riscv64<\/span>/);
  assert.equal(page.split("no requirement").length - 1, DECISION_KINDS.length - 1);
});

Deno.test("dashboard() stays small when there is very much to show", async () => {
  const gatedPods = Array.from({ length: 5_000 }, (_, n) => ({ namespace: "a", pod: `pod-${n}`, sinceMs: NOW_MS - n }));
  const page = await render({
    lease: { holder: "me", isLeader: true },
    gated: { count: 5_000, pods: gatedPods },
    registries: Array.from({ length: 500 }, (_, n) => ({
      host: `r${n}.example`,
      circuit: n === 499 ? "open" : "closed",
    })),
    decisions: decisionsOf(Array.from({ length: 500 }, () => makeEntry())),
  });
  assert.ok(page.length < 60_000, `${page.length} characters`);
  assert.match(wordsIn(page), /and 4992 more/);
  assert.match(wordsIn(page), /and 490 more/);
  assert.match(page, /r499\.example/, "a registry that fails comes first");
});

Deno.test("dashboard() lists containers that run programs of another architecture, where somebody looks for them", async () => {
  const container = { namespace: "shop", pod: "<b>web-1", container: "main", node: "node-1", architecture: "arm64" };
  const words = await wordsOf({ execFormat: [{ ...container, atMs: NOW_MS - 5_000 }] });
  assert.match(words, /Exec format errors newest first shop \/ &lt;b&gt;web-1 main on node-1 \(arm64\) 5s/);
  assert.match(await wordsOf({ execFormat: [] }), /Exec format errors None reported/);
  assert.doesNotMatch(await wordsOf({}), /Exec format errors/);
});

Deno.test("dashboard() shows how the architecture taints stand, where this replica manages them", async () => {
  const nodes = { tainted: 41, left: 0, optedOut: 2, disagreeing: 1, unknown: 0 };
  const message = "Paused at 41 of 41 nodes: pods without the toleration find no node: shop/<b>web-1.";
  const paused = await wordsOf({ taints: { phase: "Paused", nodes, lackingPods: 1_203, message } });
  const expected =
    "Architecture taints Paused nodes tainted 41 nodes opted out 2 nodes left alone: kubelet and label " +
    "disagree 1 pods without their toleration 1,203 Paused at 41 of 41 nodes: pods without the toleration find no node: " +
    "shop/&lt;b&gt;web-1.";
  assert.ok(paused.includes(expected), paused);
  const begun = { tainted: 0, left: 3, optedOut: 0, disagreeing: 0, unknown: 4 };
  const words = await wordsOf({ taints: { phase: "Tainting", nodes: begun, lackingPods: 0, message: "Begun." } });
  const reports = "Tainting nodes tainted 0 nodes to be tainted 3 nodes that have not reported yet 4 Begun.";
  assert.ok(words.includes(`Architecture taints ${reports}`), words);
  assert.doesNotMatch(words, /opted out|disagree|pods without/);
  assert.doesNotMatch(await wordsOf({}), /Architecture taints/);
});

Deno.test("podPage() names the command that explains the pod, which is one", async () => {
  const app = new Hono();
  app.get(POD_PAGE, podPage(() => makeView({})));
  const page = wordsIn(await (await app.request(podPath("team", "web"))).text());
  const [command = ""] = /archway explain \S+ -n \S+/.exec(page) ?? [];
  const readFile = (): string => assert.fail("a file is read");
  assert.equal(parseConfig(command.split(" ").slice(1), { env: {}, readFile }).kind, "run", command);
  assert.match(command, /^archway explain pod\/web -n team$/);
});
