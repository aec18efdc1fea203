// An upgrade on a real API server: the scripted OpenShift, the controller of upgrades on a clock that runs fast, and doubles of
// what lies outside of the cluster, which remember what they were asked.
import { renderTime } from "../../../lib/vocabulary/time.ts";
import { openUpgrades } from "../../../controllers/upgrades/controller.ts";
import type { UpgradesDeps } from "../../../controllers/upgrades/deps.ts";
import type { Outside } from "../../../lib/upgrades/outside/outside.ts";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { silentLogger } from "../../../lib/log.ts";
import type { Silence } from "../../../lib/upgrades/decide/types/cluster.ts";
import type { Notification } from "../../../lib/upgrades/decide/types/effects.ts";
import type { NotificationState } from "../../../lib/upgrades/decide/types/plan.ts";
import { UPGRADERS } from "../../../lib/upgrades/decide/steps/upgraders.ts";
import { openTestApi } from "../../support/cluster_api.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";
import { controlPlaneWith } from "./shared_control_plane.ts";
import { imageOf, PLANS, SimulatedOpenShift, type SimulationOptions, TO } from "./simulated_openshift.ts";
import { phaseOf, PLAN, prepareUpgrades, UPGRADES_PLANE } from "./upgrade_plane.ts";
import { waitUntil } from "./wait.ts";

const NAMESPACE = "openshift-managed-upgrade-operator";
/** So many seconds of the controller pass in one of the machine's. */
const SPEED = 30;

export interface OutsideDouble extends Outside {
  readonly silences: readonly Silence[];
  readonly created: readonly string[];
  readonly notified: readonly Notification[];
  /** Where this gives a text for the name of a call, the call fails with it. */
  fault: (call: string) => string | undefined;
}

/** The steps of OSD, in their order. */
export const OSD_STEPS: readonly string[] = [...new Set(UPGRADERS.OSD.steps.map(({ id }) => id))];

/** What was notified, but that it began late: on a slow machine the time of a fast clock passes before that. */
export function statesOf(notified: readonly Notification[]): readonly NotificationState[] {
  return notified.map(({ state }) => state).filter((state) => state !== "StateDelayed");
}

export interface UpgradeBed extends AsyncDisposable {
  readonly controlPlane: ClusterAccess;
  readonly openshift: SimulatedOpenShift;
  readonly outside: OutsideDouble;
  readonly gauges: ReadonlyMap<string, number>;
  readonly clock: ShiftableClock;
  start(replaced?: ReplicaParts | ((api: KubeApi) => KubeApi)): () => Promise<void>;
  createPlan(spec?: Readonly<Record<string, unknown>>): Promise<void>;
  readPlan(): Promise<unknown>;
  untilPhase(phase: string): Promise<unknown>;
}

/** What a replica may be given in place of the usual; a function puts faults before the API that it writes with. */
export type ReplicaParts = Partial<Pick<UpgradesDeps, "readApi" | "api" | "outside">>;

export interface ShiftableClock extends Clock {
  shift(ms: number): void;
}

export function openFastClock(speed = SPEED): ShiftableClock {
  const [startMs, startMonotonicMs] = [systemClock.nowMs(), systemClock.monotonicMs()];
  let shiftMs = 0;
  const passedMs = (): number => (systemClock.monotonicMs() - startMonotonicMs) * speed;
  return {
    nowMs: () => startMs + passedMs() + shiftMs,
    monotonicMs: passedMs,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
    shift: (ms) => {
      shiftMs += ms;
    },
  };
}

/** Its waits are short, and its time is that of the machine: for what other programs read the time of. */
export function openHastyClock(speed: number): ShiftableClock {
  let shiftMs = 0;
  const shift = (ms: number): void => {
    shiftMs += ms;
  };
  return { ...openFastClock(speed), nowMs: () => systemClock.nowMs() + shiftMs, shift };
}

export interface UpgradeBedOptions extends Partial<SimulationOptions> {
  readonly clock?: ShiftableClock;
  /** As `WITHOUT_KUBELETS` says: of many nodes. Default: one that tests share. */
  readonly cluster?: ClusterAccess;
}

export async function openUpgradeBed(
  { clock = openFastClock(), cluster, ...options }: UpgradeBedOptions = {},
): Promise<UpgradeBed> {
  await using undo = new AsyncDisposableStack();
  const controlPlane = cluster ?? undo.use(await controlPlaneWith(UPGRADES_PLANE));
  if (cluster !== undefined) await prepareUpgrades(cluster);
  const openshift = undo.use(
    await SimulatedOpenShift.open(controlPlane, { pools: { master: 1, worker: 2 }, stepMs: 50, ...options }),
  );
  await createSettings(controlPlane);
  const access = await readKubeconfigAccess(controlPlane.kubeconfigFile, { clock: systemClock });
  const api = undo.use(openTestApi(access));
  const gauges = new Map<string, number>();
  const outside = openOutsideDouble();
  const owned = undo.move();
  const readPlan = async (): Promise<unknown> => await controlPlane.get(PLAN);
  return {
    ...{ controlPlane, openshift, outside, gauges, clock, readPlan },
    start: (replaced = {}) => {
      const deps: UpgradesDeps = {
        ...{ readApi: api, api, outside, gauges: gaugesInto(gauges), clock, log: silentLogger },
        ...{ namespace: NAMESPACE, events: { record: () => {} } },
        adviseOnWorkloads: () => Promise.resolve([]),
        ...typeof replaced === "function" ? { api: replaced(api) } : replaced,
      };
      const stop = new AbortController();
      const running = openUpgrades(deps).run(stop.signal);
      const end = async (): Promise<void> => {
        stop.abort();
        await running;
      };
      owned.defer(end);
      return end;
    },
    createPlan: async (spec = {}) => {
      await controlPlane.create(PLANS, planOf(spec));
    },
    untilPhase: (phase) => untilPhase(phase, { readPlan, openshift }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function untilPhase(
  phase: string,
  { readPlan, openshift }: Pick<UpgradeBed, "readPlan" | "openshift">,
): Promise<unknown> {
  let plan: unknown;
  return await waitUntil(`the phase ${phase}`, async () => {
    plan = await readPlan();
    return phaseOf(plan) === phase ? plan : undefined;
  }, { deadlineMs: 60_000, intervalMs: 100 }).catch((cause: unknown) => {
    const words = `operators: ${String(openshift.lastFault)}; ${JSON.stringify(read(plan, "status"))}`;
    throw new Error(`Cannot see the phase ${phase}: ${words}`, { cause });
  });
}

export function planOf(spec: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const upgradeAt = renderTime(Date.now() - 60_000);
  const desired = { version: TO, channel: "stable-4.20" };
  return {
    ...{ apiVersion: "upgrade.managed.openshift.io/v1alpha1", kind: "UpgradeConfig" },
    metadata: { name: "managed-upgrade-config" },
    spec: { desired, upgradeAt, PDBForceDrainTimeout: 30, type: "OSD", ...spec },
  };
}

async function createSettings(cluster: ClusterAccess): Promise<void> {
  const settings = {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "managed-upgrade-operator-config" } },
    data: { "config.yaml": "configManager:\n  source: LOCAL\nhealthCheck:\n  ignoredCriticals: []\n" },
  };
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
  await cluster.create(path, settings);
}

function gaugesInto(gauges: Map<string, number>): UpgradesDeps["gauges"] {
  const nameOf = (metric: string, labels: Readonly<Record<string, string>>): string =>
    `${metric}${JSON.stringify(labels)}`;
  return {
    set: (metric, labels, value) => void gauges.set(nameOf(metric, labels), value),
    clear: (metric) => {
      for (const name of [...gauges.keys()]) if (name.startsWith(metric)) gauges.delete(name);
    },
    clearGroup: () => gauges.clear(),
  };
}

function openOutsideDouble(): OutsideDouble {
  const silences: Silence[] = [];
  const created: string[] = [];
  const notified: Notification[] = [];
  const double: OutsideDouble = {
    ...{ silences, created, notified, fault: () => undefined },
    readers: ({ facts }) => ({
      silences: () => guarded("silences", () => [...silences]),
      health: () => guarded("health", () => []),
      healthAfter: () => guarded("healthAfter", () => []),
      dependencies: () => guarded("dependencies", () => []),
      graph: () => guarded("graph", () => []),
      payload: () => {
        const version = facts?.plan.spec.desired.version ?? "";
        return guarded("payload", () => ({
          ...{ image: imageOf(version, "aa"), version, isIndex: true, architectures: ["amd64", "arm64"] },
        }));
      },
      policy: () => guarded("policy", () => ({ kind: "notConfigured" })),
      alertsDuring: () => guarded("alertsDuring", () => []),
    }),
    createSilence: ({ comment, endsAtMs }) =>
      guarded("createSilence", () => {
        created.push(comment);
        silences.push({
          ...{ id: `s-${created.length}`, createdBy: "managed-upgrade-operator", comment, state: "active", endsAtMs },
        });
      }),
    endSilence: (id) =>
      guarded("endSilence", () => {
        const at = silences.findIndex((silence) => silence.id === id);
        if (at >= 0) silences.splice(at, 1);
      }),
    notify: (notification) =>
      guarded("notify", () => {
        // As the sinks do: what has the id of an earlier one is the same notification.
        if (!notified.some(({ id }) => id === notification.id)) notified.push(notification);
      }),
  };
  function guarded<T>(call: string, answer: () => T): Promise<T> {
    const fault = double.fault(call);
    return fault === undefined ? Promise.resolve(answer()) : Promise.reject(new Error(fault));
  }
  return double;
}
