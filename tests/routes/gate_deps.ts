import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/log.ts";
import { makeSettings } from "../support/placement_settings.ts";
import { openLoadLimit, POD_LOAD } from "../../lib/server/load_limit.ts";
import type { GatePodDeps } from "../../routes/gate_pod.ts";

/** What the webhook of pods needs, in a cluster without configs whose images are all unknown. */
export function makeGateDeps(changes: Partial<GatePodDeps> = {}): GatePodDeps {
  const settings = makeSettings({ operatorNamespace: "archway-system" });
  return {
    clock: systemClock,
    log: silentLogger,
    limit: openLoadLimit(POD_LOAD, { clock: systemClock, log: silentLogger }),
    settingsOf: () => settings,
    configsOf: () => ({ cluster: undefined, namespace: [] }),
    recall: () => undefined,
    prefetch: () => {},
    mayGate: () => true,
    startup: () => undefined,
    mismatches: { checkLateImages: () => {}, checkPinned: () => {} },
    decisions: { record: () => {} },
    liveArchitectures: () => undefined,
    observe: () => {},
    ...changes,
  };
}
