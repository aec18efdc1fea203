// The sample pods of each scenario, and how each must end.
import { KubeVirt, NODE_ARCH_LABEL } from "../lib/names.ts";
import type { JsonObject } from "./json_value.ts";

export type PodDecision = "unseen" | "waiting" | "ignore" | "place" | "nowhere" | "fallback" | "release";

export interface Expectation {
  /** Of the required node affinity or the node selector; empty: none. */
  readonly architectures: readonly string[];
  readonly decision: PodDecision;
  /** Architectures of nodes it may be on; empty: it must stay unscheduled. */
  readonly nodes: readonly string[];
  /** Whether it must be reported that it runs a program of another architecture; absent: that is not checked. */
  readonly reported?: boolean | undefined;
  /** Architectures whose taint it must tolerate; absent: that is not checked. */
  readonly tolerates?: readonly string[] | undefined;
  /** Whether an event must say that an image contradicts what the pod names itself, or its node; absent: that is not checked. */
  readonly contradicted?: boolean | undefined;
  /** For readers of the table. */
  readonly why?: string | undefined;
}

/**
 * Which samples: how pods are placed, what is said of those that are where they cannot run, architecture taints, or pods that are
 * unusual. With `upgrade` there are none, nor nodes: the scenario creates its own; with `image-build` there are nodes alone.
 */
export type Scenario = "placement" | "exec-format-error" | "taints" | "upgrade" | "image-build" | "odd-pods";

/** The secret of the private images. */
export const PULL_SECRET = "registry-credentials";

export interface Sample {
  readonly name: string;
  /** Repositories of its containers; all have the tag `v1`. */
  readonly images: readonly string[];
  readonly expect: Expectation;
  /** In its texts `REGISTRY/` stands for the address of the registry. */
  readonly spec?: JsonObject;
  readonly labels?: Readonly<Record<string, string>>;
  readonly container?: JsonObject;
  /** The repository that its first container's image is exchanged for once it runs. */
  readonly exchange?: string;
}

const AMD64: Expectation = { decision: "place", architectures: ["amd64"], nodes: ["amd64"] };
const ARM64: Expectation = { decision: "place", architectures: ["arm64"], nodes: ["arm64"] };

const SAMPLES: readonly Sample[] = [
  {
    name: "multi-arch",
    images: ["demo/web"],
    expect: { decision: "place", architectures: ["amd64", "arm64"], nodes: ["amd64", "arm64"] },
  },
  { name: "arm64-only", images: ["demo/edge"], expect: ARM64 },
  { name: "amd64-only", images: ["demo/legacy"], expect: AMD64 },
  { name: "one-in-common", images: ["demo/web", "demo/metrics"], expect: ARM64 },
  {
    name: "none-in-common",
    images: ["demo/edge", "demo/legacy"],
    expect: { decision: "nowhere", architectures: [], nodes: [] },
  },
  {
    name: "image-missing",
    images: ["demo/missing"],
    expect: { decision: "fallback", architectures: ["amd64"], nodes: ["amd64"] },
  },
  {
    name: "private-image",
    images: ["private/app", "demo/sidecar"],
    spec: { imagePullSecrets: [{ name: PULL_SECRET }] },
    expect: ARM64,
  },
  {
    name: "needs-nothing",
    images: ["demo/web"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "arm64" } },
    expect: { decision: "ignore", architectures: ["arm64"], nodes: ["arm64"] },
  },
];

const MISPLACED: readonly Sample[] = [
  {
    name: "placed",
    images: ["demo/web"],
    expect: {
      decision: "place",
      architectures: ["amd64", "arm64"],
      nodes: ["amd64", "arm64"],
      reported: false,
      why: "its image has programs for both, as it claims",
    },
  },
  {
    name: "bound-by-hand",
    images: ["demo/edge"],
    spec: { nodeName: "amd64-1" },
    expect: {
      decision: "ignore",
      architectures: [],
      nodes: ["amd64"],
      reported: true,
      why: "its node is amd64, its image has arm64 alone",
    },
  },
  {
    name: "lying-image",
    images: ["demo/lying"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "amd64" } },
    container: { terminationMessagePolicy: "FallbackToLogsOnError" },
    expect: {
      decision: "ignore",
      architectures: ["amd64"],
      nodes: ["amd64"],
      reported: true,
      why: "its image claims amd64 and holds a program for arm64",
    },
  },
  {
    name: "merely-fails",
    images: ["demo/failing"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "amd64" } },
    expect: {
      decision: "ignore",
      architectures: ["amd64"],
      nodes: ["amd64"],
      reported: false,
      why: "its program fails, but is one for its node",
    },
  },
];

const EVERY_ARCHITECTURE = ["amd64", "arm64", "ppc64le", "s390x"];

/** Nodes with taints: what is placed tolerates what was decided, everything else every architecture. */
const TAINTED: readonly Sample[] = [
  {
    name: "placed",
    images: ["demo/edge"],
    expect: { ...ARM64, tolerates: ["arm64"], why: "its image has arm64: it tolerates that taint alone" },
  },
  {
    name: "three-images",
    images: ["demo/web", "demo/sidecar", "demo/legacy"],
    expect: { ...AMD64, tolerates: ["amd64"], why: "all three have amd64 alone in common" },
  },
  {
    name: "none-in-common",
    images: ["demo/edge", "demo/legacy"],
    expect: {
      decision: "nowhere",
      architectures: [],
      nodes: [],
      tolerates: [],
      why: "no node can run it, so it tolerates nothing",
    },
  },
  {
    name: "left-alone",
    images: ["demo/sidecar"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "ppc64le" } },
    expect: {
      decision: "ignore",
      architectures: ["ppc64le"],
      nodes: ["ppc64le"],
      tolerates: EVERY_ARCHITECTURE,
      why: "it names its node's architecture itself: it tolerates all its image has",
    },
  },
];

/** The label of the nodes that run guests of arm64, for `machine`. */
export const RUNS_ARM64_GUESTS = `${KubeVirt.guestLabel}arm64`;

/** The label of the node that no kubelet has labelled, for `for-virtual-node`. */
export const VIRTUAL_NODE = { type: "virtual-kubelet" } as const;

/** Pods that are unusual. */
const ODD: readonly Sample[] = [
  {
    name: "virtual-machine",
    images: ["demo/legacy"],
    labels: { [KubeVirt.label]: KubeVirt.launcher },
    spec: {
      nodeSelector: { [RUNS_ARM64_GUESTS]: "true" },
      initContainers: [{ name: "disk", image: "REGISTRY/demo/edge:v1", command: [KubeVirt.diskProgram, "--no-op"] }],
    },
    expect: { ...AMD64, why: "its launcher is amd64; the disk of its arm64 guest is data" },
  },
  {
    name: "image-volumes",
    images: ["demo/web"],
    spec: {
      volumes: [
        { name: "model", image: { reference: "REGISTRY/demo/model:v1" } },
        { name: "data", image: { reference: "REGISTRY/demo/edge:v1" } },
      ],
    },
    expect: { ...AMD64, why: "one volume is an index of amd64; the other, one manifest, fits all" },
  },
  {
    name: "wasm-and-sidecar",
    images: ["demo/wasm"],
    spec: {
      runtimeClassName: "wasmtime",
      initContainers: [{ name: "sidecar", image: "REGISTRY/demo/legacy:v1", restartPolicy: "Always" }],
    },
    expect: { ...AMD64, why: "its RuntimeClass runs Wasm anywhere, its native sidecar needs amd64" },
  },
  {
    name: "pinned-wrongly",
    images: ["demo/legacy"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "arm64" } },
    expect: {
      decision: "ignore",
      architectures: ["arm64"],
      nodes: ["arm64"],
      contradicted: true,
      why: "it asks for arm64, its image has amd64: left alone, and reported",
    },
  },
  {
    name: "image-exchanged",
    images: ["demo/edge"],
    exchange: "demo/legacy",
    expect: { ...ARM64, contradicted: true, why: "it runs on arm64; its image became one of amd64: reported" },
  },
  {
    name: "for-virtual-node",
    images: ["demo/web"],
    spec: { nodeSelector: VIRTUAL_NODE },
    expect: {
      decision: "place",
      architectures: ["amd64", "arm64"],
      nodes: [],
      why: "its node lacks the label kubernetes.io/arch: a condition names it",
    },
  },
  {
    name: "signed",
    images: ["demo/signed"],
    expect: { ...ARM64, why: "the policy wants it signed: placed by its manifest" },
  },
];

/** Pods that run before Archway does. */
export const RUNNING: Readonly<Partial<Record<Scenario, readonly Sample[]>>> = {
  taints: [{
    name: "ran-before",
    images: ["demo/edge"],
    spec: { nodeName: "arm64-1" },
    expect: {
      decision: "unseen",
      architectures: [],
      nodes: ["arm64"],
      tolerates: ["arm64"],
      why: "it ran before the taints, and got its toleration first",
    },
  }],
};

export const OF_SCENARIO: Readonly<Record<Scenario, readonly Sample[]>> = {
  "placement": SAMPLES,
  "exec-format-error": MISPLACED,
  "taints": TAINTED,
  "upgrade": [],
  "image-build": [],
  "odd-pods": ODD,
};
