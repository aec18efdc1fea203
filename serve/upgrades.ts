// `archway serve --only=upgrades`: the upgrades of an OpenShift cluster, beside no pod placement.
import { Upgrades } from "../lib/upgrade_names.ts";
import type { ServeDeps } from "./clients.ts";
import { type CapabilityParts, type OpenCapability, serveCapability } from "./capability.ts";

/** Serves upgrades until `stop` aborts. Rejects when something cannot be opened. */
export async function serveUpgrades(deps: ServeDeps, stop: AbortSignal): Promise<void> {
  const capability = { leaseName: Upgrades.lease, eventSource: Upgrades.eventSource, open: openUpgrades };
  await serveCapability(deps, capability, stop);
}

function openUpgrades({ stop }: CapabilityParts): Promise<OpenCapability> {
  return Promise.resolve({ everywhere: [], leading: [{ run: () => aborted(stop) }], ready: {} });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
