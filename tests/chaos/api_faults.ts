// What is done to the API server and etcd, and to the way there. Rows of the chaos table.
import { waitUntil } from "../cluster/support/wait.ts";
import type { ChaosBed } from "./bed.ts";
import type { Heal } from "./engine.ts";
import { felt } from "./registry_faults.ts";
import { countAnswers, type CountingInterceptor, type CutPlace, cutWatches, expireWatches } from "./watch_cuts.ts";

/** The classes of bytes at which a watch can be cut. */
export const CUT_PLACES: readonly CutPlace[] = ["in a line", "between lines", "in a character", "in a chunk header"];
/** Cuts a row, so that the second comes while the first is being made good. */
const CUTS = 3;

/** Kills the API server; it comes back at the end. */
export async function stopApiServer({ controlPlane }: ChaosBed): Promise<Heal> {
  const goneMs = performance.now();
  await controlPlane.stopApiServer("killed");
  return async () => {
    await controlPlane.startApiServer();
    return `away for ${seconds(performance.now() - goneMs)}`;
  };
}

export async function restartEtcd({ controlPlane }: ChaosBed): Promise<Heal> {
  const goneMs = performance.now();
  await controlPlane.restartEtcd("killed");
  const away = `away for ${seconds(performance.now() - goneMs)}`;
  return () => Promise.resolve(away);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

export function cut(place: CutPlace): (bed: ChaosBed) => Promise<Heal> {
  return (bed) => intercept(bed, cutWatches(place, CUTS), "cut");
}

/** Cuts a watch of pods and says of the resumed one that its resourceVersion is too old. */
export function expire(form: "status" | "event"): (bed: ChaosBed) => Promise<Heal> {
  return (bed) => intercept(bed, expireWatches(form, 1), "expired");
}

function intercept({ apiProxy }: ChaosBed, counting: CountingInterceptor, what: string): Promise<Heal> {
  apiProxy.intercept(counting);
  return Promise.resolve(async () => {
    await waitUntil(`a watch to be ${what}`, () => counting.count() > 0);
    return `${counting.count()} × ${what}`;
  });
}

const FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1";
const NAME = "archway-starved";

/**
 * Gives Archway's ServiceAccount a priority level without a single seat: the API server itself answers 429. It takes such
 * changes in its own time, seconds after a start: the fault begins with the first refusal and ends with the last.
 */
export async function starveArchway({ apiProxy, controlPlane }: ChaosBed): Promise<Heal> {
  const kind = { apiVersion: "flowcontrol.apiserver.k8s.io/v1", metadata: { name: NAME } };
  const limited = { nominalConcurrencyShares: 0, lendablePercent: 0, limitResponse: { type: "Reject" } };
  const level = { ...kind, kind: "PriorityLevelConfiguration", spec: { type: "Limited", limited } };
  const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true };
  const archway = { kind: "ServiceAccount", serviceAccount: { namespace: "archway-system", name: "archway" } };
  const schema = {
    ...kind,
    kind: "FlowSchema",
    spec: {
      priorityLevelConfiguration: { name: NAME },
      matchingPrecedence: 2,
      rules: [{ subjects: [archway], resourceRules: [everything] }],
    },
  };
  const paths = { [`${FLOW_CONTROL}/prioritylevelconfigurations`]: level, [`${FLOW_CONTROL}/flowschemas`]: schema };
  const refusals = countAnswers(429);
  apiProxy.intercept(refusals);
  for (const [path, body] of Object.entries(paths)) {
    await controlPlane.create(path, body);
  }
  await waitUntil("a request of Archway to be refused", () => refusals.count() > 0);
  return async () => {
    for (const path of Object.keys(paths).reverse()) {
      await controlPlane.delete(`${path}/${NAME}`);
    }
    // kubectl asks again while it is refused.
    const asArchway = "--as=system:serviceaccount:archway-system:archway";
    await waitUntil(
      "requests of Archway to be taken again",
      async () => (await controlPlane.kubectl(["get", "--raw", "/api/v1/pods?limit=1", asArchway])).code === 0,
    );
    return await felt(refusals.count(), "refusal");
  };
}
