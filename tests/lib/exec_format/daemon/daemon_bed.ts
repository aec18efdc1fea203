// A daemon on a fake kernel and an API server in memory.
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { Daemon } from "../../../../lib/exec_format/daemon/daemon.ts";
import { DAEMON_COUNTERS, type FailureOutcome } from "../../../../lib/exec_format/daemon/metrics.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { openMetrics } from "../../../../lib/metrics.ts";
import { ExecFormatMonitor } from "../../../../lib/names.ts";
import { whileRunning } from "../../../controllers/make.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster } from "../../../support/memory_kube_api.ts";
import { until } from "../../../support/until.ts";
import { FakeTrace } from "./fake_trace.ts";

export const NODE = "n1";
export const NAMESPACE = "archway-system";
export const UID = "7f325b8b-fa1b-4799-b9b5-1e963b99ce6e";

/** 64 digits that differ by their beginning. */
export function containerId(beginning: string): string {
  return beginning.padEnd(64, "0");
}

/** The cgroups of a container of a pod. */
export function pathTo(uid: string, id: string): readonly string[] {
  return ["kubepods", "besteffort", `pod${uid}`, id];
}

const BARE: Readonly<Record<string, string>> = {};

export function pod(
  name: string,
  { uid = UID, node = NODE, annotations = BARE, containerID = "" } = {},
): KubeObject {
  return {
    metadata: { namespace: "team", name, uid, annotations },
    spec: { nodeName: node },
    status: { containerStatuses: containerID === "" ? [] : [{ containerID }] },
  };
}

export class DaemonBed {
  readonly cluster = new MemoryCluster();
  readonly clock = new FakeClock();
  readonly calls: MemoryCall[] = [];
  /** Runs ahead of each call of the daemon; what it throws is the answer. */
  fault: (call: MemoryCall) => void = () => {};
  readonly #registry = new Registry();
  readonly #metrics = openMetrics(this.#registry, DAEMON_COUNTERS);
  #trace: FakeTrace | undefined;

  constructor(...pods: readonly KubeObject[]) {
    for (const one of pods) this.cluster.put(Resource.pods, one);
    const metadata = { namespace: NAMESPACE, name: ExecFormatMonitor.daemon, uid: "owner" };
    this.cluster.put(Resource.daemonSets, { metadata });
  }

  get trace(): FakeTrace {
    assert.ok(this.#trace !== undefined);
    return this.#trace;
  }

  async run(work: (bed: DaemonBed) => Promise<void>): Promise<void> {
    const daemon = new Daemon({
      api: this.cluster.client((call) => {
        this.calls.push(call);
        this.fault(call);
      }),
      clock: this.clock,
      log: silentLogger,
      metrics: this.#metrics,
      nodeName: NODE,
      namespace: NAMESPACE,
      start: (script) => this.#trace = new FakeTrace(script),
    });
    await whileRunning(this, daemon, async () => {
      await until("the trace to begin", () => this.#trace !== undefined);
      this.trace.attach();
      await until("the trace to be seen", () => daemon.isTracing());
      await work(this);
    });
  }

  async count(outcome: FailureOutcome): Promise<number> {
    const text = await this.#registry.metrics();
    return Number(new RegExp(`outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
  }

  async counted(outcome: FailureOutcome, count: number): Promise<void> {
    await until(`${count} ${outcome}`, async () => await this.count(outcome) >= count);
    assert.equal(await this.count(outcome), count);
  }

  events(): readonly KubeObject[] {
    return [...this.cluster.objects].filter(([path]) => path.includes("/enoexecevents/")).map(([, object]) => object);
  }

  bodies(verb: MemoryCall["verb"]): readonly unknown[] {
    return this.calls.filter((call) => call.verb === verb && call.plural === "enoexecevents").map(({ body }) => body);
  }
}
