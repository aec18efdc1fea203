// A soak: pods come and go on two replicas for minutes while registries fail, certificates and configs change and replicas
// restart; then nothing may be stuck, misplaced or grown.
import { startScript } from "../bench/child.ts";
import type { Archway } from "../cluster/support/archway.ts";
import { expectStatus } from "../cluster/support/cluster_access.ts";
import { CONFIG, GROUP, localConfig } from "../cluster/support/objects.ts";
import { seededRandom } from "../support/random.ts";
import { scoring } from "../support/walk/preference_rows.ts";
import { failedWebhookCalls } from "../cluster/support/pod_load.ts";
import { pause, waitUntil } from "../cluster/support/wait.ts";
import { openPair, type Pair } from "./pair.ts";
import { type Course, courseOf, eventLoopP99Ms, type ProcessSample, sampleProcess } from "./process_sample.ts";
import { type LoadView, SoakLoad } from "./soak_load.ts";
import { type Disturbance, planSoak, renderStep, type Step } from "./soak_plan.ts";

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly print: (line: string) => void;
}

export interface ReplicaCourse {
  readonly name: string;
  readonly lifeMinutes: number;
  readonly rssMb: Course;
  readonly descriptors: Course;
  /** Upper bound of the 99th percentile (ms). */
  readonly eventLoopP99Ms: number;
}

export interface SoakReport {
  readonly minutes: number;
  readonly seed: number;
  readonly load: LoadView;
  /** Webhook calls that the API server let pass unanswered. */
  readonly failedWebhookCalls: number;
  readonly disturbances: Readonly<Partial<Record<Disturbance["kind"], number>>>;
  readonly replicas: readonly ReplicaCourse[];
  /** The same of a process that does nothing: what the machine alone adds. */
  readonly idleEventLoopP99Ms: number;
}

/** So many looks at the replicas, whatever the length: few of them could not tell garbage from growth. */
const SAMPLES = 60;
const LONGEST_PAUSE_MS = 10_000;
/** The last pods wait for a registry that is well again and for the scheduler. */
const SETTLE_MS = 60_000;

/** Soaks. The time of the start is part of the minutes. */
export async function soak({ minutes, seed, print }: SoakOptions): Promise<SoakReport> {
  const endMs = performance.now() + minutes * 60_000;
  await using idle = startScript("../chaos/idle_loop.ts", []);
  await using pair = await openPair();
  const namespace = await pair.controlPlane.createNamespace("soak");
  const load = new SoakLoad(pair, { namespace, nodes: pair.nodes });
  const plan = planSoak(endMs - performance.now(), seededRandom(seed));
  print(`soak of ${minutes} minutes, seed ${seed}, ${plan.length} disturbances`);
  for (const step of plan) print(renderStep(step));
  load.start();
  const watch = new ReplicaWatch(pair.replicas);
  const everyMs = Math.min(LONGEST_PAUSE_MS, minutes * 60_000 / SAMPLES);
  const reporting = reportUntil(endMs, { load, watch, print, everyMs });
  for (const step of plan) await carryOut(pair, step, { namespace, startedMs: reporting.startedMs });
  await reporting.done;
  await load.stop(SETTLE_MS);
  const disturbances = Map.groupBy(plan, ({ kind }) => kind).entries().map(([kind, steps]) => [kind, steps.length]);
  return {
    minutes,
    seed,
    load: load.view(),
    failedWebhookCalls: await failedWebhookCalls(pair.controlPlane),
    disturbances: Object.fromEntries(disturbances),
    replicas: await watch.courses(),
    idleEventLoopP99Ms: Number(await idle.end()),
  };
}

function reportUntil(
  endMs: number,
  { load, watch, print, everyMs }: {
    readonly load: SoakLoad;
    readonly watch: ReplicaWatch;
    readonly print: (line: string) => void;
    readonly everyMs: number;
  },
): { readonly startedMs: number; readonly done: Promise<void> } {
  const startedMs = performance.now();
  const run = async (): Promise<void> => {
    while (performance.now() < endMs) {
      await pause(Math.max(0, Math.min(everyMs, endMs - performance.now())));
      await watch.look();
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      print(`${String(seconds).padStart(5)} s  ${renderLoad(load.view())}  ${watch.render()}`);
    }
  };
  return { startedMs, done: run() };
}

function renderLoad({ created, fates, alive, worstGateMs, failures }: LoadView): string {
  const { placed, missed, misplaced } = fates;
  const givenUp = fates["given up"];
  return `created ${created} placed ${placed} alive ${alive} given up ${givenUp} missed ${missed} misplaced ${misplaced} ` +
    `refused ${failures.length} worst gate ${(worstGateMs / 1_000).toFixed(1)} s`;
}

class ReplicaWatch {
  readonly #replicas: readonly Archway[];
  readonly #samples = new Map<string, ProcessSample[]>();

  constructor(replicas: readonly Archway[]) {
    this.#replicas = replicas;
  }

  /** A replica that is just restarting is left out. */
  async look(): Promise<void> {
    for (const replica of this.#replicas) {
      const sample = replica.isAlive() ? await sampleProcess(replica).catch(() => undefined) : undefined;
      if (sample !== undefined) this.#samples.set(replica.name, [...this.#samples.get(replica.name) ?? [], sample]);
    }
  }

  render(): string {
    return this.#replicas.map(({ name }) => {
      const last = this.#samples.get(name)?.at(-1);
      return `${name} ${last?.rssMb.toFixed(0)} MB ${last?.descriptors} fds`;
    }).join("  ");
  }

  /** Over the second half of the last life of each: by then caches and compiled code have settled. */
  async courses(): Promise<readonly ReplicaCourse[]> {
    return await Promise.all(this.#replicas.map(async (replica) => {
      const life = (this.#samples.get(replica.name) ?? []).filter(({ pid }) => pid === replica.pid());
      const settled = life.slice(Math.floor(life.length / 2));
      return {
        name: replica.name,
        lifeMinutes: ((life.at(-1)?.atMs ?? 0) - (life[0]?.atMs ?? 0)) / 60_000,
        rssMb: courseOf(settled.map(({ rssMb }) => rssMb)),
        descriptors: courseOf(settled.map(({ descriptors }) => descriptors)),
        eventLoopP99Ms: await eventLoopP99Ms(replica),
      };
    }));
  }
}

async function carryOut(
  pair: Pair,
  step: Step,
  { namespace, startedMs }: { readonly namespace: string; readonly startedMs: number },
): Promise<void> {
  await pause(Math.max(0, startedMs + step.atMs - performance.now()));
  switch (step.kind) {
    case "registry fault":
      pair.proxy.setFaults([{ fault: step.fault, fraction: step.fraction }]);
      await pause(step.forMs);
      return pair.proxy.setFaults([]);
    case "certificate rotation":
      return await pair.replicas[step.replica].renewCertificate();
    case "config change":
      return await changeConfig(pair, { namespace, change: step.change });
    case "replica restart": {
      const replica = pair.replicas[step.replica];
      await replica.stop();
      await replica.restart();
      await waitUntil("the replica to gate", async () => await replica.metric("archway_gating") === 1);
    }
  }
}

async function changeConfig(
  { controlPlane }: Pair,
  { namespace, change }: {
    readonly namespace: string;
    readonly change: Extract<Disturbance, { kind: "config change" }>["change"];
  },
): Promise<void> {
  const local = `${GROUP}/namespaces/${namespace}/podplacementconfigs`;
  switch (change) {
    case "scoring on":
      return void await controlPlane.patch(CONFIG, { spec: { plugins: scoring(true, ["arm64", 50]) } });
    case "scoring off":
      return void await controlPlane.patch(CONFIG, { spec: { plugins: null } });
    case "namespace config on": {
      const body = localConfig("soak", { priority: 1, plugins: scoring(true, ["amd64", 50]) });
      return expectStatus("create", await controlPlane.request("POST", local, body), [201, 409]);
    }
    case "off":
      return expectStatus("delete", await controlPlane.request("DELETE", `${local}/soak`), [200, 404]);
  }
}
