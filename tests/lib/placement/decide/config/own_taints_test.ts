import assert from "node:assert/strict";
import { parseConfig } from "../../../../../lib/config/parse.ts";
import { parsePlacementSettings, type PlacementSettings } from "../../../../../lib/placement/decide/config/settings.ts";
import { DEFAULT_SETTINGS, makeSettings } from "../../../../support/placement_settings.ts";
import { parseManagedTaint } from "../../../../../lib/placement/decide/config/arch_taints.ts";
import { type AdmissionChanges, admit, ARCH, ARM64, at, type Json, make, running, settle, valueOf } from "../make.ts";

const OWN = { key: "supported-arch", effect: "NoSchedule" } as const;
const MANAGED: Partial<PlacementSettings> = { toleratedTaints: [OWN], ownTaints: [OWN] };
const ALL = "amd64,arm64,ppc64le,s390x";

function tolerated(raw: unknown): string {
  const tolerations = at(raw, "spec", "tolerations");
  const own = Array.isArray(tolerations) ? tolerations.filter(({ key }) => key === OWN.key) : [];
  assert.ok(own.every(({ operator, effect }) => operator !== "Equal" || effect === "NoSchedule"));
  return own.map(({ value }) => value).join();
}

type Given = Partial<PlacementSettings> & Pick<AdmissionChanges, "known" | "mayGate">;

/** What a new pod tolerates after the webhook, called twice as `reinvocationPolicy` may. */
function tolerationsAdmitted(raw: Json, { known, mayGate = true, ...changes }: Given): string {
  const settings = makeSettings({ ...MANAGED, ...changes });
  const once = (pod: Json): Json => admit(pod, { settings, known, mayGate }).after;
  const first = once(raw);
  assert.equal(tolerated(once(first)), tolerated(first), "the second call changes nothing");
  return tolerated(first);
}

type Admitted = readonly [name: string, pod: Json, ends: string, given?: Given];

const KUBE = { namespace: "kube-system" };
const IN_KUBE = make.pod({}, KUBE);
const DAEMON = make.pod({}, {
  ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }],
});
const TOLERANT = make.pod({ tolerations: [{ operator: "Exists" }] }, KUBE);
const CHOSEN = make.pod({ tolerations: [{ key: OWN.key, value: "arm64", effect: "NoSchedule" }] }, KUBE);
const BY_TERMS = make.pod({ affinity: make.nodeAffinity([make.term([ARCH, ARM64])]) });
const BY_NODE = make.pod({ nodeName: "n" });
const WITHOUT = { toleratedTaints: [], ownTaints: [] };

const ADMITTED: readonly Admitted[] = [
  ["a pod of Archway's own namespace", make.pod({}, { namespace: DEFAULT_SETTINGS.operatorNamespace }), ALL],
  ["a DaemonSet's pod", DAEMON, ALL],
  ["a pod with a node name", BY_NODE, ALL],
  ["a pod for the control plane", make.pod({ nodeSelector: { "node-role.kubernetes.io/control-plane": "" } }), ALL],
  ["a pod that constrains the architecture itself", BY_TERMS, ALL],
  ["a pod of an audited namespace", make.pod(), ALL, { audit: true }],
  ["a pod that is gated, which gets them with its placement", make.pod(), "", { warmAdmission: false }],
  ["a pod that passes because nobody gates", make.pod(), ALL, { warmAdmission: false, mayGate: false }],
  ["a pod that tolerates everything already", TOLERANT, ""],
  ["a pod whose tolerations were chosen by value", CHOSEN, "arm64"],
  ["without the mode, a pod of kube-system", IN_KUBE, "", WITHOUT],
  ["with a taint of the cloud, a pod of kube-system", IN_KUBE, "", { toleratedTaints: [OWN], ownTaints: [] }],
];

for (const [name, pod, ends, given = {}] of ADMITTED) {
  Deno.test(`own taints: ${name} tolerates {${ends}} after admission`, () => {
    assert.equal(tolerationsAdmitted(pod, given), ends);
  });
}

const MULTI = { known: [make.image("multi")] };
const TWO = make.pod(running("multi", "single-amd64"), KUBE);
const APART = make.pod(running("single-arm64", "single-amd64"), KUBE);
const RUNTIMES: Partial<PlacementSettings> = { runtimeClasses: { sandbox: { kind: "skip" } } };

/** Pods that placement leaves alone, by what is known of their images. */
const LEFT_ALONE: readonly Admitted[] = [
  ["of kube-system", IN_KUBE, "amd64,arm64", MULTI],
  ["of kube-system whose images are unknown", IN_KUBE, ALL],
  ["of a DaemonSet", DAEMON, "amd64,arm64", MULTI],
  ["pinned by affinity", BY_TERMS, "amd64,arm64", MULTI],
  ["pinned where no image runs", make.pod({ nodeSelector: { [ARCH]: "s390x" } }), "amd64,arm64", MULTI],
  ["with two images", TWO, "amd64", {
    known: [make.image("multi"), make.image("single-amd64", { depth: "config" })],
  }],
  ["with two images, of which one may be a bundle", TWO, ALL, {
    known: [make.image("multi"), make.image("single-amd64")],
  }],
  ["whose images share none", APART, ALL, { known: [make.image("single-arm64"), make.image("single-amd64")] }],
  ["bound by name", BY_NODE, ALL, MULTI],
  ["whose RuntimeClass is skipped", make.pod({ runtimeClassName: "sandbox" }), ALL, { ...MULTI, ...RUNTIMES }],
  ["without the mode", IN_KUBE, "", { ...MULTI, ...WITHOUT }],
];

for (const [name, pod, ends, given = {}] of LEFT_ALONE) {
  Deno.test(`Q-09 own taints: a pod ${name} tolerates {${ends}}`, () => {
    assert.equal(tolerationsAdmitted(pod, given), ends);
  });
}

/** Images of the sample registry, and what their pod tolerates after its release. */
const RELEASED: readonly (readonly [name: string, images: readonly string[], ends: string])[] = [
  ["all that its images share", ["multi"], "amd64,arm64"],
  ["what three images share, not what two of them do", ["multi", "single-amd64", "multi2"], "amd64"],
  ["nothing where its images share nothing", ["single-amd64", "single-arm64"], ""],
];

for (const [name, images, ends] of RELEASED) {
  Deno.test(`own taints: a released pod tolerates ${name}`, () => {
    const raw = make.gatedPod(running(...images));
    assert.equal(tolerated(settle(raw, { settings: makeSettings(MANAGED), gateAgeMs: 60_000 }).after), ends);
  });
}

Deno.test("parseManagedTaint() accepts the presets, and never owns the key of a cloud", () => {
  const owners = ["archaware", "example.com/arch=arch:NoExecute", "gke", "ack", "kubernetes.io/arch=arch:NoSchedule"]
    .map((text) => {
      const { owner, taint } = valueOf(parseManagedTaint(text));
      return `${owner} ${taint.key}:${taint.effect}`;
    });
  assert.deepEqual(owners, [
    "archway supported-arch:NoSchedule",
    "archway example.com/arch:NoExecute",
    ...Array.from({ length: 3 }, () => "cloud kubernetes.io/arch:NoSchedule"),
  ]);
  assert.equal(parseManagedTaint("nonsense").kind, "unparsable");
});

Deno.test("parsePlacementSettings() makes the managed taint one that placed pods tolerate, and an own one unless it is a cloud's", () => {
  const keysOf = (mode: "manage" | "off", archTaint: string): unknown => {
    const parsed = parseConfig(["serve", `--arch-taints=${mode}`], { env: {}, readFile: () => "" });
    const config = parsed.kind === "run" ? parsed.config : assert.fail(JSON.stringify(parsed));
    const { toleratedTaints, ownTaints } = valueOf(parsePlacementSettings({ ...config, archTaint }));
    return [toleratedTaints, ownTaints].map((all) => all.map(({ key }) => key));
  };
  assert.deepEqual(keysOf("off", "archaware"), [[], []]);
  assert.deepEqual(keysOf("manage", "archaware"), [["supported-arch"], ["supported-arch"]]);
  assert.deepEqual(keysOf("manage", "gke"), [["kubernetes.io/arch"], []]);
});
