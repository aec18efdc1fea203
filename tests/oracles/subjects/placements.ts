// What a pod gets from the MTO by its admission and by its release: labels, audit, gate, node affinity. See README.md.
import { isObject, memberOf, objectAt } from "../../../lib/json.ts";
import {
  parseClusterConfig,
  parseNamespaceConfig,
  type PlacementConfigs,
} from "../../../lib/placement/decide/config/config.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { NO_SUPPORTED_ARCH, PodAnnotation } from "../../../lib/names.ts";
import { type Parsed } from "../../../lib/parsed.ts";
import {
  admissionFacts,
  admitted,
  factsOf,
  failedFact,
  gatesOf,
  type Json,
  platformsFact,
  podOf,
  released,
} from "../../lib/placement/decide/make.ts";
import type { Draw, Subject } from "../subject.ts";

interface Given {
  readonly pod: Json;
  readonly cluster: Json;
  readonly namespaced: { readonly items: readonly Json[] };
  readonly images: Readonly<Record<string, readonly string[]>>;
}

const ARCH = "kubernetes.io/arch";
const ARCHITECTURES = ["amd64", "arm64", "ppc64le", "s390x"] as const;
/** One that has no architectures cannot be inspected. */
const IMAGES = {
  "registry.test/amd": ["amd64"],
  "registry.test/arm": ["arm64"],
  "registry.test/both": ["amd64", "arm64"],
  "registry.test/two": ["arm64", "s390x"],
  "registry.test/all": ARCHITECTURES,
  "registry.test/new": ["amd64", "riscv64"],
} as const;
const NAMES = ["registry.test/missing", ...Object.keys(IMAGES)] as const;
const LISTS = ["requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"];
/** As the operator has them. */
const SETTINGS = makeSettings({ operatorNamespace: "default", systemNamespaces: ["kube-*"] });

function drawExpression(draw: Draw): Json {
  return draw.pick([
    { key: "zone", operator: "In", values: ["a", "b"] },
    { key: "disk", operator: "Exists" },
    { key: ARCH, operator: "In", values: [draw.pick(ARCHITECTURES)] },
    { key: ARCH, operator: "NotIn", values: ["arm64"] },
    { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
  ]);
}

function drawTerm(draw: Draw): Json {
  const matchExpressions = draw.many(1 + draw.below(2), () => drawExpression(draw));
  const matchFields = [{ key: "metadata.name", operator: "In", values: ["node-1"] }];
  return draw.pick([{ matchExpressions }, { matchExpressions, matchFields }, { matchFields }, { matchExpressions }]);
}

function drawAffinity(draw: Draw): Json {
  const nodeSelectorTerms = draw.many(1 + draw.below(3), () => drawTerm(draw));
  const preferred = draw.many(1 + draw.below(2), () => ({ weight: 1 + draw.below(100), preference: drawTerm(draw) }));
  const [required, weighed] = [draw.chance(0.6), draw.chance(0.4)];
  return {
    nodeAffinity: {
      ...required ? { [LISTS[0] ?? ""]: { nodeSelectorTerms } } : {},
      ...weighed ? { [LISTS[1] ?? ""]: preferred } : {},
    },
  };
}

function drawContainer(draw: Draw, at: number): Json {
  const image = draw.chance(0.05) ? NAMES[0] : draw.pick(NAMES);
  return { name: `c${at}`, image, imagePullPolicy: draw.pick(["Always", "IfNotPresent", "Never"]) };
}

function drawSpec(draw: Draw): Json {
  const rarely = (share: number, part: Json): Json => draw.chance(share) ? part : {};
  const selected = draw.pick([ARCH, "zone", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"]);
  return {
    containers: draw.many(1 + draw.below(2), (at) => drawContainer(draw, at)),
    ...rarely(0.2, { initContainers: [drawContainer(draw, 9)] }),
    ...rarely(0.04, { nodeName: "node-1" }),
    ...rarely(0.15, { nodeSelector: { [selected]: "amd64" } }),
    ...rarely(0.1, { schedulingGates: [{ name: "test.dev/other" }] }),
    ...rarely(0.5, { affinity: draw.chance(0.1) ? { podAffinity: {} } : drawAffinity(draw) }),
  };
}

function drawPod(draw: Draw): Json {
  const owner = { apiVersion: "apps/v1", kind: draw.pick(["DaemonSet", "ReplicaSet"]), name: "owner", uid: "owner" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "pod",
      namespace: draw.chance(0.1) ? draw.pick(["default", "kube-system"]) : "test",
      ...draw.chance(0.5) ? { labels: { app: draw.pick(["a", "b"]) } } : {},
      ...draw.chance(0.2) ? { annotations: { note: "a pod" } } : {},
      ...draw.chance(0.2) ? { ownerReferences: [{ ...owner, controller: draw.chance(0.5) }] } : {},
    },
    spec: drawSpec(draw),
  };
}

/** Each architecture once: more are refused where the plugin is on. */
function drawPlugins(draw: Draw): Json {
  const platforms = ARCHITECTURES.filter(() => draw.chance(0.4)).map((architecture) => ({
    architecture,
    weight: 1 + draw.below(100),
  }));
  return draw.chance(0.6) ? { plugins: { nodeAffinityScoring: { enabled: draw.chance(0.8), platforms } } } : {};
}

function drawNamespaced(draw: Draw, at: number): Json {
  const labelSelector = draw.pick([
    undefined,
    {},
    { matchLabels: { app: "a" } },
    { matchExpressions: [{ key: "app", operator: "NotIn", values: ["a"] }] },
    { matchExpressions: [{ key: "app", operator: "Sometimes", values: ["a"] }] },
  ]);
  return {
    metadata: { name: `config-${at}`, namespace: "test" },
    spec: {
      // None has that of another.
      priority: draw.below(80) * 3 + at,
      ...labelSelector === undefined ? {} : { labelSelector },
      ...drawPlugins(draw),
    },
  };
}

function drawGiven(draw: Draw): Given {
  const fallback = draw.chance(0.4) ? { fallbackArchitecture: draw.pick(ARCHITECTURES) } : {};
  const pod = drawPod(draw);
  const isInTest = memberOf(pod.metadata, "namespace") === "test";
  return {
    pod,
    cluster: { metadata: { name: "cluster", uid: "cluster" }, spec: { ...fallback, ...drawPlugins(draw) } },
    namespaced: { items: isInTest ? draw.many(draw.below(4), (at) => drawNamespaced(draw, at)) : [] },
    images: IMAGES,
  };
}

function valueOf<T>(parsed: Parsed<T>): T {
  if (parsed.kind === "parsed") return parsed.value;
  throw new Error(parsed.fault.message);
}

function configsOf({ cluster, namespaced }: Given): PlacementConfigs {
  return {
    cluster: valueOf(parseClusterConfig(cluster)),
    namespace: namespaced.items.map((one) => valueOf(parseNamespaceConfig(one))),
  };
}

/** What of a pod is compared. */
function viewOf({ labels, annotations, gates, nodeAffinity }: Json): Json {
  const notes = { ...isObject(annotations) ? annotations : {} };
  delete notes[PodAnnotation.decision];
  if (PodAnnotation.inspectError in notes) notes[PodAnnotation.inspectError] = "an error";
  const audit = String(notes[PodAnnotation.preferredSources] ?? "").split(",");
  // After a failed attempt the original has what it preferred before as skipped, too.
  const once = audit.filter((entry) => !audit.includes(entry.replace(/:skipped$/, "")) || !entry.endsWith(":skipped"));
  const marks = { ...isObject(labels) ? labels : {} };
  delete marks[NO_SUPPORTED_ARCH];
  const isEmpty = !isObject(nodeAffinity) || Object.keys(nodeAffinity).length === 0;
  return {
    notes: { ...notes, audit: once, [PodAnnotation.preferredSources]: "" },
    marks,
    gates,
    nodeAffinity: isEmpty ? null : nodeAffinity,
  };
}

function ourView(pod: Json): Json {
  const { labels, annotations } = objectAt(pod, "metadata") ?? {};
  const nodeAffinity = objectAt(objectAt(objectAt(pod, "spec"), "affinity"), "nodeAffinity");
  return viewOf({ labels, annotations, gates: gatesOf(pod), nodeAffinity });
}

export const PLACEMENTS: Subject<Given> = {
  name: "placements",
  original: "multiarch-tuning-operator",
  ask: "placement",
  count: 1500,
  kept: 60,
  draw: drawGiven,
  ours(given): unknown {
    const configs = configsOf(given);
    const settings = { ...SETTINGS, warmAdmission: false };
    const created = admitted(given.pod, admissionFacts(podOf(given.pod), { configs, settings }));
    if (created.verdict.kind !== "gate") return { admitted: ourView(created.after), released: ourView(created.after) };
    const images = podOf(created.after).containers.map(({ image }) => {
      const architectures = given.images[image];
      if (architectures === undefined) return failedFact(image, { kind: "permanent", reason: "ManifestUnknown" });
      return platformsFact(image, architectures.map((architecture) => ({ os: "linux", architecture })));
    });
    const facts = factsOf(created.after, { configs, settings, images, failedAttempts: 4 });
    return { admitted: ourView(created.after), released: ourView(released(created.after, facts).after) };
  },
  compared(theirs): unknown {
    return {
      admitted: viewOf(objectAt(theirs, "admitted") ?? {}),
      released: viewOf(objectAt(theirs, "released") ?? {}),
    };
  },
};
