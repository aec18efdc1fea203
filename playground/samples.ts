// The sample cluster of `archway dev`: nodes, configuration, images and pods. Each pod says how it must end.
import { API_GROUP, CLUSTER_CONFIG_NAME, KubeVirt, NODE_ARCH_LABEL, NODE_OS_LABEL } from "../lib/names.ts";
import type { JsonObject } from "./json_value.ts";
import type { ImageDescription } from "./registry_images.ts";
import { type Sample, samplesOf, type Scenario } from "./sample_pods.ts";

const PULL_SECRET = "registry-credentials";

const RUNS_ARM64_GUESTS = `${KubeVirt.guestLabel}arm64`;

const VIRTUAL_NODE = { type: "virtual-kubelet" } as const;

/** Pod annotation: the image that its first container gets once it runs. */
export const EXCHANGE_ANNOTATION = "archway.dev/exchange";

export const SAMPLE_NAMESPACE = "demo";

/** Pod annotation with the {@link Expectation} as JSON: how a sample must end. */
export const EXPECT_ANNOTATION = "archway.dev/expect";

export const REGISTRY_USER = { name: "demo", password: "playground" } as const;

/** The nodes: two amd64, one arm64, one ppc64le. For odd pods two of them run guests of arm64, and one more is virtual. */
export function sampleNodes(scenario: Scenario = "placement"): readonly JsonObject[] {
  const isOdd = scenario === "odd-pods";
  const guests = isOdd ? { [RUNS_ARM64_GUESTS]: "true" } : {};
  return [
    sampleNode("amd64-1", "amd64", guests),
    sampleNode("amd64-2", "amd64"),
    sampleNode("arm64-1", "arm64", guests),
    sampleNode("ppc64le-1", "ppc64le"),
    ...isOdd ? [virtualNode("virtual-1")] : [],
  ];
}

function virtualNode(name: string): JsonObject {
  const { metadata, ...node } = sampleNode(name, "");
  return { ...node, metadata: { ...Object(metadata), labels: { ...VIRTUAL_NODE, "kubernetes.io/hostname": name } } };
}

function sampleNode(name: string, architecture: string, labels: Readonly<Record<string, string>> = {}): JsonObject {
  const resources = { cpu: "8", memory: "32Gi", pods: "250" };
  return {
    metadata: {
      name,
      labels: {
        [NODE_ARCH_LABEL]: architecture,
        [NODE_OS_LABEL]: "linux",
        "kubernetes.io/hostname": name,
        "node-role.kubernetes.io/worker": "",
        ...labels,
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
    image("demo/web", ["amd64", "arm64"], { form: "oci-index" }),
    image("demo/metrics", ["arm64", "ppc64le"], { form: "docker-list" }),
    image("demo/sidecar", ["amd64", "arm64", "ppc64le", "s390x"], { form: "docker-list" }),
    image("demo/edge", ["arm64"], { form: "oci-manifest" }),
    image("demo/legacy", ["amd64"], { form: "docker-manifest" }),
    image("demo/other", ["amd64"], { form: "docker-manifest" }),
    image("demo/bundle", ["amd64"], { form: "docker-manifest", labels: BUNDLE_LABELS }),
    image("private/app", ["arm64"], { form: "oci-index", access: "token" }),
    image("private/tool", ["amd64"], { form: "oci-index", access: "basic" }),
    image("demo/lying", ["amd64", "arm64"], { form: "oci-index" }),
    image("demo/failing", ["amd64", "arm64"], { form: "oci-index" }),
    image("demo/model", ["amd64"], { form: "oci-index" }),
    image("demo/wasm", ["wasm"], { form: "oci-index" }),
    image(SIGNED, ["arm64"], { form: "oci-manifest" }),
  ];
}

const SIGNED = "demo/signed";

/** policy.json: all images are accepted, those of one repository where they are signed. */
export function renderPolicy(registryHost: string): string {
  const scope = `${registryHost}/${SIGNED}`;
  const signed = [{ type: "sigstoreSigned", keyPath: "/etc/pki/demo.pub" }];
  return JSON.stringify({
    default: [{ type: "insecureAcceptAnything" }],
    transports: { docker: { [scope]: signed } },
  });
}

/** Repositories whose programs are not what their images claim: the architectures that they run on. */
const PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["demo/lying:v1", ["arm64"]],
  ["demo/failing:v1", []],
  ["demo/wasm:v1", ["amd64", "arm64"]],
]);

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

export function samplePods(registryHost: string, scenario: Scenario = "placement"): readonly JsonObject[] {
  return renderSamples(samplesOf(scenario).filter(({ before }) => !before), registryHost);
}

export function sampleNames(scenario: Scenario): readonly string[] {
  return samplesOf(scenario).map(({ name }) => name);
}

export function earlierPods(registryHost: string, scenario: Scenario = "placement"): readonly JsonObject[] {
  return renderSamples(samplesOf(scenario).filter(({ before }) => before), registryHost);
}

function renderSamples(samples: readonly Sample[], registryHost: string): readonly JsonObject[] {
  return samples.map(({ name, images, expect, spec, labels, container, exchange }) => ({
    metadata: {
      name,
      namespace: SAMPLE_NAMESPACE,
      labels: { app: name, ...labels },
      annotations: {
        [EXPECT_ANNOTATION]: JSON.stringify(expect),
        ...exchange === undefined ? {} : { [EXCHANGE_ANNOTATION]: `${registryHost}/${exchange}:v1` },
      },
    },
    spec: {
      ...withRegistry(spec, registryHost),
      containers: images.map((repository) => ({
        name: repository.replace(/^.*\//, ""),
        image: `${registryHost}/${repository}:v1`,
        ...container,
      })),
    },
  }));
}

function withRegistry(spec: JsonObject, registryHost: string): JsonObject {
  return JSON.parse(JSON.stringify(spec).replaceAll("REGISTRY/", `${registryHost}/`));
}
