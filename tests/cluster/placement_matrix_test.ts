// How pods end, one line of a matrix each, on a real control plane: gate, labels, required terms, annotations and events.
// Lines that hold a pod do so by a registry that answers slowly or wrongly.
import assert from "node:assert/strict";
import { listAt, read } from "./support/cluster_access.ts";
import { GROUP, localConfig } from "./support/objects.ts";
import {
  createPods,
  isReleased,
  listPodEvents,
  type PodName,
  type PodOutcome,
  type PodSpec,
  renderPod,
  waitForPod,
} from "./support/pods.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWorkingBed, type WalkBed } from "./support/walk_bed.ts";

const PREFIX = "multiarch.openshift.io/";
const ARM_PREFERENCE = { enabled: true, platforms: [{ architecture: "arm64", weight: 30 }] };
const PREFERRED_SOURCE = "arm64:30:PodPlacementConfig-scoring";

interface Row {
  /** Labels of the operator's domain, without the prefix; all others must be absent. */
  readonly labels: Readonly<Record<string, string>>;
  readonly terms: readonly string[];
  /** Reasons of the pod's events, in any order: three at most, one a reason. */
  readonly events: readonly string[];
  /** The audit of preferences; absent when undefined. */
  readonly audit?: string;
  readonly error?: RegExp;
  readonly gated?: true;
}

/** A row, the words of the matrix for it, and the pod that ends in it. */
interface Case extends Row {
  readonly row: string;
  readonly pod?: Omit<PodSpec, "name" | "images">;
  /** Repositories of the images and what each supports; undefined is an image that is not there. */
  readonly images: readonly (readonly string[] | undefined)[];
  readonly scoring?: true;
  readonly fallback?: true;
}

const SET = "ArchAwarePredicateSet";
const RELEASED = "ArchAwareSchedGateRemovalSuccess";
const GATED = "ArchAwareSchedGateAdded";
const FAILED = "ArchAwareInspectionError";
const PLACED = { "scheduling-gate": "removed", "node-affinity": "set" } as const;
const UNPLACED = { "scheduling-gate": "removed", "node-affinity": "not-set" } as const;
const FIVE_FAILURES = { "image-inspect-error": "", "image-inspect-error-count": "5" } as const;
const ONE_ARM = { ...PLACED, "single-arch": "", arm64: "" } as const;

const CASES: readonly Case[] = [
  {
    row: "ignored at admission",
    pod: { spec: { nodeSelector: { "kubernetes.io/arch": "arm64" } } },
    images: [["arm64"]],
    labels: { "scheduling-gate": "not-set", "node-affinity": "not-set" },
    terms: [],
    events: [],
  },
  {
    row: "ignored at admission, nas",
    pod: { spec: { nodeSelector: { "node-role.kubernetes.io/control-plane": "" } } },
    images: [["arm64"]],
    scoring: true,
    labels: { "scheduling-gate": "not-set", "node-affinity": "not-set", "preferred-node-affinity": "not-set" },
    terms: [],
    events: [],
  },
  {
    row: "success, n≥2 archs",
    images: [["amd64", "arm64", "riscv64"]],
    labels: { ...PLACED, "multi-arch": "", amd64: "", arm64: "" },
    terms: ["kubernetes.io/arch In amd64,arm64,riscv64"],
    events: [GATED, RELEASED, SET],
  },
  {
    row: "success, n≥2 archs, nas",
    images: [["amd64", "arm64", "s390x"], ["arm64", "s390x"]],
    scoring: true,
    labels: { ...PLACED, "preferred-node-affinity": "set", "multi-arch": "", arm64: "", s390x: "" },
    terms: ["kubernetes.io/arch In arm64,s390x"],
    audit: PREFERRED_SOURCE,
    events: [GATED, RELEASED, SET],
  },
  {
    row: "success, 1 arch",
    images: [["arm64"]],
    labels: ONE_ARM,
    terms: ["kubernetes.io/arch In arm64"],
    events: [GATED, RELEASED, SET],
  },
  {
    row: "success, 0 archs",
    images: [["arm64"], ["amd64"]],
    labels: { ...PLACED, "no-supported-arch": "" },
    terms: ["multiarch.openshift.io/no-supported-arch Exists"],
    events: ["NoSupportedArchitecturesFound", RELEASED, SET],
  },
  {
    row: "user arch preference present (P), nas",
    pod: { spec: { affinity: preferring("amd64") } },
    images: [["amd64", "arm64"]],
    scoring: true,
    labels: { ...PLACED, "preferred-node-affinity": "not-set", "multi-arch": "", amd64: "", arm64: "" },
    terms: ["kubernetes.io/arch In amd64,arm64"],
    audit: `${PREFERRED_SOURCE}:skipped`,
    events: [GATED, RELEASED, SET],
  },
  {
    row: "user arch preference present (P)",
    pod: { spec: { affinity: preferring("amd64") } },
    images: [["arm64"]],
    labels: ONE_ARM,
    terms: ["kubernetes.io/arch In arm64"],
    events: [GATED, RELEASED, SET],
  },
  {
    // Nothing is left to find out, so the webhook itself adds the preferences and the pod never waits.
    row: "required arch preset (R), nas",
    pod: { spec: { affinity: requiring("amd64") } },
    images: [["amd64", "arm64"]],
    scoring: true,
    labels: { ...UNPLACED, "preferred-node-affinity": "set" },
    terms: ["kubernetes.io/arch In amd64"],
    audit: PREFERRED_SOURCE,
    events: [],
  },
  {
    row: "failed 5×, no fallback",
    images: [undefined],
    labels: { ...UNPLACED, ...FIVE_FAILURES },
    terms: [],
    error: /no-fallback/,
    events: [GATED, FAILED, RELEASED],
  },
  {
    row: "failed 5×, no fallback, nas",
    images: [undefined],
    scoring: true,
    labels: { ...UNPLACED, "preferred-node-affinity": "set", ...FIVE_FAILURES },
    terms: [],
    audit: PREFERRED_SOURCE,
    error: /no-fallback-nas/,
    events: [FAILED, SET, RELEASED],
  },
  {
    row: "failed 5×, fallback F",
    images: [undefined],
    fallback: true,
    labels: { ...PLACED, "fallback-arch": "s390x", ...FIVE_FAILURES },
    terms: ["kubernetes.io/arch In s390x"],
    error: /fallback-f/,
    events: ["ArchAwareFallbackPredicateSet", FAILED, RELEASED],
  },
];

Deno.test("placement matrix: every row of the final states, with the events that Archway posts, holds on the real control plane", async (test) => {
  const selector = { matchExpressions: [{ key: "test/excluded", operator: "DoesNotExist" }] };
  await using bed = await openWorkingBed({ spec: { namespaceSelector: selector } });
  const namespaces = await createNamespaces(bed);
  const held = await bed.push("held/app", index("arm64"));
  const failing = await bed.push("failing/app", index("arm64"));
  bed.proxy.setFaults([
    { fault: { kind: "latency", ms: 8_000 }, repository: "held/" },
    { fault: { kind: "status", status: 500 }, repository: "failing/" },
  ]);
  const waiting: readonly PodSpec[] = [
    { name: "held", images: [held] },
    { name: "ignorable", images: [held] },
    { name: "held-nas", images: [held], labels: { scoring: "yes" } },
    { name: "failing", images: [failing] },
  ];
  await createPods(bed.controlPlane, namespaces.plain, { pods: waiting });
  // A fallback is for what fails in the end alone.
  const failingNas = { namespace: namespaces.fallback, name: "failing-nas" };
  await createPods(bed.controlPlane, failingNas.namespace, {
    pods: [{ name: failingNas.name, images: [failing], labels: { scoring: "yes" } }],
  });
  const see = (name: string, row: Row): Promise<void> => assertRow(bed, { namespace: namespaces.plain, name }, row);
  const heldRow: Row = {
    gated: true,
    labels: { "scheduling-gate": "gated", "node-affinity": "not-set" },
    terms: [],
    events: [GATED],
  };

  await test.step("row: waiting", () => see("held", heldRow));
  await test.step("row: waiting, nas", () =>
    see("held-nas", { ...heldRow, labels: { ...heldRow.labels, "preferred-node-affinity": "not-set" } }));
  await test.step("DV-32 final state: gated, then became ignorable", async () => {
    const path = `/api/v1/namespaces/${namespaces.plain}/pods/ignorable`;
    const nodeSelector = { "node-role.kubernetes.io/control-plane": "" };
    await bed.controlPlane.patch(path, { spec: { nodeSelector } });
    await see("ignorable", {
      labels: UNPLACED,
      terms: [],
      events: [GATED, "ArchAwareGatedPodIgnored", RELEASED],
    });
  });
  await test.step("row: failing, attempt k<5", async () => {
    const pod = await waitForFailure(bed, { namespace: namespaces.plain, name: "failing" });
    const { "image-inspect-error-count": count, ...labels } = ownLabels(pod);
    assert.match(count ?? "", /^[1-4]$/);
    assert.deepEqual(labels, { ...heldRow.labels, "image-inspect-error": "" });
    assert.deepEqual([isReleased(pod), pod.affinity], [false, undefined]);
    assert.match(pod.annotations[`${PREFIX}image-inspect-error`] ?? "", /failing\/app/);
    await waitForEvents(bed, { namespace: namespaces.plain, name: "failing" }, [GATED, FAILED]);
  });
  await test.step("row: failing, attempt k<5, nas", async () => {
    const pod = await waitForFailure(bed, failingNas);
    assert.equal(ownLabels(pod)["preferred-node-affinity"], "set");
    assert.equal(pod.annotations[`${PREFIX}preferred-affinity-sources`], PREFERRED_SOURCE);
    assert.equal(isReleased(pod), false);
  });
  bed.proxy.setFaults([]);
  for (const failed of [{ namespace: namespaces.plain, name: "failing" }, failingNas]) {
    await test.step(`row: success after k failures (${failed.name})`, async () => {
      const pod = await waitForPod(bed.controlPlane, failed, isReleased);
      const { "image-inspect-error-count": count, ...labels } = ownLabels(pod);
      assert.match(count ?? "", /^[1-4]$/);
      assert.deepEqual(labels, { ...ONE_ARM, ...(failed !== failingNas ? {} : { "preferred-node-affinity": "set" }) });
      assert.match(pod.annotations[`${PREFIX}image-inspect-error`] ?? "", /failing\/app/);
      assert.deepEqual(termsOf(pod), ["kubernetes.io/arch In arm64"]);
      await waitForEvents(bed, failed, [FAILED, SET, RELEASED]);
    });
  }
  const pods = await Promise.all(CASES.map((one) => makeCase(bed, namespaces, one)));
  for (const [number, one] of CASES.entries()) {
    await test.step(`row: ${one.row}`, () => assertRow(bed, pods[number] ?? assert.fail(), one));
  }
  await test.step("row: namespace excluded by selector", async () => {
    await createPods(bed.controlPlane, namespaces.excluded, { pods: [{ name: "excluded", images: [held] }] });
    await assertRow(bed, { namespace: namespaces.excluded, name: "excluded" }, { labels: {}, terms: [], events: [] });
  });
  await test.step("row: WH unreachable", async () => {
    bed.archway.kill("SIGKILL");
    await waitUntil("the process to be dead", () => !bed.archway.isAlive());
    await createPods(bed.controlPlane, namespaces.plain, { pods: [{ name: "unseen", images: [held] }] });
    await see("unseen", { labels: {}, terms: [], events: [] });
  });
});

interface Namespaces {
  /** No fallback; pods labelled `scoring: yes` get preferences. */
  readonly plain: string;
  readonly fallback: string;
  readonly excluded: string;
}

async function createNamespaces(bed: WalkBed): Promise<Namespaces> {
  const { controlPlane } = bed;
  const plain = await controlPlane.createNamespace("matrix");
  const fallback = await controlPlane.createNamespace("matrix-fallback");
  const excluded = await controlPlane.createNamespace("matrix-excluded", { "test/excluded": "" });
  const plugins = { nodeAffinityScoring: ARM_PREFERENCE };
  const scoring = { labelSelector: { matchLabels: { scoring: "yes" } }, priority: 2, plugins };
  const falling = { priority: 1, plugins: {}, fallbackArchitecture: "s390x" };
  const locals = (namespace: string): string => `${GROUP}/namespaces/${namespace}/podplacementconfigs`;
  await controlPlane.create(locals(fallback), localConfig("fallback", falling));
  await Promise.all([plain, fallback].map(async (namespace) => {
    await controlPlane.create(locals(namespace), localConfig("scoring", scoring));
    // A dry run shows whether the webhook has the config; the one with the fallback came before it.
    await waitUntil("the webhook to know the configs", async () => {
      const body = renderPod({ name: "probe", images: ["probe"], labels: { scoring: "yes" } });
      const answer = await controlPlane.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body);
      return JSON.stringify(answer.body).includes(`${PREFIX}preferred-node-affinity`);
    });
  }));
  return { plain, fallback, excluded };
}

/** Pushes images of this case's own, so that they are not cached when the pod is admitted, and creates the pod. */
async function makeCase(bed: WalkBed, namespaces: Namespaces, one: Case): Promise<PodName> {
  const name = one.row.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const namespace = one.fallback === true ? namespaces.fallback : namespaces.plain;
  const images = await Promise.all(one.images.map((architectures, number) => {
    const repository = `matrix/${name}-${number}`;
    return architectures === undefined
      ? `${bed.proxy.host}/${repository}:v1`
      : bed.push(repository, index(...architectures));
  }));
  const labels = one.scoring === true ? { scoring: "yes" } : {};
  await createPods(bed.controlPlane, namespace, { pods: [{ name, images, labels, ...one.pod }] });
  return { namespace, name };
}

async function assertRow(bed: WalkBed, name: PodName, row: Row): Promise<void> {
  const pod = await waitForPod(bed.controlPlane, name, (seen) => isReleased(seen) !== (row.gated === true));
  assert.deepEqual(ownLabels(pod), row.labels);
  assert.deepEqual(termsOf(pod), row.terms);
  assert.equal(pod.annotations[`${PREFIX}preferred-affinity-sources`], row.audit);
  assert.match(pod.annotations[`${PREFIX}image-inspect-error`] ?? "", row.error ?? /^$/);
  await waitForEvents(bed, name, row.events);
}

function waitForFailure(bed: WalkBed, name: PodName): Promise<PodOutcome> {
  return waitForPod(bed.controlPlane, name, ({ labels }) => `${PREFIX}image-inspect-error` in labels);
}

/** Waits for exactly these events (but the scheduler's). */
async function waitForEvents(bed: WalkBed, name: PodName, wanted: readonly string[]): Promise<void> {
  let seen: readonly string[] = [];
  const sorted = [...wanted].sort();
  await waitUntil(`events of ${name.name}`, async () => {
    const events = await listPodEvents(bed.controlPlane, name);
    const reasons = events.map(({ reason }) => reason).filter((reason) => /^ArchAware|^NoSupported/.test(reason));
    assert.ok(reasons.length <= 3, reasons.join());
    seen = reasons.sort();
    return seen.join() === sorted.join();
  }, { deadlineMs: 10_000 }).catch(() => assert.deepEqual(seen, sorted));
}

function ownLabels({ labels }: PodOutcome): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) =>
      key.startsWith(PREFIX) ? [[key.slice(PREFIX.length), value] as const] : []
    ),
  );
}

function termsOf({ affinity }: PodOutcome): readonly string[] {
  const terms = read(affinity, "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  return listAt(terms).map((term) =>
    listAt(term, "matchExpressions").map((expression) => {
      const values = listAt(expression, "values").join(",");
      return `${read(expression, "key")} ${read(expression, "operator")} ${values}`.trimEnd();
    }).join(" && ")
  );
}

function archTerm(architecture: string): unknown {
  return { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: [architecture] }] };
}

function preferring(architecture: string): unknown {
  const preferred = [{ weight: 1, preference: archTerm(architecture) }];
  return { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
}

function requiring(architecture: string): unknown {
  const required = { nodeSelectorTerms: [archTerm(architecture)] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
}
