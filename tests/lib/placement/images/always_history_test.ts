// Histories of pushes, pods and restarts on a fake clock: no pod of policy Always is placed by what the registry said before
// the pod was there, no other one by what it said longer ago than a tag is believed, whichever cache or replica answers.
import assert from "node:assert/strict";
import fc from "fast-check";
import { FakeClock } from "../../../support/fake_clock.ts";
import { FakeRegistry } from "../../../support/fake_registry.ts";
import { type ImageBed, makeUse, openImageBed, TAG_TTL_MS, TEAM } from "../../../support/image_bed.ts";
import { openMemoryStore } from "../../../support/memory_store.ts";

const IMAGE = "registry.example/team/app:latest";

type Step =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "push" | "restart" }
  | { readonly kind: "pod"; readonly always: boolean; readonly replica: 0 | 1; readonly seenAfterMs: number }
  | { readonly kind: "prefetch"; readonly replica: 0 | 1; readonly mayRenew: boolean };

const replica = fc.constantFrom<0 | 1>(0, 0, 1);
const wait = (ms: fc.Arbitrary<number>): fc.Arbitrary<Step> => fc.record({ kind: fc.constant("wait" as const), ms });
/** Mostly what meets within one look-up, now and then what meets within the life of a tag. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: wait(fc.integer({ min: 0, max: 300 })) },
  { weight: 1, arbitrary: wait(fc.constantFrom(TAG_TTL_MS / 2 + 1, TAG_TTL_MS - 100)) },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "push" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "restart" }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("pod" as const),
      always: fc.constantFrom(true, true, false),
      replica,
      seenAfterMs: fc.constantFrom(0, 0, 20, 300),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("prefetch" as const), replica, mayRenew: fc.boolean() }),
  },
);

/** Digests with the times at which they were what the tag pointed to. */
class Pushes {
  readonly #pushed: { readonly digest: string; readonly atMs: number }[] = [];

  add(digest: string, atMs: number): void {
    this.#pushed.push({ digest, atMs });
  }

  /** Whether the tag pointed there at any time from `fromMs` on. */
  wasCurrentSince(digest: string, fromMs: number): boolean {
    const at = this.#pushed.findIndex((one) => one.digest === digest);
    const replacedAtMs = this.#pushed[at + 1]?.atMs ?? Infinity;
    return at >= 0 && replacedAtMs >= fromMs;
  }
}

async function play(steps: readonly Step[], delayMs: number): Promise<void> {
  const clock = new FakeClock();
  const registry = new FakeRegistry(clock);
  const kv = openMemoryStore();
  registry.delayMs = delayMs;
  const pushes = new Pushes();
  const push = (): void => pushes.add(registry.push(IMAGE), clock.nowMs());
  const open = (): ImageBed => openImageBed({ clock, registry, kv });
  const replicas: [ImageBed, ImageBed] = [open(), open()];
  const pods: Promise<void>[] = [];
  push();

  const decide = async ({ always, replica, seenAfterMs }: Extract<Step, { kind: "pod" }>): Promise<void> => {
    const createdMs = clock.nowMs();
    const bed = replicas[replica];
    const use = makeUse(IMAGE, always);
    const warm = bed.known.recall([use], TEAM);
    if (warm === undefined) await clock.sleep(seenAfterMs, new AbortController().signal);
    const lookupSinceMs = clock.monotonicMs();
    const { inspection } = warm?.images[0] ?? await bed.inspect(use, { lookupSinceMs });
    assert.ok(inspection.kind !== "failed");
    const sinceMs = always ? createdMs : clock.nowMs() - TAG_TTL_MS - delayMs;
    assert.ok(
      pushes.wasCurrentSince(inspection.digest, sinceMs),
      `${always ? "Always" : "IfNotPresent"} placed by ${inspection.digest.slice(-3)}, replaced before ${sinceMs}`,
    );
  };

  for (const one of steps) {
    if (one.kind === "wait") await clock.advance(one.ms);
    else if (one.kind === "push") push();
    else if (one.kind === "restart") replicas[0] = open();
    else if (one.kind === "pod") pods.push(decide(one));
    else if (one.kind === "prefetch") {
      const { images } = replicas[one.replica];
      images.prefetch({ identity: TEAM, images: [makeUse(IMAGE)], priority: "admission", mayRenew: one.mayRenew });
    }
  }
  const all = Promise.all(pods);
  all.catch(() => {});
  await clock.advance(20_000);
  await all;
}

Deno.test("PodImageInspector.inspect() answers no pod of policy Always by a look-up that began before it, in any history", async () => {
  const history = fc.tuple(fc.array(step, { minLength: 3, maxLength: 30 }), fc.constantFrom(50, 700, 2_000));
  await fc.assert(fc.asyncProperty(history, ([steps, delayMs]) => play(steps, delayMs)), { numRuns: 100 });
});
