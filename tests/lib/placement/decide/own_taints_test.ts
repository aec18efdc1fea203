import assert from "node:assert/strict";
import { parsePlacementOptions } from "../../../../lib/placement/decide/config/options.ts";
import {
  DEFAULT_SETTINGS,
  makeSettings,
  type PlacementSettings,
} from "../../../../lib/placement/decide/config/types.ts";
import { parseManagedTaint } from "../../../../lib/placement/decide/config/arch_taints.ts";
import type { InspectedImage } from "../../../../lib/oci/types.ts";
import { admitted, ARCH, ARM64, at, type Json, make, released } from "./make.ts";

const OWN = { key: "supported-arch", effect: "NoSchedule", architectures: undefined } as const;
const MANAGED: Partial<PlacementSettings> = { archTaints: [OWN], ownTaints: [OWN] };
const ALL = "amd64,arm64,ppc64le,s390x";

function tolerated(raw: unknown): string {
  const tolerations = at(raw, "spec", "tolerations");
  const own = Array.isArray(tolerations) ? tolerations.filter(({ key }) => key === OWN.key) : [];
  assert.ok(own.every(({ operator, effect }) => operator !== "Equal" || effect === "NoSchedule"));
  return own.map(({ value }) => value).join();
}

/** What a new pod tolerates after the webhook, called twice as `reinvocationPolicy` may. */
function tolerationsAdmitted(raw: Json, changes: Partial<PlacementSettings>, mayGate = true): string {
  const once = (pod: Json): Json => {
    const facts = {
      ...make.admission(make.view(pod), { settings: makeSettings({ ...MANAGED, ...changes }) }),
      mayGate,
    };
    return admitted(pod, facts).after;
  };
  const [first] = [once(raw)];
  const second = once(first);
  assert.equal(tolerated(second), tolerated(first), "the second call changes nothing");
  return tolerated(first);
}

const daemonOwner = {
  ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }],
};
const userTerms = { affinity: make.nodeAffinity([make.term([ARCH, ARM64])]) };

const ADMITTED: readonly (readonly [name: string, pod: Json, ends: string, changes?: Partial<PlacementSettings>])[] = [
  ["a pod of kube-system", make.pod({}, { namespace: "kube-system" }), ALL],
  ["a pod of Archway's own namespace", make.pod({}, { namespace: DEFAULT_SETTINGS.operatorNamespace }), ALL],
  ["a DaemonSet's pod", make.pod({}, daemonOwner), ALL],
  ["a pod with a node name", make.pod({ nodeName: "n" }), ALL],
  ["a pod for the control plane", make.pod({ nodeSelector: { "node-role.kubernetes.io/control-plane": "" } }), ALL],
  ["a pod that constrains the architecture itself", make.pod(userTerms), ALL],
  ["a pod of an audited namespace", make.pod(), ALL, { audit: true }],
  ["a pod that is gated, which gets them with its placement", make.pod(), "", { warmAdmission: false }],
  [
    "a pod that tolerates everything already",
    make.pod({ tolerations: [{ operator: "Exists" }] }, { namespace: "kube-system" }),
    "",
  ],
  [
    "a pod whose tolerations were chosen by value",
    make.pod({ tolerations: [{ key: OWN.key, value: "arm64", effect: "NoSchedule" }] }, { namespace: "kube-system" }),
    "arm64",
  ],
  ["without the mode, a pod of kube-system", make.pod({}, { namespace: "kube-system" }), "", {
    archTaints: [],
    ownTaints: [],
  }],
  [
    "with a taint of the cloud, a pod of kube-system",
    make.pod({}, { namespace: "kube-system" }),
    "",
    { archTaints: [OWN], ownTaints: [] },
  ],
];

for (const [name, pod, ends, changes = {}] of ADMITTED) {
  Deno.test(`own taints: ${name} tolerates {${ends}} after admission`, () => {
    assert.equal(tolerationsAdmitted(pod, changes), ends);
  });
}

interface LeftAlone {
  readonly name: string;
  readonly pod: Json;
  readonly known: readonly InspectedImage[] | undefined;
  readonly ends: string;
  readonly changes?: Partial<PlacementSettings>;
}

const KUBE = { namespace: "kube-system" };
const MULTI = [make.image("multi")];
const two = (first: string, second: string): Json => ({
  containers: [make.container(first), make.container(second)],
});
const RUNTIMES: Partial<PlacementSettings> = { runtimeClasses: { sandbox: { kind: "skip" } } };

/** Pods that placement leaves alone, by what is known of their images. */
const LEFT_ALONE: readonly LeftAlone[] = [
  { name: "of kube-system", pod: make.pod({}, KUBE), known: MULTI, ends: "amd64,arm64" },
  { name: "of kube-system whose images are unknown", pod: make.pod({}, KUBE), known: undefined, ends: ALL },
  { name: "of a DaemonSet", pod: make.pod({}, daemonOwner), known: MULTI, ends: "amd64,arm64" },
  { name: "pinned by affinity", pod: make.pod(userTerms), known: MULTI, ends: "amd64,arm64" },
  {
    name: "pinned where no image runs",
    pod: make.pod({ nodeSelector: { [ARCH]: "s390x" } }),
    known: MULTI,
    ends: "amd64,arm64",
  },
  {
    name: "with two images",
    pod: make.pod(two("multi", "single-amd64"), KUBE),
    known: [make.image("multi"), make.image("single-amd64", { depth: "config" })],
    ends: "amd64",
  },
  {
    name: "with two images, of which one may be a bundle",
    pod: make.pod(two("multi", "single-amd64"), KUBE),
    known: [make.image("multi"), make.image("single-amd64")],
    ends: ALL,
  },
  {
    name: "whose images share none",
    pod: make.pod(two("single-arm64", "single-amd64"), KUBE),
    known: [make.image("single-arm64"), make.image("single-amd64")],
    ends: ALL,
  },
  { name: "bound by name", pod: make.pod({ nodeName: "n" }), known: MULTI, ends: ALL },
  {
    name: "whose RuntimeClass is skipped",
    pod: make.pod({ runtimeClassName: "sandbox" }),
    known: MULTI,
    ends: ALL,
    changes: RUNTIMES,
  },
  {
    name: "without the mode",
    pod: make.pod({}, KUBE),
    known: MULTI,
    ends: "",
    changes: { archTaints: [], ownTaints: [] },
  },
];

for (const { name, pod, known, ends, changes = {} } of LEFT_ALONE) {
  Deno.test(`Q-09 own taints: a pod ${name} tolerates {${ends}}`, () => {
    const settings = makeSettings({ ...MANAGED, ...changes });
    const admit = (raw: Json): Json => admitted(raw, make.admission(make.view(raw), { settings, known })).after;
    const first = admit(pod);
    assert.equal(tolerated(first), ends);
    assert.equal(tolerated(admit(first)), ends, "the second call changes nothing");
  });
}

Deno.test(`own taints: a pod that passes because nobody gates tolerates {${ALL}}`, () => {
  assert.equal(tolerationsAdmitted(make.pod(), { warmAdmission: false }, false), ALL);
});

/** Images of the sample registry, and what their pod tolerates after its release. */
const RELEASED: readonly (readonly [name: string, spec: Json, ends: string])[] = [
  ["all that its images share", { containers: [make.container("multi")] }, "amd64,arm64"],
  [
    "what three images share, not what two of them do",
    { containers: [make.container("multi"), make.container("single-amd64"), make.container("multi2")] },
    "amd64",
  ],
  [
    "nothing where its images share nothing",
    { containers: [make.container("single-amd64"), make.container("single-arm64")] },
    "",
  ],
];

for (const [name, spec, ends] of RELEASED) {
  Deno.test(`own taints: a released pod tolerates ${name}`, () => {
    const raw = make.gatedPod(spec);
    const facts = make.facts(raw, { settings: makeSettings(MANAGED), gateAgeMs: 60_000 });
    const { after } = released(raw, facts);
    assert.equal(tolerated(after), ends);
  });
}

Deno.test("parseManagedTaint() accepts the presets, and never owns the key of a cloud", () => {
  const owners = ["archaware", "example.com/arch=arch:NoExecute", "gke", "ack", "kubernetes.io/arch=arch:NoSchedule"]
    .map((text) => {
      const parsed = parseManagedTaint(text);
      return parsed.kind === "parsed"
        ? `${parsed.value.owner} ${parsed.value.taint.key}:${parsed.value.taint.effect}`
        : "?";
    });
  assert.deepEqual(owners, [
    "archway supported-arch:NoSchedule",
    "archway example.com/arch:NoExecute",
    ...Array.from({ length: 3 }, () => "cloud kubernetes.io/arch:NoSchedule"),
  ]);
  assert.equal(parseManagedTaint("nonsense").kind, "unparsable");
});

Deno.test("parsePlacementOptions() makes the managed taint one that placed pods tolerate, and an own one unless it is a cloud's", () => {
  const base = {
    namespace: "archway",
    systemNamespaces: [],
    maxGateAge: 60_000,
    warmAdmission: true,
    tolerateArchTaints: [],
    variantLabels: [],
    runtimeClasses: [],
    imageVolumes: "auto",
    daemonsets: "ignore",
    audit: false,
  } as const;
  const keysOf = (archTaints: "manage" | "off", archTaint: string): unknown => {
    const parsed = parsePlacementOptions({ ...base, archTaints, archTaint });
    assert.equal(parsed.kind, "parsed");
    return parsed.kind === "parsed" &&
      [parsed.value.archTaints, parsed.value.ownTaints].map((all) => all.map(({ key }) => key));
  };
  assert.deepEqual(keysOf("off", "archaware"), [[], []]);
  assert.deepEqual(keysOf("manage", "archaware"), [["supported-arch"], ["supported-arch"]]);
  assert.deepEqual(keysOf("manage", "gke"), [["kubernetes.io/arch"], []]);
});
