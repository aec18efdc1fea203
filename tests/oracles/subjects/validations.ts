// Whether a plan can be carried out: its time, its version, what the cluster and the update service offer, its image.
import { isObject, memberOf, textAt } from "../../../lib/json.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { releasesFrom } from "../../../lib/upgrades/decide/release/graph.ts";
import { currentVersionOf } from "../../../lib/upgrades/decide/release/target.ts";
import { validatePlan } from "../../../lib/upgrades/decide/release/validate.ts";
import { parseClusterVersion } from "../../../lib/upgrades/decide/types/cluster.ts";
import { parseUpgradeConfig } from "../../../lib/upgrades/decide/types/plan.ts";
import { makeConfig, seen, unseen } from "../../lib/upgrades/decide/make_plan.ts";
import type { Draw, Subject } from "../subject.ts";

interface Given {
  readonly plan: KubeObject;
  readonly clusterVersion: KubeObject;
  readonly cincinnati: boolean;
  readonly graph: {
    readonly nodes: readonly { readonly version: string; readonly payload: string }[];
    readonly edges: readonly (readonly [number, number])[];
  };
  /** `io.openshift.release` of the image; null: there is no such image. */
  readonly release: string | null;
}

const CHANNELS = ["stable-4.17", "stable-4.18"] as const;
const VERSIONS = ["4.16.9", "4.17.1", "4.17.2", "4.17.10", "4.18.0-rc.1", "4.18.0", "4.18.3"] as const;
const ODD = [
  "4.17",
  "4.17.02",
  "v4.17.2",
  "4.18.0-rc.01",
  "4.17.2+7",
  "4.18.0-",
  "4.18.0-0.nightly-x",
  " 4.17.2",
] as const;
const TIME = "2026-03-01T20:00:00Z";
const ODD_TIMES = [
  "2026-03-01T20:00:00+02:00",
  "2026-03-01T20:00:00.25Z",
  "2026-02-30T20:00:00Z",
  "2024-02-29T20:00:00Z",
  "2026-03-01T24:00:00Z",
  "2026-03-01T20:00:60Z",
  "2026-03-01 20:00:00Z",
  "2026-03-01T20:00:00",
  "2026-03-01",
  "soon",
] as const;
const DIGEST = `sha256:${"2".repeat(64)}`;
const IMAGES = [
  `quay.io/openshift/release@${DIGEST}`,
  `registry.test:5000/openshift/release@${DIGEST}`,
  "quay.io/openshift/release:4.17.2",
  `quay.io/release@${DIGEST}`,
  `openshift/release@${DIGEST}`,
  "quay.io/openshift/release@sha256:1",
  "not an image",
] as const;

function drawHistory(draw: Draw): readonly unknown[] {
  return draw.many(draw.below(4), (at) => {
    const isCompleted = at > 0 || draw.chance(0.8);
    return {
      version: draw.pick(VERSIONS),
      image: `quay.io/openshift/release@sha256:${at}`,
      state: isCompleted ? "Completed" : "Partial",
      startedTime: `2026-01-0${4 - at}T10:00:00Z`,
      completionTime: isCompleted ? `2026-01-0${4 - at}T1${draw.below(3)}:00:00Z` : null,
      verified: true,
    };
  });
}

function drawOffers(draw: Draw): readonly unknown[] {
  return VERSIONS.filter(() => draw.chance(0.4)).map((version) => ({ version, image: `registry.test/${version}` }));
}

function drawClusterVersion(draw: Draw): KubeObject {
  return {
    metadata: { name: "version" },
    spec: { clusterID: "6f9b6e84-0c1b-4f5e-9d0a-0a0a0a0a0a0a", channel: CHANNELS[0] },
    status: {
      desired: { version: "4.17.1", image: "" },
      history: drawHistory(draw),
      availableUpdates: drawOffers(draw),
      conditionalUpdates: drawOffers(draw).map((release) => ({ release, risks: [] })),
      observedGeneration: 1,
      versionHash: "",
    },
  };
}

/** No conditional edges: see README.md. */
function drawGraph(draw: Draw): Given["graph"] {
  const nodes = VERSIONS.filter(() => draw.chance(0.8)).map((version) => ({
    version,
    payload: `registry.test/${version}`,
  }));
  const edges = nodes.flatMap((_, from) =>
    nodes.flatMap((_, to): [number, number][] => to > from && draw.chance(0.5) ? [[from, to]] : [])
  );
  return { nodes, edges };
}

function drawGiven(draw: Draw): Given {
  const version = draw.chance(0.15) ? draw.pick(["", ...ODD]) : draw.pick(VERSIONS);
  const byImage = draw.chance(0.2) ? { image: draw.chance(0.6) ? IMAGES[0] : draw.pick(IMAGES) } : {};
  const channel = draw.chance(0.05) && version === "" ? "" : draw.pick(CHANNELS);
  return {
    plan: {
      metadata: { name: "managed-upgrade-config", namespace: "test" },
      spec: {
        type: "OSD",
        PDBForceDrainTimeout: 60,
        upgradeAt: draw.chance(0.15) ? draw.pick(ODD_TIMES) : TIME,
        desired: { version, channel, ...byImage },
      },
    },
    clusterVersion: drawClusterVersion(draw),
    cincinnati: draw.chance(0.7),
    graph: drawGraph(draw),
    // Of an image without the label see README.md.
    release: draw.chance(0.15) ? null : draw.pick(VERSIONS),
  };
}

export const VALIDATIONS: Subject<Given> = {
  name: "validations",
  original: "managed-upgrade-operator",
  ask: "validation",
  count: 2000,
  kept: 200,
  draw: drawGiven,
  ours({ plan, clusterVersion, cincinnati, graph, release }): unknown {
    const cluster = parseClusterVersion(clusterVersion);
    const current = currentVersionOf(cluster) ?? "";
    const isListed = graph.nodes.some(({ version }) => version === current);
    const { offered } = releasesFrom({ ...graph, conditionalEdges: [] }, current);
    const verdict = validatePlan({
      plan: parseUpgradeConfig(plan),
      config: makeConfig({ validation: { cincinnati } }),
      clusterVersion: cluster,
      read: {
        graph: isListed ? seen(offered) : unseen(),
        payload: release === null
          ? unseen()
          : seen({ image: "", version: release, isIndex: false, architectures: ["amd64"] }),
      },
    });
    if (verdict.kind === "adoptVersion") return { kind: verdict.kind, version: verdict.version };
    return { kind: verdict.kind };
  },
  compared(theirs, { plan }): unknown {
    const named = textAt(isObject(plan.spec) ? plan.spec.desired : undefined, "version");
    const [message, version] = [textAt(theirs, "message"), textAt(theirs, "version")];
    // It is tried again with an error; ours is said once (M-118).
    if (/matches the current version/.test(message)) return { kind: "nothingToDo" };
    if (memberOf(theirs, "isValid") !== true || memberOf(theirs, "isUpdate") !== true) return { kind: "invalid" };
    return version === named ? { kind: "valid" } : { kind: "adoptVersion", version };
  },
};
