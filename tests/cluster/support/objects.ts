// Objects as tests want them: a test says what matters to it. And where Archway's own objects are.
import { CONVERTED_CRD, WebhookName } from "../../../lib/names.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { waitUntil } from "./wait.ts";

export const GROUP = "/apis/multiarch.openshift.io/v1beta1";
export const CONFIGS = `${GROUP}/clusterpodplacementconfigs`;
export const CONFIG = `${CONFIGS}/cluster`;
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
export const WEBHOOKS = `${ADMISSION}/mutatingwebhookconfigurations`;
/** The configuration by which the API server calls the pod webhook. */
export const POD_WEBHOOK = `${WEBHOOKS}/${WebhookName.configuration}`;
export const CHECKS = `${ADMISSION}/validatingwebhookconfigurations/${WebhookName.validatingConfiguration}`;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const DEFINITION = `${DEFINITIONS}/${CONVERTED_CRD}`;

type Json = Readonly<Record<string, unknown>>;

export function clusterConfig(spec: unknown = {}, metadata: Json = {}): Json {
  const kind = { apiVersion: "multiarch.openshift.io/v1beta1", kind: "ClusterPodPlacementConfig" };
  return { ...kind, metadata: { name: "cluster", ...metadata }, spec };
}

export function localConfig(name = "local", spec: unknown = { plugins: {} }): Json {
  return { apiVersion: "multiarch.openshift.io/v1beta1", kind: "PodPlacementConfig", metadata: { name }, spec };
}

/** What logs in to registries, by its `auths`. */
export function dockerSecret(metadata: Json, auths: Json): Json {
  return {
    ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/dockerconfigjson", metadata },
    stringData: { ".dockerconfigjson": JSON.stringify({ auths }) },
  };
}

export interface WantedWorkload {
  readonly replicas?: number;
  readonly image?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Json;
  /** Other members of the pods' `spec`. */
  readonly spec?: Json;
}

/** A Deployment or DaemonSet whose pods have one container. */
export function workload(kind: "Deployment" | "DaemonSet", name: string, wanted: WantedWorkload = {}): Json {
  const { replicas, image = "registry.invalid/team/app:1", labels = { app: name }, metadata = {}, spec = {} } = wanted;
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image }], ...spec } };
  return {
    ...{ apiVersion: "apps/v1", kind, metadata: { name, ...metadata } },
    spec: { ...replicas === undefined ? {} : { replicas }, selector: { matchLabels: labels }, template },
  };
}

export interface ForeignKind {
  readonly group: string;
  readonly kind: string;
  /** Default `v1`. */
  readonly version?: string;
  /** Default `Namespaced`. */
  readonly scope?: "Cluster" | "Namespaced";
  /** Default: the kind in small letters and an `s`. */
  readonly plural?: string;
}

/** A kind of another product, with a status and of any shape; gives the path of its definition when it is served. */
export async function defineKind(
  cluster: ClusterAccess,
  { group, kind, version = "v1", scope = "Namespaced", plural = `${kind.toLowerCase()}s` }: ForeignKind,
): Promise<string> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await cluster.create(DEFINITIONS, {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope, names: { kind, plural, singular: kind.toLowerCase() } },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
  await waitUntil(`${kind} to be served`, () => cluster.exists(`/apis/${group}/${version}/${plural}`));
  return `${DEFINITIONS}/${plural}.${group}`;
}

/** A policy that denies pods; gives the way to lift it. The API server compiles it some time later. */
export async function denyPods(
  cluster: ClusterAccess,
  { name, operations, ...validation }: {
    readonly name: string;
    readonly operations: readonly ("CREATE" | "UPDATE")[];
    readonly expression: string;
    readonly message: string;
    readonly reason?: string;
  },
): Promise<() => Promise<void>> {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations, resources: ["pods"] };
  const specs = [
    ["policies", { matchConstraints: { resourceRules: [rule] }, validations: [validation] }],
    ["policybindings", { policyName: name, validationActions: ["Deny"] }],
  ] as const;
  const pathOf = (kind: string): string => `${ADMISSION}/validatingadmission${kind}`;
  for (const [kind, spec] of specs) await cluster.create(pathOf(kind), { metadata: { name }, spec });
  return async () => {
    for (const [kind] of specs.toReversed()) await cluster.delete(`${pathOf(kind)}/${name}`);
  };
}
