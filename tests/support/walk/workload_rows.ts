// Pods of every kind of workload and with every kind of constraint.
import { A50, FOUR, GIVEN_UP, M4, NEVER, placed, PREFERRED_ONLY } from "./ends.ts";
import { OPERATOR_NAMESPACE } from "./registries.ts";
import { affinity, archIn, type Scenario } from "./scenario.ts";
import type { Fate, WalkSubject } from "./subject.ts";

const HOSTNAME = "kubernetes.io/hostname Exists";

const runs = (...on: readonly string[]): { readonly fate: Fate } => ({ fate: { kind: "runs", on } });

/** Of an image for all four architectures that is placed as such, where it does not say otherwise. */
type Row = Pick<Scenario, "name"> & Partial<Scenario>;

export function workloads({ host, node }: Pick<WalkSubject, "host" | "node">): readonly Scenario[] {
  const m4 = [`${host}/hello:m4`];
  const both = affinity([archIn("arm64")], [archIn("arm64"), 1]);
  const field = { matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] };
  const perNode = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [field] } };
  const rows: readonly Row[] = [
    { name: "E-01 TM-01 a pod of a Deployment", owner: "ReplicaSet" },
    {
      name: "E-02 a privileged pod keeps its annotation",
      annotations: { "openshift.io/scc": "privileged" },
      spec: { volumes: [{ name: "root", hostPath: { path: "/" } }] },
      container: { securityContext: { privileged: true }, volumeMounts: [{ name: "root", mountPath: "/host" }] },
    },
    { name: "TM-02 an empty affinity", spec: { affinity: {} } },
    {
      name: "E-03 a required hostname",
      spec: affinity([HOSTNAME]),
      expect: { ...M4, terms: [`${HOSTNAME} & ${archIn(...FOUR)}`] },
    },
    {
      name: "TM-03 a required operating system",
      spec: affinity(["kubernetes.io/os In linux"]),
      expect: { ...M4, terms: [`kubernetes.io/os In linux & ${archIn(...FOUR)}`] },
    },
    {
      name: "E-04 a preference of the user",
      spec: affinity([], ["foo In bar", 64]),
      expect: { ...M4, weights: ["foo In bar:64", A50] },
    },
    {
      name: "E-05 an architecture preference of the user",
      spec: affinity([], [archIn("amd64"), 1]),
      expect: {
        ...M4,
        preferred: "not-set",
        weights: [`${archIn("amd64")}:1`],
        sources: "amd64:50:ClusterPodPlacementConfig:skipped",
      },
    },
    {
      name: "E-06 TM-04 a required architecture of the user",
      spec: affinity([archIn("arm64")]),
      expect: { ...PREFERRED_ONLY, terms: [archIn("arm64")] },
      ...runs("arm64"),
    },
    {
      name: "E-07 required and preferred architectures of the user",
      spec: both,
      expect: { ...NEVER, terms: [archIn("arm64")], weights: [`${archIn("arm64")}:1`] },
      ...runs("arm64"),
    },
    {
      name: "E-08 TM-09 OR terms, one of them with an architecture",
      spec: affinity([archIn("arm64"), HOSTNAME]),
      expect: { ...M4, terms: [archIn("arm64"), `${HOSTNAME} & ${archIn(...FOUR)}`] },
    },
    {
      name: "E-09 TM-08 a nodeSelector with an architecture",
      spec: { nodeSelector: { "kubernetes.io/arch": "amd64" } },
      expect: PREFERRED_ONLY,
      ...runs("amd64"),
    },
    { name: "E-10 a pod that is bound", spec: { nodeName: node }, expect: NEVER, ...runs("amd64") },
    {
      name: "E-11 the operator's namespace",
      namespace: OPERATOR_NAMESPACE,
      expect: NEVER,
      ...runs(...FOUR),
    },
    { name: "E-12 a kube- namespace", namespace: "kube-walk", expect: NEVER, ...runs(...FOUR) },
    {
      name: "E-13 a pod of a StatefulSet of a single-arch image",
      owner: "StatefulSet",
      images: [`${host}/hello:r`],
      expect: placed(["arm64"]),
    },
    { name: "E-14 a pod of a StatefulSet", owner: "StatefulSet" },
    {
      name: "E-15 PR-10 multi-arch and single-arch containers",
      images: [...m4, `${host}/hello:r`],
      expect: placed(["arm64"]),
    },
    {
      name: "E-16 TM-05 two containers and a required architecture",
      images: [...m4, `${host}/hello:rp`],
      spec: affinity([archIn("arm64")]),
      expect: { ...PREFERRED_ONLY, terms: [archIn("arm64")] },
      ...runs("arm64"),
    },
    {
      name: "E-17 PR-09 three images that share one architecture",
      images: [...m4, `${host}/hello:ar`, `${host}/hello:rp`],
      expect: placed(["arm64"]),
    },
    {
      name: "E-18 a pod of a DaemonSet",
      owner: "DaemonSet",
      spec: { affinity: { nodeAffinity: perNode } },
      expect: { ...NEVER, terms: [`metadata.name In ${node}`] },
      ...runs("amd64"),
    },
    { name: "E-19 a pod of a Job", owner: "Job" },
    {
      name: "E-20 a pod of an OpenShift Build",
      owner: "Build",
      labels: { "openshift.io/build.name": "hello-1" },
      container: { securityContext: { privileged: true } },
    },
    {
      name: "E-21 a pod of an OpenShift DeploymentConfig",
      owner: "ReplicationController",
      labels: { deploymentconfig: "hello" },
    },
    ...[["EX-05 181", "control-plane"], ["EX-06 182", "master"]].map(([ids, role]): Row => ({
      name: `${ids} a pod of the ${role} role`,
      spec: { nodeSelector: { [`node-role.kubernetes.io/${role}`]: "" } },
      expect: NEVER,
    })),
    { name: "PR-01 an index of two architectures", images: [`${host}/hello:ar`], expect: placed(["amd64", "arm64"]) },
    { name: "PR-02 a single manifest", images: [`${host}/hello:p`], expect: placed(["ppc64le"]) },
    {
      name: "PR-11 a bundle index is neutral",
      images: [`${host}/hello:bundle-index`, `${host}/hello:ps`],
      expect: placed(["ppc64le", "s390x"]),
    },
    {
      name: "PR-12 a bundle manifest is neutral",
      images: [`${host}/hello:bundle-manifest`, `${host}/hello:ps`],
      expect: placed(["ppc64le", "s390x"]),
    },
    {
      name: "PR-03 PR-16 EX-09 189 an image that does not exist",
      images: [`${host}/missing:latest`],
      expect: GIVEN_UP,
      fate: { kind: "pull fails", on: FOUR },
    },
  ];
  return rows.map((row) => ({ images: m4, expect: M4, ...row }));
}
