// Makers of pods, configs and images for the tests of lib/placement, and the application of patches to them.
import assert from "node:assert/strict";
import jsonPatch from "fast-json-patch";
import type { JsonPatch } from "../../../../lib/k8s/patch.ts";
import { SCHEDULING_GATE } from "../../../../lib/names.ts";
import type { InspectedImage, Inspection, InspectionDepth, Platform } from "../../../../lib/oci/inspection.ts";
import type { RegistryFailure } from "../../../../lib/oci/errors.ts";
import {
  type ClusterConfig,
  type NamespaceConfig,
  parseClusterConfig,
  parseNamespaceConfig,
  type PlacementConfigs,
} from "../../../../lib/placement/decide/config/config.ts";
import { parsePod, type PodView } from "../../../../lib/placement/decide/pod/pod_view.ts";
import { makeSettings } from "../../../support/placement_settings.ts";
import type { PlacementFacts } from "../../../../lib/placement/decide/facts.ts";
import { type AdmissionFacts, judgeAdmission, planAdmission } from "../../../../lib/placement/decide/admission.ts";
import { decide } from "../../../../lib/placement/decide/decide.ts";
import type { AdmissionVerdict, PlacementDecision } from "../../../../lib/placement/decide/decision_types.ts";
import { admissionPatch } from "../../../../lib/placement/decide/patch/admission_patch.ts";
import { decisionPatch } from "../../../../lib/placement/decide/patch/decision_patch.ts";
import { evidenceOf } from "../../../../lib/placement/decide/judge_images.ts";
import { planInspection } from "../../../../lib/placement/decide/plan_inspection.ts";

export type Json = Record<string, unknown>;

export const AMD64 = "amd64";
export const ARM64 = "arm64";
export const PPC64LE = "ppc64le";
export const S390X = "s390x";
export const ARCH = "kubernetes.io/arch";
export const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
export const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
export const NOWHERE = "multiarch.openshift.io/no-supported-arch";

/** A label or annotation key of the MTO, by its short name. */
export function mark(name: string): string {
  return `multiarch.openshift.io/${name}`;
}

export function rawPod(spec: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "test-namespace", uid: "uid-1", resourceVersion: "7", ...metadata },
    spec: { containers: [container("multi")], ...spec },
  };
}

export function gatedPod(spec: Json = {}, metadata: Json = {}): Json {
  const labels = { [SCHEDULING_GATE]: "gated", [mark("node-affinity")]: "not-set", ...(metadata.labels ?? {}) };
  return rawPod({ schedulingGates: [{ name: SCHEDULING_GATE }], ...spec }, { ...metadata, labels });
}

export function container(image: string, imagePullPolicy?: string): Json {
  return { name: image.replaceAll(/\W/g, "-"), image, ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }) };
}

/** The part of a spec that runs these images. */
export function running(...images: readonly string[]): Json {
  return { containers: images.map((image) => container(image)) };
}

export function nodeAffinity(required?: unknown, preferred?: unknown): Json {
  return {
    nodeAffinity: {
      ...(required === undefined ? {} : { [REQUIRED]: { nodeSelectorTerms: required } }),
      ...(preferred === undefined ? {} : { [PREFERRED]: preferred }),
    },
  };
}

/** A term of `key In values` expressions: `term(["foo", "bar"], [ARCH, AMD64, ARM64])`. */
export function term(...expressions: readonly (readonly [string, ...string[]])[]): Json {
  return { matchExpressions: expressions.map(([key, ...values]) => ({ key, operator: "In", values })) };
}

export function preferredTerm(weight: number, key: string, ...values: string[]): Json {
  return { weight, preference: term([key, ...values]) };
}

export function podOf(raw: unknown): PodView {
  const pod = parsePod(raw);
  assert.ok(pod !== undefined, "the pod parses");
  return pod;
}

/** The object after a patch, which must apply; the object given stays as it is. */
export function applied<T>(raw: T, patch: JsonPatch): T & Json {
  const operations = structuredClone(patch) as Parameters<typeof jsonPatch.applyPatch>[1];
  return jsonPatch.applyPatch(structuredClone(raw), operations, true).newDocument as T & Json;
}

/** A member by its path of names, undefined where it ends early. */
export function at(object: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], object);
}

export function labelsOf(raw: unknown): Json {
  return (at(raw, "metadata", "labels") ?? {}) as Json;
}

export function requiredOf(raw: unknown): unknown {
  return at(raw, "spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms");
}

export function preferredOf(raw: unknown): unknown {
  return at(raw, "spec", "affinity", "nodeAffinity", PREFERRED);
}

export function gatesOf(raw: unknown): readonly string[] {
  return ((at(raw, "spec", "schedulingGates") ?? []) as { name: string }[]).map(({ name }) => name);
}

/** What Archway writes, as it stands in a pod. */
interface End {
  readonly labels: Json;
  /** The labels by their short names. */
  readonly marks: Json;
  readonly annotations: Json;
  readonly gates: readonly string[];
  readonly required: unknown;
  readonly preferred: unknown;
}

export function endOf(pod: unknown): End {
  const labels = labelsOf(pod);
  return {
    labels,
    marks: Object.fromEntries(Object.entries(labels).map(([key, value]) => [key.replace(mark(""), ""), value])),
    annotations: (at(pod, "metadata", "annotations") ?? {}) as Json,
    gates: gatesOf(pod),
    required: requiredOf(pod),
    preferred: preferredOf(pod),
  };
}

/** The value of what parses. */
export function valueOf<T>(
  parsed: { readonly kind: "parsed"; readonly value: T } | { readonly kind: "unparsable" },
): T {
  return parsed.kind === "parsed" ? parsed.value : assert.fail(JSON.stringify(parsed));
}

/** What configs of both kinds may say. */
interface ConfigChanges {
  readonly platforms?: readonly Json[];
  readonly enabled?: boolean;
  readonly fallback?: string;
}

export function cluster(changes: ConfigChanges = {}): ClusterConfig {
  return valueOf(parseClusterConfig({
    metadata: { name: "cluster", uid: "c", generation: 1 },
    spec: specOf(changes),
  }));
}

export function ppc(
  name: string,
  { priority = 0, selector, created = "2026-01-01T00:00:00Z", ...changes }: ConfigChanges & {
    readonly priority?: number;
    readonly selector?: unknown;
    readonly created?: string;
  } = {},
): NamespaceConfig {
  return valueOf(parseNamespaceConfig({
    metadata: { name, namespace: "test-namespace", creationTimestamp: created },
    spec: { priority, ...(selector === undefined ? {} : { labelSelector: selector }), ...specOf(changes) },
  }));
}

export function weigh(architecture: string, weight: number): Json {
  return { architecture, weight };
}

function specOf({ platforms, enabled, fallback }: ConfigChanges): Json {
  const isScoring = platforms !== undefined || enabled !== undefined;
  const nodeAffinityScoring = { enabled: enabled ?? true, platforms: platforms ?? [] };
  return {
    ...(fallback === undefined ? {} : { fallbackArchitecture: fallback }),
    ...(isScoring ? { plugins: { nodeAffinityScoring } } : {}),
  };
}

export const NO_CONFIGS: PlacementConfigs = { cluster: undefined, namespace: [] };

export function configs(clusterConfig?: ClusterConfig, ...namespace: readonly NamespaceConfig[]): PlacementConfigs {
  return { cluster: clusterConfig, namespace };
}

const IMAGES: Readonly<Record<string, readonly string[]>> = {
  "single-amd64": [AMD64],
  "single-arm64": [ARM64],
  multi: [AMD64, ARM64],
  multi2: [AMD64, ARM64, PPC64LE, S390X],
  exotic: [AMD64, "riscv64"],
  "operator-bundle": [AMD64],
};

/** The spec of a pod that runs on amd64 and arm64: its operator bundle has amd64 alone, but narrows nothing. */
export const BUNDLED = { containers: [{ name: "c", image: "operator-bundle" }, { name: "d", image: "multi" }] };

/** The inspection of one of the sample images; any other name is an image that cannot be inspected. */
export function fact(image: string, options: { readonly depth?: InspectionDepth } = {}): InspectedImage {
  if (image === "operator-bundle" && options.depth === "config") return bundleFact(image);
  const architectures = IMAGES[image];
  if (architectures === undefined) return failedFact(image, { kind: "transient", reason: "ServerError" });
  return platformsFact(image, architectures.map((architecture) => ({ os: "linux", architecture })), options);
}

/** The inspection of an image with these platforms; known by its index alone by default. */
export function platformsFact(
  image: string,
  platforms: readonly Platform[],
  { depth = "index" }: { readonly depth?: InspectionDepth } = {},
): InspectedImage {
  const digest = `sha256:${"0".repeat(64)}`;
  const mediaType = "application/vnd.oci.image.index.v1+json";
  return { image, inspection: { kind: "platforms", digest, mediaType, platforms, depth, findings: [] } };
}

export function singleFact(image: string, architecture: string): InspectedImage {
  const { inspection, ...fact } = platformsFact(image, [{ os: "linux", architecture }], { depth: "config" });
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  return { ...fact, inspection: { ...inspection, mediaType } as Inspection };
}

export function bundleFact(image: string): InspectedImage {
  const inspection = { kind: "anywhere", digest: "sha256:b", mediaType: "m", platforms: [], findings: [] } as const;
  return { image, inspection };
}

export function failedFact(
  image: string,
  failure: Pick<RegistryFailure, "kind" | "reason"> & Partial<RegistryFailure>,
): InspectedImage {
  const inspection = { kind: "failed", failure: { message: "the registry answered 500", ...failure } } as const;
  return { image, inspection };
}

/** What facts may be changed in, and what they are gathered from. */
export type FactChanges = Partial<Omit<PlacementFacts, "pod" | "evidence">> & {
  readonly configs?: PlacementConfigs;
  readonly images?: readonly InspectedImage[];
  readonly planOf?: typeof planInspection;
};

/** The facts of a freshly gated pod whose images are the given ones, or else the sample images of their names; all failures before were permanent. */
export function factsOf(raw: unknown, changes: FactChanges = {}): PlacementFacts {
  const pod = podOf(raw);
  const { configs: all = NO_CONFIGS, images, planOf = planInspection, ...given } = changes;
  const settings = given.settings ?? makeSettings({ operatorNamespace: "archway" });
  const plan = planOf(pod, all, settings);
  const inspected = images ?? [...new Set(pod.containers.map(({ image }) => image))].map((image) => fact(image));
  return {
    pod,
    settings,
    evidence: evidenceOf({ pod, settings, plan }, inspected),
    gateAgeMs: 10,
    failedAttempts: 0,
    permanentFailures: given.failedAttempts ?? 0,
    jitter: 0.5,
    ...given,
  };
}

export function released(
  raw: Json,
  facts: PlacementFacts,
): { readonly decision: PlacementDecision; readonly patch: JsonPatch; readonly after: Json } {
  const decision = decide(facts);
  const patch = decisionPatch(facts.pod, decision);
  return { decision, patch, after: applied(raw, patch) };
}

/** What facts of an admission may be changed in, and what they are gathered from. */
export type AdmissionChanges = Partial<Pick<AdmissionFacts, "settings" | "mayGate" | "liveArchitectures">> & {
  readonly configs?: PlacementConfigs;
  readonly known?: readonly InspectedImage[] | undefined;
  readonly isAging?: boolean;
};

/** The facts of a pod that is being created; its images are not known unless given. */
export function admissionFacts(pod: PodView, changes: AdmissionChanges = {}): AdmissionFacts {
  const { configs: all = NO_CONFIGS, known: images, isAging = false, ...given } = changes;
  const settings = given.settings ?? makeSettings({ operatorNamespace: "archway" });
  return { ...planAdmission(pod, all, settings), known: images && { images, isAging }, mayGate: true, ...given };
}

export function admitted(
  raw: Json,
  facts: AdmissionFacts,
): { readonly verdict: AdmissionVerdict; readonly patch: JsonPatch; readonly after: Json } {
  const verdict = judgeAdmission(facts);
  const patch = admissionPatch(facts.pod, verdict);
  return { verdict, patch, after: applied(raw, patch) };
}

/** A pod as it was, the patch of a decision, and the pod after it with what Archway wrote. */
type Patched = End & { readonly pod: PodView; readonly patch: JsonPatch; readonly after: Json };

/** What is decided about a pod that is created, and what becomes of it. */
export function admit(
  raw: Json,
  changes: AdmissionChanges = {},
): Patched & { readonly verdict: AdmissionVerdict } {
  const facts = admissionFacts(podOf(raw), changes);
  const { verdict, patch, after } = admitted(raw, facts);
  return { pod: facts.pod, verdict, patch, after, ...endOf(after) };
}

/** What is decided about a gated pod, and what becomes of it. */
export function settle(raw: Json, changes: FactChanges = {}): Patched & { readonly decision: PlacementDecision } {
  const facts = factsOf(raw, changes);
  const { decision, patch, after } = released(raw, facts);
  return { pod: facts.pod, decision, patch, after, ...endOf(after) };
}

/** A row of a table: its number in the specification, what it shows, and how. */
export type Row = readonly [id: string, title: string, check: () => void];

export function rows(table: readonly Row[]): void {
  for (const [id, title, check] of table) Deno.test(`${id} ${title}`, check);
}

export const make = {
  pod: rawPod,
  gatedPod,
  container,
  nodeAffinity,
  term,
  preferredTerm,
  view: podOf,
  clusterConfig: cluster,
  namespaceConfig: ppc,
  configs,
  platform: weigh,
  image: fact,
  imageOf: platformsFact,
  bundle: bundleFact,
  failedImage: failedFact,
  settings: makeSettings,
  facts: factsOf,
  admission: admissionFacts,
} as const;
