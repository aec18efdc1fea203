// A pod's events over whole histories: failures with ever other words, refused writes, an events API that fails, leaders
// that restart. Never more than three, and those of a pod's bad end are always among them.
import type { InspectedImage } from "../../../../../lib/oci/inspection.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { BackgroundEventRecorder } from "../../../../../lib/k8s/event_recorder.ts";
import type { KubeObject } from "../../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../../lib/log.ts";
import type { PlacementDecision } from "../../../../../lib/placement/decide/decision_types.ts";
import { bareReleasePatch } from "../../../../../lib/placement/decide/patch/decision_patch.ts";
import { gateAddedEvent, podEventsOf, type PodOutcome } from "../../../../../lib/placement/decide/events/pod_events.ts";
import type { PodView } from "../../../../../lib/placement/decide/pod/pod_view.ts";
import { FakeClock } from "../../../../support/fake_clock.ts";
import { MemoryCluster, refusing } from "../../../../support/memory_kube_api.ts";
import { AMD64, applied, ARCH, ARM64, make, running, settle } from "../make.ts";

const PODS = [
  make.gatedPod(),
  make.gatedPod(running("single-amd64", "single-arm64")),
  make.gatedPod({ nodeSelector: { [ARCH]: AMD64 } }),
  make.gatedPod({ affinity: make.nodeAffinity(undefined, [make.preferredTerm(1, ARCH, AMD64)]) }),
];
const CONFIGS = [
  make.configs(),
  make.configs(make.clusterConfig({ fallback: AMD64 })),
  make.configs(make.clusterConfig({ fallback: AMD64, platforms: [make.platform(ARM64, 50)] })),
  make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 50)] })),
];

const answers = fc.constantFrom("platforms", "permanent", "transient");
const look = fc.record({
  answer: answers,
  words: fc.string({ maxLength: 12 }),
  write: fc.constantFrom("taken", "taken", "stale", "refused", "bare"),
  restarts: fc.boolean(),
  /** Calls of the events API that fail before the next one is answered. */
  faults: fc.nat({ max: 3 }),
});
type Look = typeof look extends fc.Arbitrary<infer T> ? T : never;
const histories = fc.record({
  raw: fc.constantFrom(...PODS),
  chosen: fc.constantFrom(...CONFIGS),
  looks: fc.array(look, { maxLength: 6 }),
  last: answers,
});

class Scene {
  readonly #clock = new FakeClock();
  readonly #cluster = new MemoryCluster();
  #faults = 0;
  #recorder = this.#open();

  #open(): BackgroundEventRecorder {
    const api = this.#cluster.client(refusing(0, () => this.#faults-- > 0));
    return new BackgroundEventRecorder({ api, clock: this.#clock, log: silentLogger, component: "c", instance: "i" });
  }

  async restart(): Promise<void> {
    await this.#recorder[Symbol.asyncDispose]();
    this.#recorder = this.#open();
  }

  async tell(pod: PodView, reports: ReturnType<typeof podEventsOf>, faults: number): Promise<void> {
    this.#faults = faults;
    const object = { apiVersion: "v1", kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid };
    for (const report of reports) this.#recorder.record({ object, ...report });
    await this.#clock.advance(30_000);
  }

  async end(): Promise<readonly KubeObject[]> {
    await this.#recorder[Symbol.asyncDispose]();
    return [...this.#cluster.objects.values()];
  }
}

function imagesOf(
  { containers }: PodView,
  { answer, words }: Pick<Look, "answer" | "words">,
): readonly InspectedImage[] {
  return containers.map(({ image }) =>
    answer === "platforms"
      ? make.image(image, { depth: "config" })
      : make.failedImage(image, { kind: answer, reason: "ServerError", message: words })
  );
}

function outcomeOf(decision: PlacementDecision, write: Look["write"]): PodOutcome {
  if (decision.kind === "retry" || write === "taken") return { kind: "applied", decision };
  return write === "bare" ? { kind: "reduced", step: "bare", decision, why: "422" } : { kind: "refused", why: "403" };
}

/** Reasons of the Warnings that an outcome must not be without. */
function vitalReasons(outcome: PodOutcome): readonly string[] {
  if (outcome.kind === "reduced") return ["ArchAwareSchedGateRemovalFailed"];
  if (outcome.kind === "refused") return [];
  switch (outcome.decision.kind) {
    case "fallback":
      return ["ArchAwareFallbackPredicateSet", "ArchAwareInspectionError"];
    case "release":
      return ["ArchAwareInspectionError"];
    case "nowhere":
      return ["NoSupportedArchitecturesFound"];
    default:
      return [];
  }
}

Deno.test("invariant 2: a pod has at most three events, and never loses the Warnings that say how it ended badly", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async ({ raw: start, chosen, looks, last }) => {
      const scene = new Scene();
      let raw = start;
      let failedAttempts = 0;
      let outcome: PodOutcome | undefined;
      await scene.tell(make.view(raw), [gateAddedEvent()], 0);
      const final: Look = { answer: last, words: "", write: "taken", restarts: false, faults: 3 };
      for (const one of [...looks, final]) {
        if (one.restarts) {
          await scene.restart();
          failedAttempts = 0;
          await scene.tell(make.view(raw), [gateAddedEvent()], one.faults);
        }
        const gateAgeMs = one === final ? 60_000 : 10;
        const images = imagesOf(make.view(raw), one);
        const { pod, decision, after } = settle(raw, { configs: chosen, images, failedAttempts, gateAgeMs });
        if (one.write === "stale") continue;
        outcome = outcomeOf(decision, one.write);
        await scene.tell(pod, podEventsOf(pod, outcome), one.faults);
        if (outcome.kind === "refused") continue;
        raw = outcome.kind === "reduced" ? applied(raw, bareReleasePatch(pod, "422")) : after;
        if (decision.kind !== "retry") break;
        failedAttempts++;
      }
      const events = await scene.end();
      const reasons = events.map(({ reason }) => String(reason));
      assert.ok(events.length <= 3, reasons.join());
      assert.ok(outcome !== undefined);
      for (const vital of vitalReasons(outcome)) assert.ok(reasons.includes(vital), `${vital} in ${reasons.join()}`);
      assert.ok(reasons.includes("ArchAwareSchedGateRemovalSuccess"), reasons.join());
    }),
    { numRuns: 100 },
  );
});
