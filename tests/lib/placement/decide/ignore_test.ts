import assert from "node:assert/strict";
import { ignoreReason, isSystemNamespace } from "../../../../lib/placement/decide/ignore.ts";
import { planInspection } from "../../../../lib/placement/decide/plan_inspection.ts";
import { parsePod, type PodView } from "../../../../lib/placement/decide/pod/pod_view.ts";
import type { PlacementSettings } from "../../../../lib/placement/decide/config/settings.ts";
import type { PlacementConfigs } from "../../../../lib/placement/decide/config/config.ts";
import { AMD64, ARCH, ARM64, configs, type Json, make, NO_CONFIGS, type Row, rows } from "./make.ts";

const SETTINGS = make.settings({ operatorNamespace: "archway" });
const PLATFORMS = [make.platform(ARM64, 50)];
const SCORING = configs(make.clusterConfig({ platforms: PLATFORMS }));
const NOT_SCORING = configs(make.clusterConfig({ platforms: PLATFORMS, enabled: false }));
const PLAIN_CLUSTER = configs(make.clusterConfig());

interface Given {
  readonly spec?: Json;
  readonly metadata?: Json;
  readonly configs?: PlacementConfigs;
}

function reasonOf(pod: PodView, settings: PlacementSettings, configs = NO_CONFIGS): string | undefined {
  const plan = planInspection(pod, configs, settings);
  const isIgnored = plan.kind === "decided" && plan.decision.kind === "ignore";
  const reason = isIgnored ? plan.decision.reason : undefined;
  assert.equal(ignoreReason(pod, settings, plan), reason);
  return reason;
}

function ignores(id: string, given: Given, expected: string | undefined): Row {
  return [id, `ignoreReason() is ${expected ?? "none"} for ${JSON.stringify({ ...given, configs: undefined })}`, () => {
    const pod = make.view(make.pod(given.spec, given.metadata));
    assert.equal(reasonOf(pod, SETTINGS, given.configs ?? PLAIN_CLUSTER), expected);
  }];
}

const ARCH_EXISTS = { matchExpressions: [{ key: ARCH, operator: "Exists" }] };
const SCORING_OFF = make.clusterConfig({ enabled: false });
const ON = make.namespaceConfig("on", { platforms: PLATFORMS });
const OFF = make.namespaceConfig("off", { enabled: false });
const OTHERS_DAEMON = [
  { kind: "Other", name: "o", controller: false },
  { kind: "DaemonSet", name: "d", controller: true },
];
const constrained = (...terms: readonly Json[]): Json => ({ affinity: make.nodeAffinity(terms) });
const by = (expression: Json): Json => constrained({ matchExpressions: [expression] });
const R_ONLY = { affinity: make.nodeAffinity([ARCH_EXISTS]) };
const R_AND_P = { affinity: make.nodeAffinity([ARCH_EXISTS], [make.preferredTerm(1, ARCH, AMD64)]) };
const owned = (controller: unknown): Json => ({ ownerReferences: [{ kind: "DaemonSet", name: "d", controller }] });
const NAMED = { namespace: "archway" };
const KUBE = { namespace: "kube-system" };

rows([
  ignores("PM-60", {}, undefined),
  ignores("PM-61", { metadata: NAMED }, "OperatorNamespace"),
  ignores("PM-62", { metadata: KUBE }, "KubeNamespace"),
  ignores("PM-63", { spec: { nodeName: "n" } }, "NodeNameSet"),
  ignores("PM-64", { spec: { nodeSelector: { "node-role.kubernetes.io/master": "" } } }, "ControlPlaneSelector"),
  ignores("PM-65", { metadata: owned(true) }, "DaemonSet"),
  ignores("PM-66", { metadata: owned(false) }, undefined),
  ignores("PM-67", { metadata: owned(null) }, undefined),
  ignores("PM-68", { spec: R_ONLY }, "AlreadyConstrained"),
  ignores("PM-69", { spec: R_AND_P, configs: SCORING }, "AlreadyConstrained"),
  ignores("PM-70", { spec: R_ONLY, configs: SCORING }, undefined),
  ignores("PM-71", { spec: R_ONLY, configs: NOT_SCORING }, "AlreadyConstrained"),
  ignores("PM-104", { configs: configs(SCORING_OFF, ON) }, undefined),
  ignores(
    "PM-105",
    { spec: { nodeSelector: { [ARCH]: AMD64 } }, configs: configs(SCORING_OFF, OFF) },
    "AlreadyConstrained",
  ),
  ignores("PM-106", { metadata: NAMED, configs: SCORING }, "OperatorNamespace"),
  ignores("PM-107", { metadata: KUBE, configs: SCORING }, "KubeNamespace"),
  ignores("PM-108", { spec: { nodeName: "n" }, configs: SCORING }, "NodeNameSet"),
  ignores("PM-109", { spec: R_ONLY, configs: configs(SCORING_OFF, OFF, ON) }, undefined),
  ignores("DV-10", { spec: { nodeSelector: { [ARCH]: AMD64 } }, configs: NO_CONFIGS }, "AlreadyConstrained"),
  ignores("DV-17", { spec: constrained(make.term([ARCH, AMD64]), make.term(["foo", "bar"])) }, undefined),
  ignores("DV-18", { spec: constrained({ matchFields: [{ key: ARCH, operator: "In", values: [AMD64] }] }) }, undefined),
  ignores("DV-19", { spec: by({ key: ARCH, operator: "NotIn", values: [ARM64] }) }, "AlreadyConstrained"),
  ignores("DV-20", { metadata: { namespace: "kubevirt-foo" } }, undefined),
  ignores(
    "DV-21 (different: left alone, as the MTO's README promises and its code does not)",
    { metadata: { namespace: "openshift-foo" } },
    "KubeNamespace",
  ),
  ignores("DV-22", { metadata: { ownerReferences: OTHERS_DAEMON } }, "DaemonSet"),
  ignores("DV-23", { spec: by({ key: "node-role.kubernetes.io/control-plane", operator: "Exists" }) }, undefined),
  ignores("DV-24", { spec: { hostNetwork: true } }, undefined),
  ignores("DV-24", { spec: { os: { name: "windows" } } }, undefined),
]);

Deno.test("ignoreReason() skips the runtime classes that the settings name", () => {
  const settings = make.settings({ runtimeClasses: { wasm: { kind: "skip" } } });
  const reason = (runtimeClassName: string): string | undefined =>
    reasonOf(make.view(make.pod({ runtimeClassName })), settings);
  assert.equal(reason("wasm"), "RuntimeClassSkipped");
  assert.equal(reason("kata"), undefined);
  assert.equal(reason("constructor"), undefined);
});

Deno.test("ignoreReason() lets DaemonSet pods in when they are to be constrained", () => {
  const pod = make.view(make.pod({}, owned(true)));
  const settings = make.settings({ daemonSets: "constrain" });
  assert.equal(reasonOf(pod, settings), undefined);
});

const SYSTEM: readonly (readonly [systemNamespaces: readonly string[], namespace: string, isLeftAlone: boolean])[] = [
  [SETTINGS.systemNamespaces, "kube-system", true],
  [SETTINGS.systemNamespaces, "openshift-monitoring", true],
  [SETTINGS.systemNamespaces, "hypershift-clusters", true],
  [SETTINGS.systemNamespaces, "openshift", false],
  [SETTINGS.systemNamespaces, "my-openshift-app", false],
  [SETTINGS.systemNamespaces, "kubernetes", false],
  [["kube-*"], "openshift-monitoring", false],
  [["infra"], "infra", true],
  [["infra"], "infra-2", false],
  [["*"], "anything", true],
  [[], "kube-system", false],
];
for (const [systemNamespaces, namespace, isLeftAlone] of SYSTEM) {
  const list = systemNamespaces.join(",");
  Deno.test(`isSystemNamespace() is ${isLeftAlone} for ${namespace} with --system-namespaces=${list}`, () => {
    assert.equal(isSystemNamespace(namespace, { systemNamespaces }), isLeftAlone);
    const pod = parsePod({ metadata: { name: "p", namespace }, spec: { containers: [] } });
    const settings = { ...SETTINGS, operatorNamespace: "archway", systemNamespaces };
    const reason = pod === undefined ? undefined : reasonOf(pod, settings);
    assert.equal(reason, isLeftAlone ? "KubeNamespace" : undefined);
  });
}
