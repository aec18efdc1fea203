// The API server accepts the same pods with Archway as without it: generated pods, each created (dry run) in a namespace that
// the webhook covers and in one that it does not. One exception: labels of Archway's own that no API server would accept are
// overwritten, so the pod counts as the one without them.
import assert from "node:assert/strict";
import fc from "fast-check";
import { isObject, objectAt, textMapAt } from "../../lib/json.ts";
import { type ClusterAccess, read } from "./support/cluster_access.ts";
import { isScheduled, renderPod, waitForPods } from "./support/pods.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";

const PODS = 400;
const SEED = 20261121;
const MAX_ANNOTATIONS_BYTES = 256 * 1024;
const MARK = "multiarch.openshift.io";
const ARCH = "kubernetes.io/arch";

const valid = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const odd = fc.constantFrom("", "-x", "a b", "<b>", "a&b", "x".repeat(63), "x".repeat(64), "ümlaut", "\u2028", "A_b.c");
/** The first so many times as often as the second. */
function mostly<T, R>(weight: number, usual: fc.Arbitrary<T>, rare: fc.Arbitrary<R>): fc.Arbitrary<T | R> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });
}
/** Mostly what the API server accepts: a pod has many parts, and one that is refused hides all others. */
const text = mostly(80, valid, odd);
/** One of the first list, or now and then one of the second. */
function rarelyOdd<T>(usual: readonly T[], strange: readonly T[]): fc.Arbitrary<T> {
  return mostly(80, fc.constantFrom(...usual), fc.constantFrom(...strange));
}
/** Mostly not the architecture: a pod that names it already is the user's own to place. */
const plainOrArch = mostly(8, fc.constantFrom("zone", "a/b"), fc.constant(ARCH));
const architecture = fc.constantFrom("amd64", "arm64", "s390x", "riscv64", "nonsense");

const expression = fc.oneof(
  fc.record({
    key: plainOrArch,
    operator: fc.constant("In"),
    values: fc.array(architecture, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    key: text,
    operator: fc.constantFrom("In", "NotIn"),
    values: fc.array(text, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key: plainOrArch, operator: fc.constantFrom("Exists", "DoesNotExist") }),
  fc.record({
    key: fc.constant("cores"),
    operator: fc.constantFrom("Gt", "Lt"),
    values: rarelyOdd([["4"], ["5"]], [["4", "5"], ["x"], []]),
  }),
);
const field = fc.record({
  key: fc.constant("metadata.name"),
  operator: fc.constant("In"),
  values: rarelyOdd([["n1"]], [["n1", "n2"]]),
});
const term = fc.record({
  matchExpressions: fc.array(expression, { maxLength: 3 }),
  matchFields: fc.array(field, { maxLength: 1 }),
}, { requiredKeys: [] });
const preferred = fc.record({
  weight: mostly(80, fc.integer({ min: 1, max: 100 }), fc.constantFrom(0, 101, -1)),
  preference: term,
});
const nodeAffinity = fc.record({
  requiredDuringSchedulingIgnoredDuringExecution: mostly(
    40,
    fc.record({ nodeSelectorTerms: fc.array(term, { minLength: 1, maxLength: 3 }) }),
    fc.constantFrom({ nodeSelectorTerms: [] }, {}, null),
  ),
  preferredDuringSchedulingIgnoredDuringExecution: fc.array(preferred, { maxLength: 4 }),
}, { requiredKeys: [] });

const gate = rarelyOdd([`${MARK}/scheduling-gate`, "example.com/a", "example.com/b"], ["bad name"]);
const toleration = fc.record({
  key: fc.constantFrom(ARCH, "x"),
  operator: fc.constant("Equal"),
  value: fc.constantFrom("", "arm64"),
  effect: rarelyOdd(["NoSchedule", ""], ["Odd"]),
}, { requiredKeys: ["key", "operator"] });

function containersOf(images: readonly string[]): fc.Arbitrary<readonly unknown[]> {
  const wrong = fc.constantFrom("registry.invalid/x:1", "<registry>/app:v1", " padded", "");
  const image = mostly(2_000, fc.constantFrom(...images), wrong);
  const container = fc.record({ image, imagePullPolicy: fc.constantFrom("IfNotPresent", "Never") });
  return fc.tuple(fc.array(container, { minLength: 1, maxLength: 20 }), fc.integer({ min: 0, max: 50 })).map((
    [list, twin],
  ) => list.map((one, at) => ({ name: twin === 1 ? "twin" : `c${at}`, ...one })));
}

const annotations = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  // Around what the record of a decision takes (2 KiB).
  {
    weight: 2,
    arbitrary: fc.integer({ min: -100, max: 3_000 }).map((free) => ({
      x: "y".repeat(MAX_ANNOTATIONS_BYTES - 1 - free),
    })),
  },
  { weight: 1, arbitrary: fc.constant({ "archway.dev/decision": '{"v":1,"d":"place","a":["amd64"],"i":[]}' }) },
  { weight: 1, arbitrary: fc.dictionary(text, text, { maxKeys: 3 }) },
);
const labels = fc.oneof(
  fc.dictionary(text, text, { maxKeys: 3 }),
  fc.dictionary(fc.constantFrom(`${MARK}/scheduling-gate`, `${MARK}/node-affinity`, `${MARK}/fallback-arch`), text),
);

function podsOf(images: readonly string[]): fc.Arbitrary<unknown> {
  const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    mostly(4, fc.constant(undefined), arbitrary);
  return fc.record({
    name: mostly(20, valid, fc.constantFrom("x".repeat(253), "x".repeat(254), "A")),
    labels,
    annotations,
    spec: fc.record({
      containers: containersOf(images),
      affinity: fc.option(fc.record({ nodeAffinity }, { requiredKeys: [] }), { nil: undefined }),
      nodeSelector: rarely(fc.dictionary(fc.constantFrom(ARCH, "disk", "size", "zone"), text, { maxKeys: 2 })),
      schedulingGates: rarely(fc.uniqueArray(gate, { maxLength: 3 }).map((names) => names.map((name) => ({ name })))),
      tolerations: rarely(fc.array(toleration, { maxLength: 3 })),
      nodeName: mostly(30, fc.constant(undefined), fc.constant("n1")),
      os: rarely(rarelyOdd([{ name: "windows" }, { name: "linux" }], [{ name: "plan9" }])),
    }),
  }).map(({ name, labels, annotations, spec }) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, annotations },
    spec,
  }));
}

function withoutOwnLabels(pod: unknown): unknown {
  const metadata = objectAt(pod, "metadata");
  const labels = Object.entries(textMapAt(metadata, "labels") ?? {});
  const others = labels.filter(([key]) => !key.startsWith(`${MARK}/`));
  if (!isObject(pod) || others.length === labels.length) return undefined;
  return { ...pod, metadata: { ...metadata, labels: Object.fromEntries(others) } };
}

interface Answer {
  readonly isAccepted: boolean;
  readonly isPlaced: boolean;
  readonly said: string;
}

async function dryRun(cluster: ClusterAccess, namespace: string, pod: unknown): Promise<Answer> {
  const { status, body } = await cluster.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
  const annotated = read(body, "metadata", "annotations", "archway.dev/decision") !== undefined;
  const labelled = read(body, "metadata", "labels", `${MARK}/scheduling-gate`) === "removed";
  return {
    isAccepted: status === 201,
    isPlaced: status === 201 && (annotated || labelled),
    said: `${status} ${String(read(body, "message") ?? "").slice(0, 300)}`,
  };
}

Deno.test("the API server accepts a pod with Archway if and only if it accepts it without", async () => {
  const exclude = { key: "covered", operator: "NotIn", values: ["no"] };
  const platforms = [{ architecture: "arm64", weight: 50 }, { architecture: "s390x", weight: 5 }];
  const plugins = { nodeAffinityScoring: { enabled: true, platforms } };
  await using bed = await openWorkingBed({
    spec: { namespaceSelector: { matchExpressions: [exclude] }, plugins, fallbackArchitecture: "amd64" },
    // Preferences, tolerations and labels all take part in the patch.
    replica: { args: ["--arch-taints=tolerate"] },
  });
  const { controlPlane } = bed;
  const covered = await controlPlane.createNamespace("covered");
  const bare = await controlPlane.createNamespace("bare");
  await controlPlane.patch(`/api/v1/namespaces/${bare}`, { metadata: { labels: { covered: "no" } } });
  const images = [await bed.push("demo/two", index("amd64", "arm64")), await bed.push("demo/one", index("arm64"))];
  // The last one has the configs read that decide for pods of both images.
  const known = [...images.map((image) => [image]), images];
  for (const [at, images] of known.entries()) {
    const pod = renderPod({ name: `known-${at}`, images });
    await controlPlane.create(`/api/v1/namespaces/${covered}/pods`, pod);
  }
  await waitForPods(controlPlane, covered, { count: known.length, until: isScheduled });

  const pods = fc.sample(podsOf(images), { numRuns: PODS, seed: SEED });
  const counts = { accepted: 0, placed: 0, refused: 0, repaired: 0 };
  const wrong: string[] = [];
  const waiting = pods.values();
  const worker = async (): Promise<void> => {
    for (const pod of waiting) {
      const [without, withArchway] = await Promise.all([
        dryRun(controlPlane, bare, pod),
        dryRun(controlPlane, covered, pod),
      ]);
      counts[without.isAccepted ? "accepted" : "refused"]++;
      if (withArchway.isPlaced) counts.placed++;
      if (without.isAccepted === withArchway.isAccepted) continue;
      const bared = without.isAccepted ? undefined : withoutOwnLabels(pod);
      const isRepaired = bared !== undefined && (await dryRun(controlPlane, bare, bared)).isAccepted;
      if (isRepaired) counts.repaired++;
      else wrong.push(`${without.said} without, ${withArchway.said} with: ${JSON.stringify(pod).slice(0, 600)}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  assert.deepEqual(wrong, []);
  // The pods must try the webhook: enough of them are accepted, placed at admission, and refused.
  const shown = JSON.stringify(counts);
  assert.ok(counts.accepted >= PODS / 2 && counts.placed >= PODS / 4 && counts.refused >= PODS / 20, shown);
});
