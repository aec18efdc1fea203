// The services outside of the sample cluster: an Alertmanager that keeps silences, no alerts, and a registry that has the payload.
import type { Silence } from "../../lib/upgrades/decide/types/cluster.ts";
import { Upgrades } from "../../lib/upgrades/names.ts";
import type { Outside } from "../../lib/upgrades/outside/outside.ts";
import { payloadOf, RELEASE } from "./objects.ts";

export function openSampleOutside(): Outside {
  const silences = new Map<string, Silence>();
  const payload = { image: payloadOf("Multi"), version: RELEASE, isIndex: true, architectures: ["amd64", "arm64"] };
  return {
    readers: () => ({
      silences: () => Promise.resolve([...silences.values()]),
      health: () => Promise.resolve([]),
      healthAfter: () => Promise.resolve([]),
      dependencies: () => Promise.resolve([]),
      graph: () => Promise.resolve([]),
      payload: () => Promise.resolve(payload),
      policy: () => Promise.resolve({ kind: "notConfigured" }),
      alertsDuring: () => Promise.resolve([]),
    }),
    createSilence: ({ comment, endsAtMs }) => {
      const id = `silence-${silences.size + 1}`;
      silences.set(id, { id, createdBy: Upgrades.eventSource, comment, state: "active", endsAtMs });
      return Promise.resolve();
    },
    endSilence: (id) => {
      silences.delete(id);
      return Promise.resolve();
    },
    notify: () => Promise.resolve(),
  };
}
