// The daemon: from the kernel's messages to ENoExecEvents.
//
//   bpftrace ─▶ container and pod UID by cgroup name ─▶ pod by UID ─▶ once a container and minute ─▶ ENoExecEvent
//                                                        └ not known yet: waits
import type { Clock } from "../../clock.ts";
import type { KubeApi } from "../../k8s/api.ts";
import type { Logger } from "../../log.ts";
import { assertNever } from "../../parsed.ts";
import { Trace, type TraceDeps } from "./bpftrace.ts";
import { type CgroupContainer, containersOn } from "./cgroup_names.ts";
import { EnoexecEventWriter } from "./enoexec_event_writer.ts";
import type { DaemonMetrics, FailureOutcome } from "./metrics.ts";
import { type NodePod, NodePods } from "./node_pods.ts";
import { REPORT_LIMITS, ReportFilter } from "./report_filter.ts";
import type { TracedFailure, TraceMessage } from "./trace_output.ts";

export interface DaemonDeps extends Pick<TraceDeps, "start"> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: DaemonMetrics;
  readonly nodeName: string;
  readonly namespace: string;
}

/** Assumed until the status of a pod on the node names its runtime. */
const DEFAULT_RUNTIME = "containerd";
/** Time (ms) between two look-ups for failures whose pod is not known. */
const LOOK_UP_MS = 1_000;

interface Sighting extends Pick<TracedFailure, "command" | "isEntryPoint"> {
  readonly container: CgroupContainer;
  /** IDs of the containers that the parent is in. */
  readonly parents: readonly string[];
  readonly atMs: number;
}

export class Daemon {
  readonly #deps: DaemonDeps;
  readonly #writer: EnoexecEventWriter;
  readonly #pods: NodePods;
  readonly #trace: Trace;
  readonly #unattributed = new UnattributedFailures<Sighting>();
  readonly #filter = new ReportFilter(REPORT_LIMITS);

  constructor(deps: DaemonDeps) {
    const { metrics, nodeName } = deps;
    this.#deps = deps;
    this.#writer = new EnoexecEventWriter({ ...deps, observe: (outcome) => this.#count(outcome) });
    this.#pods = new NodePods(deps, nodeName, () => this.#attribute());
    this.#trace = new Trace({
      ...deps,
      onMessage: (message) => this.#handle(message),
      onFailure: () => metrics.archway_exec_trace_failures_total.inc(),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const parts = [this.#trace, this.#pods, this.#writer].map((part) => part.run(signal));
    await Promise.all([...parts, this.#attributeOften(signal)]);
  }

  isTracing(): boolean {
    return this.#trace.isTracing;
  }

  hasSynced(): boolean {
    return this.#pods.hasSynced();
  }

  pending(): number {
    return this.#writer.pending + this.#unattributed.size;
  }

  #count(outcome: FailureOutcome, by = 1): void {
    this.#deps.metrics.archway_exec_failures_total.inc({ outcome }, by);
  }

  #handle(message: TraceMessage): void {
    switch (message.kind) {
      case "failure":
        return this.#take(message.failure);
      case "cut off":
        return this.#count("cut-off");
      case "lost":
        return this.#deps.metrics.archway_exec_trace_messages_lost_total.inc(message.messages);
      case "alive":
        this.#count("repeated", message.repeats);
        return this.#count("text", message.texts);
      default:
        return assertNever(message);
    }
  }

  #take({ command, isEntryPoint, parentPath, paths }: TracedFailure): void {
    const { clock } = this.#deps;
    // The outermost container, even if its pod is not known: a container chooses the names of folders below its own.
    const [container] = paths.flatMap(containersOn);
    if (container === undefined) return this.#count("outside-pods");
    const parents = containersOn(parentPath).map(({ id }) => id);
    const sighting: Sighting = { command, isEntryPoint, parents, container, atMs: clock.nowMs() };
    const pod = this.#pods.find(container.podUid);
    if (pod !== undefined) return this.#report(sighting, pod);
    if (this.#unattributed.add(sighting, clock.monotonicMs()) !== undefined) this.#count("overflow");
  }

  #report({ command, atMs, parents, container, ...traced }: Sighting, pod: NodePod): void {
    const { id, runtime, isInnermost } = container;
    const containerId = `${runtime ?? this.#pods.runtime ?? DEFAULT_RUNTIME}://${id}`;
    const isEntryPoint = traced.isEntryPoint && isInnermost && !parents.includes(id);
    const { clock, nodeName } = this.#deps;
    const filtered = this.#filter.judge(containerId, clock.monotonicMs());
    if (filtered !== "report") return this.#count(filtered);
    const { namespace: podNamespace, name: podName, uid: podUid } = pod;
    this.#writer.add({ nodeName, podNamespace, podName, podUid, containerId, command, isEntryPoint, atMs });
  }

  #attribute(): void {
    if (this.#unattributed.size === 0) return;
    const when = { nowMs: this.#deps.clock.monotonicMs(), canExpire: this.#pods.hasSynced() };
    for (const { item, pod } of this.#unattributed.take(({ container }) => this.#pods.find(container.podUid), when)) {
      if (pod !== undefined) this.#report(item, pod);
      else this.#count("unknown-pod");
    }
  }

  async #attributeOften(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#deps.clock.sleep(LOOK_UP_MS, signal);
      this.#attribute();
    }
  }
}

const MAX_WAITING = 256;
/** Longest wait (ms) for a pod once the pods were listed: a dead watch is noticed and opened again sooner. */
const MAX_WAIT_MS = 120_000;

/** Failures whose pod is not known yet. When too many wait, `add` drops the oldest and returns it. */
export class UnattributedFailures<T> {
  #waiting: { readonly item: T; readonly sinceMs: number }[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  add(item: T, nowMs: number): T | undefined {
    this.#waiting.push({ item, sinceMs: nowMs });
    return this.#waiting.length > MAX_WAITING ? this.#waiting.shift()?.item : undefined;
  }

  /** Removes and returns failures whose pod `find` knows and, if `canExpire`, those that have waited too long. */
  take<P>(
    find: (item: T) => P | undefined,
    { nowMs, canExpire }: { readonly nowMs: number; readonly canExpire: boolean },
  ): readonly { readonly item: T; readonly pod: P | undefined }[] {
    const taken: { readonly item: T; readonly pod: P | undefined }[] = [];
    this.#waiting = this.#waiting.filter(({ item, sinceMs }) => {
      const pod = find(item);
      const isOver = pod !== undefined || canExpire && nowMs - sinceMs >= MAX_WAIT_MS;
      if (isOver) taken.push({ item, pod });
      return !isOver;
    });
    return taken;
  }
}
