// Invariants 1 and 5 on generated histories of one pod: registries that come and go, two replicas that decide
// on what they last saw, restarts that forget every attempt, a foreign gate that goes at any time.
import assert from "node:assert/strict";
import fc from "fast-check";
import { SCHEDULING_GATE } from "../../../../lib/names.ts";
import { applied, ARCH, endOf, type Json, make, NOWHERE, running, settle } from "./make.ts";

const SETTINGS = make.settings({ operatorNamespace: "archway" });
const FOREIGN = "example.com/quota";

/** What may happen next. A replica decides on the pod as it last saw it. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("decide" as const), replica: fc.nat({ max: 1 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("see" as const), replica: fc.nat({ max: 1 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat({ max: 20_000 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("registry" as const), answers: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), replica: fc.nat({ max: 1 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "lift" as const }) },
);

const start = fc.record({
  images: fc.array(fc.constantFrom("multi", "single-arm64", "single-amd64", "missing"), { minLength: 1, maxLength: 3 }),
  terms: fc.array(fc.constantFrom(make.term(["zone", "a"]), make.term([ARCH, "arm64"]), {}), { maxLength: 3 }),
  fallback: fc.constantFrom(undefined, "s390x"),
  scored: fc.boolean(),
  held: fc.boolean(),
});

type Start = typeof start extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Replica {
  seen: Json;
  failedAttempts: number;
}

/** As it comes over the wire: equal parts are no longer the same object. */
function unshared(raw: Json): Json {
  return JSON.parse(JSON.stringify(raw));
}

class History {
  pod: Json;
  ageMs = 0;
  answers = true;
  writes = 0;
  readonly replicas: readonly Replica[];
  readonly #configs;

  constructor({ images, terms, fallback, scored, held }: Start) {
    const affinity = terms.length === 0 ? {} : { affinity: make.nodeAffinity(terms) };
    const gates = { schedulingGates: [...held ? [{ name: FOREIGN }] : [], { name: SCHEDULING_GATE }] };
    this.pod = unshared(make.gatedPod({ ...running(...images), ...gates, ...affinity }));
    const platforms = scored ? { platforms: [make.platform("arm64", 7)] } : {};
    this.#configs = make.configs(make.clusterConfig({ ...platforms, ...(fallback === undefined ? {} : { fallback }) }));
    this.replicas = [0, 1].map(() => ({ seen: this.pod, failedAttempts: 0 }));
  }

  get isGated(): boolean {
    return endOf(this.pod).gates.includes(SCHEDULING_GATE);
  }

  /** Decides as a replica does; a patch that no longer fits leaves the pod as it is, as the API server would. */
  decide(replica: Replica): void {
    const failure = { kind: "transient", reason: "ServerError" } as const;
    const names = make.view(replica.seen).containers.map(({ image }) => image);
    const { decision, patch } = settle(replica.seen, {
      configs: this.#configs,
      settings: SETTINGS,
      gateAgeMs: this.ageMs,
      failedAttempts: replica.failedAttempts,
      images: names.map((image) => this.answers ? make.image(image) : make.failedImage(image, failure)),
    });
    if (decision.kind === "retry") replica.failedAttempts++;
    try {
      const next = applied(unshared(this.pod), patch);
      if (JSON.stringify(next) !== JSON.stringify(this.pod)) this.writes++;
      this.pod = next;
    } catch {
      // Stale: the replica will see the pod as it is now.
    }
  }

  lift(): void {
    const spec = this.pod["spec"] as Json;
    const gates = (spec["schedulingGates"] ?? []) as readonly Json[];
    this.pod = { ...this.pod, spec: { ...spec, schedulingGates: gates.filter((gate) => gate["name"] !== FOREIGN) } };
  }
}

function run(history: History, steps: readonly Step[]): void {
  for (const each of steps) {
    if (each.kind === "wait") history.ageMs += each.ms;
    else if (each.kind === "registry") history.answers = each.answers;
    else if (each.kind === "lift") history.lift();
    else {
      const replica = history.replicas[each.replica] ?? assert.fail();
      if (each.kind === "decide") history.decide(replica);
      else replica.seen = history.pod;
      if (each.kind === "restart") replica.failedAttempts = 0;
    }
    assertSound(history);
  }
}

/** What holds at every moment: nothing is written twice, and the count is one that the MTO accepts. */
function assertSound({ pod }: History): void {
  const { required, preferred, marks } = endOf(pod);
  for (const each of (required ?? []) as readonly Json[]) {
    const keys = ((each["matchExpressions"] ?? []) as readonly Json[]).map((expression) => expression["key"]);
    assert.ok(keys.filter((key) => key === ARCH).length <= 1, "one architecture requirement a term");
    assert.ok(keys.filter((key) => key === NOWHERE).length <= 1);
  }
  assert.ok(((preferred ?? []) as readonly Json[]).length <= 1, "the one preference, once");
  assert.match(String(marks["image-inspect-error-count"] ?? "1"), /^[1-5]$/);
}

Deno.test("invariant 5: two replicas with old views and restarts write nothing twice, and nothing after the release", () => {
  fc.assert(
    fc.property(start, fc.array(step, { maxLength: 40 }), fc.array(step, { maxLength: 20 }), (begin, before, after) => {
      const history = new History(begin);
      run(history, before);
      if (history.isGated) return;
      const { pod } = history;
      run(history, after.filter(({ kind }) => kind !== "lift"));
      assert.deepEqual(history.pod, pod);
    }),
    { numRuns: 500 },
  );
});

Deno.test("invariant 1: past the deadline the first replica alive that sees the pod releases it, whatever came before", () => {
  fc.assert(
    fc.property(start, fc.array(step, { maxLength: 40 }), fc.nat({ max: 1 }), (begin, steps, alive) => {
      const history = new History(begin);
      run(history, steps);
      history.ageMs = Math.max(history.ageMs, SETTINGS.maxGateAgeMs);
      const replica = history.replicas[alive] ?? assert.fail();
      replica.seen = history.pod;
      history.decide(replica);
      assert.equal(history.isGated, false);
    }),
    { numRuns: 500 },
  );
});
