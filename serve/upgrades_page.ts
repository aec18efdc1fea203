// What the page of upgrades shows, read when it is requested: any replica can show it.
import type { Clock } from "../lib/clock.ts";
import { type ReadApi, serverNowMs } from "../lib/k8s/api.ts";
import { openClusterReader } from "../lib/upgrades/cluster/cluster_reader.ts";
import { readInput } from "../lib/upgrades/cluster/plan_input.ts";
import { KeptValue } from "../lib/upgrades/outside/http/kept_value.ts";
import { observe } from "../lib/upgrades/cluster/observe.ts";
import type { UpgradePageView } from "../routes/upgrade_page.tsx";

export interface UpgradeViewDeps {
  readonly readApi: ReadApi;
  readonly clock: Clock;
  readonly namespace: string;
}

/** However often and by whom the page is opened: the API server is read once in so long (ms). */
const KEEP_MS = 3_000;

/** Opens it; nothing is read before the page is requested. `stop` ends what is being read. */
export function openUpgradeView(deps: UpgradeViewDeps, stop: AbortSignal): () => Promise<UpgradePageView> {
  const kept = new KeptValue(deps.clock, async (signal) => ({ value: await readView(deps, signal), keepMs: KEEP_MS }));
  return () => kept.get(stop);
}

async function readView(deps: UpgradeViewDeps, signal: AbortSignal): Promise<UpgradePageView> {
  const nowMs = serverNowMs(deps.clock, deps.readApi);
  const [{ plan, known }, pools] = await Promise.all([
    readInput(deps, { nowMs, signal }),
    observe(openClusterReader(deps.readApi, signal).pools, signal),
  ]);
  return { nowMs, plan: plan.kind === "unknown" ? plan : { kind: "observed", value: known }, pools };
}
