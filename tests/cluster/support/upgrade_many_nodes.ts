// Looks at an upgrade of a large cluster on a real API server: how many requests each makes, and how long it takes.
import { drive, type DriveOptions } from "../../../controllers/upgrades/drive.ts";
import type { UpgradesDeps } from "../../../controllers/upgrades/deps.ts";
import { type BackgroundAdvice, openBackgroundAdvice } from "../../../controllers/upgrades/background_advice.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { adviseOnWorkloads } from "../../../lib/report/cluster/workload_advice.ts";
import { systemClock } from "../../../lib/clock.ts";
import { type KubeApi, withCalls } from "../../../lib/k8s/api.ts";
import type { ApiCall } from "../../../lib/k8s/api_transport.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { silentLogger } from "../../../lib/log.ts";
import { OsImages } from "../../../lib/upgrades/cluster/os_images.ts";
import { readInput } from "../../../lib/upgrades/cluster/plan_input.ts";
import { readHealth } from "../../../lib/upgrades/outside/health/read_health.ts";
import { reconcile } from "../../../lib/upgrades/decide/reconcile.ts";
import { checksOf } from "../../../lib/upgrades/decide/health_decision.ts";
import { openTestApi } from "../../support/cluster_api.ts";
import { startControlPlane, WITHOUT_KUBELETS } from "./control_plane.ts";
import { openUpgradeBed, type OutsideDouble, type UpgradeBed } from "./upgrade_bed.ts";

const NAMESPACE = "openshift-managed-upgrade-operator";
const SETTINGS = `/api/v1/namespaces/${NAMESPACE}/configmaps/managed-upgrade-operator-config`;

export interface Look {
  readonly reads: number;
  readonly writes: number;
  /** Most of what was read, in order: `nodes`, `machineconfigs/rendered-worker-1`. */
  readonly words: readonly string[];
  readonly tookMs: number;
}

export interface ManyNodes extends AsyncDisposable {
  readonly bed: UpgradeBed;
  /** Requests of the look at workloads, which is none of those that reconciles make. */
  readonly looked: { readonly requests: number };
  look(): Promise<Look>;
  /** The looks that follow are those of a process that has just begun. */
  restart(): void;
}

export async function openManyNodes(
  { nodes, pools, stepMs }: { readonly nodes: number; readonly pools: number; readonly stepMs: number },
): Promise<ManyNodes> {
  await using undo = new AsyncDisposableStack();
  const cluster = undo.use(await startControlPlane(WITHOUT_KUBELETS));
  const bed = undo.use(await openUpgradeBed({ pools: poolsOf(nodes, pools), stepMs, cluster }));
  const gated = {
    data: { "config.yaml": "configManager: { source: LOCAL }\nfeatureGate: { enabled: [PreHealthCheck] }\n" },
  };
  await bed.controlPlane.patch(SETTINGS, gated);
  const access = await readKubeconfigAccess(bed.controlPlane.kubeconfigFile, { clock: systemClock });
  const seen: { reads: number; writes: number; words: string[] } = { reads: 0, writes: 0, words: [] };
  const observe = ({ method }: ApiCall): void => void (method === "GET" ? seen.reads++ : seen.writes++);
  const api = undo.use(openTestApi(access, { observe }));
  const readApi = watched(api, (word) => void seen.words.push(word));
  const deps = { ...depsOf(api, bed.outside), readApi };
  const looked = { requests: 0 };
  const workloads = openLook(undo.use(openTestApi(access, { observe: () => void looked.requests++ })));
  undo.defer(workloads.end);
  let osImages = new OsImages(readApi);
  const opened = undo.move();
  return {
    bed,
    looked,
    look: async () => {
      Object.assign(seen, { reads: 0, writes: 0, words: [] });
      const startedMs = performance.now();
      await look(deps, { osImages, workloads: workloads.sentences });
      return { ...seen, tookMs: performance.now() - startedMs };
    },
    restart: () => {
      osImages = new OsImages(readApi);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The control plane and pools of about the same size. */
export function poolsOf(nodes: number, pools: number): Readonly<Record<string, number>> {
  const size = Math.floor(nodes / pools);
  const names = Array.from({ length: pools - 1 }, (_, at) => at === 0 ? "worker" : `pool-${at}`);
  return { master: nodes - size * (pools - 1), ...Object.fromEntries(names.map((name) => [name, size])) };
}

function watched(api: KubeApi, onRead: (word: string) => void): KubeApi {
  return withCalls(api, {
    get: (type, target, signal) => {
      onRead(`${type.plural}/${target.name}`);
      return api.get(type, target, signal);
    },
    list: (type, options, signal) => {
      onRead(type.plural);
      return api.list(type, options, signal);
    },
  });
}

/** Health is read of the cluster; only alerts come from a double. */
function depsOf(api: KubeApi, outside: OutsideDouble): UpgradesDeps {
  const nothing = (): void => {};
  return {
    ...{ readApi: api, api, clock: systemClock, log: silentLogger, namespace: NAMESPACE },
    ...{ gauges: { set: nothing, clear: nothing, clearGroup: nothing }, events: { record: nothing } },
    adviseOnWorkloads: () => Promise.resolve([]),
    outside: {
      ...outside,
      readers: (scope) => ({
        ...outside.readers(scope),
        health: async () => {
          const { facts, reader, signal } = scope;
          if (facts === undefined) throw new Error("Cannot read the health: there is no plan.");
          const alerts = () => Promise.resolve([]);
          return await readHealth({ alerts, reader, readFindings: undefined }, checksOf(facts), signal);
        },
      }),
    },
  };
}

/** The look at workloads, with requests of its own; no image is inspected. */
function openLook(api: KubeApi): Pick<BackgroundAdvice, "sentences"> & { readonly end: () => Promise<void> } {
  const stop = new AbortController();
  const images = { inspect: () => Promise.resolve([]) };
  const look = openBackgroundAdvice(
    (signal) => adviseOnWorkloads({ api, images, clock: systemClock, settings: makeSettings(), signal }),
    () => {},
  );
  const running = look.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { sentences: look.sentences, end };
}

async function look(deps: UpgradesDeps, beside: Pick<DriveOptions, "osImages" | "workloads">): Promise<void> {
  const [nowMs, { signal }] = [systemClock.nowMs(), new AbortController()];
  const input = await readInput(deps, { nowMs, signal });
  const { known: plan, facts } = input;
  const options = { ...beside, plan, facts, notReadyNodes: () => [], onWritten: () => {}, nowMs, signal };
  await drive(reconcile({ ...input, isDrainForbidden: false }), deps, options);
}
