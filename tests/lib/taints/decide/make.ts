// Makers of nodes, pods and DaemonSets for the tests of lib/taints, as the API server gives them.
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { surveyOf, type TaintSurvey, withJudgement } from "../../../../lib/taints/decide/survey.ts";
import type { ArchTaint } from "../../../../lib/vocabulary/taint.ts";
import { parseTaintDaemonSet, parseTaintNode, parseTaintPod } from "../../../../lib/taints/decide/parse.ts";

export const RULE: ArchTaint = { key: "supported-arch", effect: "NoSchedule" };

export type RawTaint = Readonly<Record<string, string>>;

export function ours(value: string, effect = "NoSchedule"): RawTaint {
  return { key: "supported-arch", value, effect };
}

export const OPTED_OUT = { "archway.dev/arch-taint": "off" };

export interface NodeSpec {
  readonly name?: string;
  readonly reported?: string;
  readonly label?: string | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly RawTaint[] | undefined;
}

export function rawNode({ name = "n", reported = "amd64", labels = {}, taints, ...rest }: NodeSpec = {}): KubeObject {
  const label = "label" in rest ? rest.label : reported;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: "5",
      labels: { ...(label === undefined ? {} : { "kubernetes.io/arch": label }), ...labels },
    },
    spec: taints === undefined ? {} : { taints },
    status: { nodeInfo: { architecture: reported } },
  };
}

export interface RawPodSpec {
  readonly name?: string;
  readonly node?: string;
  readonly tolerations?: readonly Readonly<Record<string, unknown>>[] | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
  /** What the scheduler says of it. */
  readonly says?: string;
  readonly phase?: string;
  readonly owner?: string;
  readonly gates?: readonly string[];
  readonly deleting?: boolean;
}

export function rawTaintPod(spec: RawPodSpec = {}): KubeObject {
  const { name = "p", node, tolerations, annotations = {}, says, phase = node === undefined ? "Pending" : "Running" } =
    spec;
  const conditions = says === undefined
    ? []
    : [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: says }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace: "team",
      name,
      uid: `uid-${name}`,
      resourceVersion: "9",
      annotations,
      ...(spec.owner === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: "v1", kind: spec.owner, name: "o", uid: "u" }] }),
      ...(spec.deleting === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: {
      containers: [{ name: "a", image: "a" }],
      ...(node === undefined ? {} : { nodeName: node }),
      ...(tolerations === undefined ? {} : { tolerations }),
      ...(spec.gates === undefined ? {} : { schedulingGates: spec.gates.map((gate) => ({ name: gate })) }),
    },
    status: { phase, conditions },
  };
}

/** The part of a spec that has these terms of nodes. */
export function placed(
  nodeSelectorTerms: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, unknown>> {
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

export function rawDaemonSet(name: string, spec: Readonly<Record<string, unknown>> = {}): KubeObject {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { namespace: "kube-system", name, uid: `uid-${name}` },
    spec: { template: { spec: { containers: [{ name: "a", image: "a" }], ...spec } } },
  };
}

export function survey(
  { nodes, pods = [], daemonSets = [], rule = RULE }: {
    readonly nodes: readonly KubeObject[];
    readonly pods?: readonly KubeObject[];
    readonly daemonSets?: readonly KubeObject[];
    readonly rule?: ArchTaint;
  },
): TaintSurvey {
  return surveyOf(rule, {
    nodes: new Map(nodes.map((node) => [node.metadata.name, withJudgement(parseTaintNode(node), rule)])),
    pods: pods.map((pod) => parseTaintPod(pod, rule)).filter((pod) => pod !== undefined),
    daemonSets: daemonSets.map((object) => parseTaintDaemonSet(object, rule)).filter((one) => one !== undefined),
  });
}

export function taintsOf(node: KubeObject): readonly RawTaint[] {
  const { taints = [] } = node["spec"] as { taints?: readonly RawTaint[] };
  return taints;
}
