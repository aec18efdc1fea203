// The operator's Deployment machine-os-builder, held at 0 replicas by admission: what the operator writes in each turn.
import type { Subject } from "../subject.ts";
import { memberOf, objectAt } from "../../../lib/json.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";

interface Given {
  readonly existing?: KubeObject;
  readonly required: KubeObject;
  /** Into which of the two admission writes 0 replicas. */
  readonly held: readonly ("deployments" | "deployments/scale")[];
  readonly syncs: number;
}

const SYNCS = 4;

function deployment(replicas: number, image: string): KubeObject {
  const labels = { "k8s-app": "machine-os-builder" };
  const container = {
    name: "machine-os-builder",
    image,
    imagePullPolicy: "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
  return {
    metadata: { name: "machine-os-builder", namespace: "openshift-machine-config-operator" },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
    status: { observedGeneration: 1 },
  };
}

const required = deployment(1, "registry.test/mco:2");

interface Turn {
  readonly writes: readonly string[];
  readonly replicas: number;
  /** Of the writes: those that change something, which brings about another turn. */
  readonly changes: number;
}

/**
 * Each turn writes the Deployment, held or not, for the original takes its template for another one where that has no number
 * for its priority, and asks for a scale of 1. Held in both, nothing changes from the second turn on. Held in the Deployment
 * alone, each turn writes 0 and then 1; in the scale alone, a builder that runs stays.
 */
function turnsOf({ existing, held }: Given): readonly Turn[] {
  const [deployment, scale] = [held.includes("deployments"), held.includes("deployments/scale")];
  let replicas = numberAt(objectAt(existing, "spec"), "replicas");
  let image = /mco:\d/.exec(JSON.stringify(existing ?? {}))?.[0];
  return Array.from({ length: SYNCS }, () => {
    const writes = [replicas === undefined ? "create deployments/" : "update deployments/"];
    const kept = deployment ? 0 : replicas ?? 1;
    let changes = kept === replicas && image === "mco:2" ? 0 : 1;
    [replicas, image] = [kept, "mco:2"];
    if (kept !== 1) {
      writes.push("update deployments/scale");
      replicas = scale ? 0 : 1;
      changes += replicas === kept ? 0 : 1;
    }
    return { writes, replicas, changes };
  });
}

function numberAt(object: unknown, name: string): number | undefined {
  const value = memberOf(object, name);
  return typeof value === "number" ? value : undefined;
}

export const BUILDER: Subject<Given> = {
  name: "builder",
  original: "machine-config-operator",
  ask: "builder",
  count: 30,
  kept: 30,
  draw: (draw) => ({
    ...draw.chance(0.2) ? {} : { existing: deployment(draw.below(2), `registry.test/mco:${draw.pick(["1", "2"])}`) },
    required,
    held: draw.pick([[], ["deployments"], ["deployments/scale"], ["deployments", "deployments/scale"]]),
    syncs: SYNCS,
  }),
  ours: turnsOf,
};
