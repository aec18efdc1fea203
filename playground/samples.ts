// The sample cluster of `archway dev`: nodes, configuration, images and pods. Each pod says how it must end.
import { API_GROUP, CLUSTER_CONFIG_NAME, NODE_ARCH_LABEL, NODE_OS_LABEL } from "../lib/names.ts";
import type { JsonObject } from "./json_value.ts";
import type { ImageDescription } from "./registry_images.ts";

export const SAMPLE_NAMESPACE = "demo";

/** Pod annotation with the {@link Expectation} as JSON: how a sample must end. */
export const EXPECT_ANNOTATION = "archway.dev/expect";

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
}

/**
 * Which samples: how pods are placed, what is said of those that are where they cannot run, or architecture taints. With
 * `upgrade` there are none, nor nodes: the scenario creates its own; with `image-build` there are nodes alone.
 */
export type Scenario = "placement" | "exec-format-error" | "taints" | "upgrade" | "image-build";

/** The one user of the registry's private repositories. */
export const REGISTRY_USER = { name: "demo", password: "playground" } as const;

const PULL_SECRET = "registry-credentials";

/** The nodes: two amd64, one arm64, one ppc64le. */
export function sampleNodes(): readonly JsonObject[] {
  return [
    sampleNode("amd64-1", "amd64"),
    sampleNode("amd64-2", "amd64"),
    sampleNode("arm64-1", "arm64"),
    sampleNode("ppc64le-1", "ppc64le"),
  ];
}

function sampleNode(name: string, architecture: string): JsonObject {
  const resources = { cpu: "8", memory: "32Gi", pods: "250" };
  return {
    metadata: {
      name,
      labels: {
        [NODE_ARCH_LABEL]: architecture,
        [NODE_OS_LABEL]: "linux",
        "kubernetes.io/hostname": name,
        "node-role.kubernetes.io/worker": "",
      },
    },
    spec: {},
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
      nodeInfo: { architecture, operatingSystem: "linux", kubeletVersion: "v1.36.3" },
    },
  };
}

/** The ClusterPodPlacementConfig: everything on, amd64 when an image cannot be inspected. */
export function sampleClusterConfig(): JsonObject {
  return {
    apiVersion: `${API_GROUP}/v1beta1`,
    kind: "ClusterPodPlacementConfig",
    metadata: { name: CLUSTER_CONFIG_NAME },
    spec: { logVerbosity: "Normal", fallbackArchitecture: "amd64" },
  };
}

const BUNDLE_LABELS = {
  "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
  "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
} as const;

/** What the registry serves: every form an image comes in. */
export function sampleImages(): readonly ImageDescription[] {
  return [
    image("demo/web", ["amd64", "arm64"], { form: "oci-index", attested: true }),
    image("demo/metrics", ["arm64", "ppc64le"], { form: "docker-list" }),
    image("demo/sidecar", ["amd64", "arm64", "ppc64le", "s390x"], { form: "docker-list" }),
    image("demo/edge", ["arm64"], { form: "oci-manifest" }),
    image("demo/legacy", ["amd64"], { form: "docker-manifest" }),
    image("demo/bundle", ["amd64"], { form: "docker-manifest", labels: BUNDLE_LABELS }),
    image("private/app", ["arm64"], { form: "oci-index", access: "token" }),
    image("private/tool", ["amd64"], { form: "oci-index", access: "basic" }),
    image("demo/lying", ["amd64", "arm64"], { form: "oci-index" }),
    image("demo/failing", ["amd64", "arm64"], { form: "oci-index" }),
  ];
}

/** Repositories whose programs are not what their images claim: the architectures that they run on. */
const PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map([["demo/lying:v1", ["arm64"]], [
  "demo/failing:v1",
  [],
]]);

/** What the program of an image runs on; undefined: what the image claims. */
export function programsOf(image: string): readonly string[] | undefined {
  return PROGRAMS.get(image);
}

function image(
  repository: string,
  architectures: readonly string[],
  rest: Omit<ImageDescription, "repository" | "tag" | "architectures">,
): ImageDescription {
  return { repository, tag: "v1", architectures, ...rest };
}

/** The login of the registry's user, as docker keeps it in `config.json`. */
export function renderDockerConfig(registryHost: string): string {
  const { name: username, password } = REGISTRY_USER;
  return JSON.stringify({ auths: { [registryHost]: { username, password, auth: btoa(`${username}:${password}`) } } });
}

export function samplePullSecret(registryHost: string): JsonObject {
  return {
    metadata: { name: PULL_SECRET, namespace: SAMPLE_NAMESPACE },
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": btoa(renderDockerConfig(registryHost)) },
  };
}

interface Sample {
  readonly name: string;
  /** Repositories of its containers; all have the tag `v1`. */
  readonly images: readonly string[];
  readonly expect: Expectation;
  readonly spec?: JsonObject;
  readonly container?: JsonObject;
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
    expect: { decision: "place", architectures: ["amd64", "arm64"], nodes: ["amd64", "arm64"], reported: false },
  },
  {
    name: "bound-by-hand",
    images: ["demo/edge"],
    spec: { nodeName: "amd64-1" },
    expect: { decision: "ignore", architectures: [], nodes: ["amd64"], reported: true },
  },
  {
    name: "lying-image",
    images: ["demo/lying"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "amd64" } },
    container: { terminationMessagePolicy: "FallbackToLogsOnError" },
    expect: { decision: "ignore", architectures: ["amd64"], nodes: ["amd64"], reported: true },
  },
  {
    name: "merely-fails",
    images: ["demo/failing"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "amd64" } },
    expect: { decision: "ignore", architectures: ["amd64"], nodes: ["amd64"], reported: false },
  },
];

const EVERY_ARCHITECTURE = ["amd64", "arm64", "ppc64le", "s390x"];

/** Nodes with taints: what is placed tolerates what was decided, everything else every architecture. */
const TAINTED: readonly Sample[] = [
  { name: "placed", images: ["demo/edge"], expect: { ...ARM64, tolerates: ["arm64"] } },
  {
    name: "three-images",
    images: ["demo/web", "demo/sidecar", "demo/legacy"],
    expect: { ...AMD64, tolerates: ["amd64"] },
  },
  {
    name: "none-in-common",
    images: ["demo/edge", "demo/legacy"],
    expect: { decision: "nowhere", architectures: [], nodes: [], tolerates: [] },
  },
  {
    name: "left-alone",
    images: ["demo/sidecar"],
    spec: { nodeSelector: { [NODE_ARCH_LABEL]: "ppc64le" } },
    expect: { decision: "ignore", architectures: ["ppc64le"], nodes: ["ppc64le"], tolerates: EVERY_ARCHITECTURE },
  },
];

/** Pods that run before Archway does. */
const RUNNING: Readonly<Partial<Record<Scenario, readonly Sample[]>>> = {
  taints: [{
    name: "ran-before",
    images: ["demo/edge"],
    spec: { nodeName: "arm64-1" },
    expect: { decision: "unseen", architectures: [], nodes: ["arm64"], tolerates: ["arm64"] },
  }],
};

const OF_SCENARIO: Readonly<Record<Scenario, readonly Sample[]>> = {
  "placement": SAMPLES,
  "exec-format-error": MISPLACED,
  "taints": TAINTED,
  "upgrade": [],
  "image-build": [],
};

export function samplePods(registryHost: string, scenario: Scenario = "placement"): readonly JsonObject[] {
  return renderSamples(OF_SCENARIO[scenario], registryHost);
}

export function sampleNames(scenario: Scenario): readonly string[] {
  return OF_SCENARIO[scenario].map(({ name }) => name);
}

export function earlierPods(registryHost: string, scenario: Scenario = "placement"): readonly JsonObject[] {
  return renderSamples(RUNNING[scenario] ?? [], registryHost);
}

function renderSamples(samples: readonly Sample[], registryHost: string): readonly JsonObject[] {
  return samples.map(({ name, images, expect, spec, container }) => ({
    metadata: {
      name,
      namespace: SAMPLE_NAMESPACE,
      labels: { app: name },
      annotations: { [EXPECT_ANNOTATION]: JSON.stringify(expect) },
    },
    spec: {
      ...spec,
      containers: images.map((repository) => ({
        name: repository.replace(/^.*\//, ""),
        image: `${registryHost}/${repository}:v1`,
        ...container,
      })),
    },
  }));
}
