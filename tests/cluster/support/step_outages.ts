// Closes the way to a server whenever an upgrade has got a step further, and opens it once a look has failed for that: the server
// is away at the beginning of every step.
import { type KubeApi, withCalls } from "../../../lib/k8s/api.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { listAt, read } from "./cluster_access.ts";
import type { OutageGate } from "./outage_gate.ts";
import { phaseOf } from "./upgrade_plane.ts";

export interface StepOutages {
  /** Steps, or phases, that met the outage; each once for each time. */
  readonly refusedAt: readonly string[];
  readonly outages: () => number;
  readonly api: KubeApi;
}

export function openStepOutages(api: KubeApi, gate: OutageGate): StepOutages {
  const refusedAt: string[] = [];
  let [outages, step, progress] = [0, "New", ""];
  const isPlan = ({ plural }: { readonly plural: string }): boolean => plural === Resource.upgradeConfigs.plural;
  let isMet = false;
  const lookBegins = (): void => {
    if (!gate.isClosed || !isMet && gate.refusals === 0) return;
    refusedAt.push(step);
    gate.open();
  };
  const written = (plan: unknown): void => {
    const phase = String(phaseOf(plan));
    const list = listAt(plan, "status", "history", 0, "conditions");
    const typesOf = (status: string): readonly string[] =>
      list.filter((one) => read(one, "status") === status).map((one) => String(read(one, "type")));
    step = phase === "Upgrading" ? typesOf("False")[0] ?? `behind ${typesOf("True")[0]}` : phase;
    const next = [phase, ...typesOf("True")].join();
    // A request on a connection that was cut a moment ago fails without a new connection.
    isMet = next === progress && String(read(list[0], "message")).startsWith("Cannot ");
    if (next === progress) return;
    progress = next;
    outages++;
    gate.close();
  };
  return {
    refusedAt,
    outages: () => outages,
    api: withCalls(api, {
      get: (type, ...call) => {
        if (isPlan(type)) lookBegins();
        return api.get(type, ...call);
      },
      patch: async (type, ...call) => {
        const object = await api.patch(type, ...call);
        if (isPlan(type)) written(object);
        return object;
      },
    }),
  };
}
