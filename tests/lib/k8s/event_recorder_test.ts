import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import type { EventInput } from "../../../lib/k8s/event_input.ts";
import { BackgroundEventRecorder, type EventLoss } from "../../../lib/k8s/event_recorder.ts";
import { silentLogger } from "../../../lib/log.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";
import { noAnswer } from "../../support/until.ts";

interface Options {
  readonly capacity?: number;
  readonly before?: (call: MemoryCall) => Promise<void> | void;
}

const REPORTER = { log: silentLogger, component: "multiarch-tuning-operator", instance: "archway-0" };

const openScene = ({ before, ...given }: Options) => {
  const clock = new FakeClock();
  const cluster = new MemoryCluster();
  const lost: EventLoss[] = [];
  const calls: MemoryCall[] = [];
  const api = cluster.client(async (call) => {
    calls.push(call);
    await before?.(call);
  });
  const onLost = (loss: EventLoss): void => void lost.push(loss);
  const recorder = new BackgroundEventRecorder({ ...REPORTER, api, clock, onLost, ...given });
  /** Records it, and lets it be sent. */
  const send = (event: EventInput): Promise<void> => {
    recorder.record(event);
    return clock.advance(0);
  };
  return { recorder, clock, lost, calls, cluster, send, events: () => [...cluster.objects.values()] };
};

async function withRecorder(
  options: Options,
  play: (scene: ReturnType<typeof openScene>) => Promise<void>,
): Promise<void> {
  const scene = openScene(options);
  await using _ = scene.recorder;
  await play(scene);
}

function makeEvent(more: Partial<Omit<EventInput, "object">> & { readonly pod?: string } = {}): EventInput {
  const { pod = "web", ...rest } = more;
  const object = { apiVersion: "v1", kind: "Pod", namespace: "shop", name: pod, uid: `uid-of-${pod}` };
  return { object, type: "Normal", reason: "ArchAwarePredicateSet", message: "set", ...rest };
}

Deno.test("record() writes a core/v1 event with source, reporter, counts and times", () =>
  withRecorder({}, async ({ send, events, lost }) => {
    await send(makeEvent());
    const [event] = events();
    assert.match(event?.metadata.name ?? "", /^web\.[0-9a-f]{14,}$/);
    const { metadata, ...rest } = event ?? { metadata: { name: "" } };
    assert.equal(metadata.namespace, "shop");
    assert.deepEqual(rest, {
      apiVersion: "v1",
      kind: "Event",
      involvedObject: makeEvent().object,
      type: "Normal",
      reason: "ArchAwarePredicateSet",
      message: "set",
      source: { component: "multiarch-tuning-operator" },
      reportingComponent: "multiarch-tuning-operator",
      reportingInstance: "archway-0",
      count: 1,
      firstTimestamp: "2026-11-21T12:00:00Z",
      lastTimestamp: "2026-11-21T12:00:00Z",
    });
    assert.deepEqual(lost, []);
  }));

Deno.test("record() counts the same event up instead of writing another, also while the first is on its way", () =>
  withRecorder({}, async ({ recorder, clock, send, events, calls }) => {
    for (let n = 0; n < 3; n++) recorder.record(makeEvent());
    await clock.advance(60_000);
    await send(makeEvent());
    assert.equal(events().length, 1);
    const { count, firstTimestamp, lastTimestamp } = Object(events()[0]);
    assert.deepEqual([count, firstTimestamp, lastTimestamp], [4, "2026-11-21T12:00:00Z", "2026-11-21T12:01:00Z"]);
    assert.deepEqual(calls.map(({ verb }) => verb), ["create", "patch"]);
    await send(makeEvent({ message: "another" }));
    assert.equal(events().length, 2);
  }));

Deno.test("record() writes a new event when the earlier one is gone or long ago", () =>
  withRecorder({}, async ({ send, clock, events, cluster }) => {
    await send(makeEvent());
    cluster.objects.clear();
    await send(makeEvent());
    assert.equal(events().length, 1);
    await clock.advance(11 * 60_000);
    await send(makeEvent());
    assert.equal(events().length, 2);
  }));

Deno.test("record() cuts a message to 1024 bytes between characters", () =>
  withRecorder({}, async ({ send, events }) => {
    await send(makeEvent({ message: "é".repeat(2_000) }));
    const message = String(events()[0]?.["message"]);
    assert.ok(new TextEncoder().encode(message).byteLength <= 1_024);
    assert.match(message, /^é+…$/);
  }));

Deno.test("record() puts events about cluster-scoped objects into the default namespace", () =>
  withRecorder({}, async ({ send, events }) => {
    const apiVersion = "multiarch.openshift.io/v1beta1";
    await send({ ...makeEvent(), object: { apiVersion, kind: "ClusterPodPlacementConfig", name: "cluster" } });
    assert.equal(events()[0]?.metadata.namespace, "default");
  }));

Deno.test("record() makes valid names for objects with the longest names", () =>
  withRecorder({}, async ({ send, events }) => {
    await send(makeEvent({ pod: `${"a".repeat(229)}.${"b".repeat(23)}` }));
    const name = events()[0]?.metadata.name ?? "";
    assert.ok(name.length <= 253);
    assert.match(name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }));

Deno.test("record() drops the oldest Normal first when the queue is full, keeps Warnings, and counts what it drops", async () => {
  const gate = Promise.withResolvers<void>();
  await withRecorder({ capacity: 10, before: () => gate.promise }, async ({ recorder, clock, events, lost }) => {
    // Six are taken by the workers at once and hang in the gate.
    for (let n = 0; n < 6; n++) recorder.record(makeEvent({ pod: `busy-${n}` }));
    await clock.advance(0);
    for (let n = 0; n < 8; n++) recorder.record(makeEvent({ pod: `warned-${n}`, type: "Warning" }));
    for (let n = 0; n < 100; n++) recorder.record(makeEvent({ pod: `normal-${n}` }));
    gate.resolve();
    await recorder.flush(new AbortController().signal);
    const pods = events().map((event) => String(Object(event["involvedObject"]).name));
    assert.equal(pods.filter((pod) => pod.startsWith("warned")).length, 8);
    assert.deepEqual(pods.filter((pod) => pod.startsWith("normal")), ["normal-98", "normal-99"]);
    assert.equal(lost.filter((loss) => loss === "dropped").length, 98);
  });
});

Deno.test("record() sends a few at a time only", async () => {
  let atOnce = 0;
  let most = 0;
  const before = async (): Promise<void> => {
    most = Math.max(most, ++atOnce);
    await Promise.resolve();
    await Promise.resolve();
    atOnce--;
  };
  await withRecorder({ before }, async ({ recorder, events }) => {
    for (let n = 0; n < 200; n++) recorder.record(makeEvent({ pod: `p${n}` }));
    await recorder.flush(new AbortController().signal);
    assert.equal(events().length, 200);
    assert.ok(most <= 6);
  });
});

Deno.test("record() tries an event again after a fault of the server, and gives up quietly on a refusal", async () => {
  const faults = [new ApiError("away", { status: 0 }), new ApiError("slow", { status: 429 })];
  const before = (): void => {
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
  };
  await withRecorder({ before }, async ({ recorder, clock, events, lost }) => {
    recorder.record(makeEvent());
    await clock.advance(5_000);
    assert.equal(events().length, 1);
    faults.push(new ApiError("terminating", { status: 403 }));
    recorder.record(makeEvent({ pod: "late" }));
    faults.push(new ApiError("no namespace", { status: 404 }));
    recorder.record(makeEvent({ pod: "later" }));
    await clock.advance(60_000);
    assert.deepEqual(lost, ["dropped", "dropped"]);
  });
});

Deno.test("record() takes AlreadyExists for success: an earlier try had arrived", async () => {
  const fault = new ApiError("exists", { status: 409, reason: "AlreadyExists" });
  const before = (): void => {
    throw fault;
  };
  await withRecorder({ before }, async ({ send, lost }) => {
    await send(makeEvent());
    assert.deepEqual(lost, []);
  });
});

Deno.test("flush() ends when its signal aborts, and the disposal ends what is under way", async () => {
  await withRecorder({ before: ({ signal }) => noAnswer(signal) }, async ({ recorder, send, lost }) => {
    await send(makeEvent());
    const stop = new AbortController();
    const flushing = recorder.flush(stop.signal);
    stop.abort();
    await flushing;
    await recorder[Symbol.asyncDispose]();
    recorder.record(makeEvent({ pod: "too-late" }));
    assert.deepEqual(lost, ["dropped", "dropped"]);
  });
});

Deno.test("record() keeps one event a slot: repetitions count up whatever they say, another reason takes its place", () =>
  withRecorder({}, async ({ recorder, send, clock, events }) => {
    const failing = { type: "Warning", reason: "ArchAwareInspectionError", slot: 2 } as const;
    for (const message of ["answered 500", "no route", "no route"]) {
      recorder.record(makeEvent({ ...failing, message }));
      await clock.advance(20 * 60_000);
    }
    const [failed] = events();
    assert.equal(failed?.metadata.name, "web.uid-of-web.2");
    assert.deepEqual([failed?.["count"], failed?.["message"]], [3, "no route"]);
    await send(makeEvent({ slot: 2 }));
    const [set, ...others] = events();
    const { reason, type, count, firstTimestamp } = Object(set);
    assert.deepEqual([reason, type, count], ["ArchAwarePredicateSet", "Normal", 1]);
    assert.deepEqual([firstTimestamp, others], ["2026-11-21T13:00:00Z", []]);
  }));

Deno.test("record() takes over a slot that another process filled", () =>
  withRecorder({}, async ({ send, clock, cluster, events }) => {
    await send(makeEvent({ slot: 1, message: "the first" }));
    await using next = new BackgroundEventRecorder({ ...REPORTER, api: cluster.api, clock, instance: "archway-1" });
    next.record(makeEvent({ slot: 1, message: "the second" }));
    await clock.advance(0);
    assert.deepEqual(events().map((event) => event["message"]), ["the second"]);
  }));

Deno.test("record() replaces what waits in the slot, so that only the latest is sent", () =>
  withRecorder({}, async ({ recorder, clock, events, calls }) => {
    recorder.record(makeEvent({ slot: 1, reason: "ArchAwareSchedGateAdded" }));
    recorder.record(makeEvent({ slot: 1, type: "Warning", message: "removed" }));
    await clock.advance(0);
    assert.deepEqual(events().map(({ message }) => message), ["removed"]);
    assert.equal(calls.length, 1);
  }));

Deno.test("record() leaves out what tells of short-lived states while many events wait", async () => {
  await withRecorder({}, async ({ recorder, clock, events, lost }) => {
    recorder.record({ ...makeEvent({ pod: "early" }), isShortLived: true });
    for (let n = 0; n < 200; n++) recorder.record(makeEvent({ pod: `news-${n}` }));
    recorder.record({ ...makeEvent({ pod: "late" }), isShortLived: true });
    await clock.advance(0);
    assert.deepEqual(lost, ["left-out"]);
    const flushed = recorder.flush(new AbortController().signal);
    await clock.advance(1_000);
    await flushed;
    assert.deepEqual([events().length, lost.length], [201, 1]);
  });
});
