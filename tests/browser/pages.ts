// The pages with made up views, for the browser.
import { type Handler, Hono } from "hono";
import { buildsPage } from "../../routes/builds_page.tsx";
import { dashboard, podPage } from "../../routes/dashboard.tsx";
import { POD_PAGE, podPath } from "../../routes/dashboard/elements.tsx";
import type { DashboardView } from "../../routes/dashboard/view.ts";
import { upgradePage } from "../../routes/upgrade_page.tsx";
import { makePoolBuild } from "../routes/builds_view.ts";
import { decisionsOf, makeBusyView, makeEntry, makeView } from "../routes/dashboard_view.ts";
import { makeUpgradeView } from "../routes/upgrade_view.ts";

export const CHROMIUM = { executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] };

const LONG = "a-name-without-an-end-".repeat(11);
const longView = (): DashboardView =>
  makeView({
    identity: LONG,
    lease: { holder: LONG, isLeader: false },
    registries: [{ host: LONG, circuit: "open", lastFailure: { reason: "TlsFailed" }, remaining: 123_456 }],
    decisions: decisionsOf([makeEntry({ namespace: LONG, pod: LONG, architectures: Array(16).fill("mips64le") })]),
  });
export const PAGES = {
  busy: dashboard(makeBusyView),
  empty: dashboard(() => makeView()),
  long: dashboard(longView),
  pods: podPage(makeBusyView),
  "long-pods": podPage(longView),
  upgrade: upgradePage(() => Promise.resolve(makeUpgradeView())),
  builds: buildsPage(() => ({ nowMs: 0, isLeader: true, pools: [makePoolBuild()] })),
};
/** Where the page of a pod is asked for. */
const PODS: Readonly<Record<string, string>> = {
  pods: podPath("ml", "train-embeddings-0"),
  "long-pods": podPath(LONG, LONG),
};

export function pathOf(name: string): string {
  return `/${name}${PODS[name] ?? ""}`;
}

export interface ServedPages extends AsyncDisposable {
  readonly origin: string;
}

export function openPages(): ServedPages {
  return serve(Object.entries(PAGES).map(([name, page]) => [`/${name}${name in PODS ? POD_PAGE : ""}`, page]));
}

export function serve(pages: readonly (readonly [path: string, page: Handler])[]): ServedPages {
  const app = new Hono();
  for (const [path, page] of pages) app.get(path, page);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.fetch);
  return { origin: `http://127.0.0.1:${server.addr.port}`, [Symbol.asyncDispose]: () => server.shutdown() };
}
