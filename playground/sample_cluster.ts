// The sample cluster of `archway dev`: nodes, configuration, images and pods. Each pod says how it must end.
import { parse } from "yaml";
import * as z from "zod";
import { NODE_ARCH_LABEL } from "../lib/names.ts";
import type { JsonObject } from "./json_path.ts";
import { IMAGE } from "./registry_images.ts";
import TEXT from "./sample_cluster.yaml" with { type: "text" };
import { type Sample, samplesOf, type Scenario } from "./samples.ts";

const PULL_SECRET = "registry-credentials";

/** Pod annotation: the image that its first container gets once it runs. */
export const EXCHANGE_ANNOTATION = "archway.dev/exchange";

export const SAMPLE_NAMESPACE = "demo";

/** Pod annotation with the `Expectation` of samples.ts as JSON: how a sample must end. */
export const EXPECT_ANNOTATION = "archway.dev/expect";

export const REGISTRY_USER = { name: "demo", password: "playground" } as const; // eslint-disable-line sonarjs/no-hardcoded-passwords -- a sample

const MEMBERS = z.record(z.string(), z.unknown());
const NODES = z.array(z.object({ name: z.string(), labels: z.record(z.string(), z.string()) }));

const CLUSTER = z.object({
  config: MEMBERS,
  nodes: z.object({ usual: NODES, odd: NODES }),
  nodeStatus: z.looseObject({ nodeInfo: MEMBERS }),
  images: z.array(IMAGE.extend({ programs: z.array(z.string()).optional() })),
});

export function sampleCluster(): z.output<typeof CLUSTER> {
  return CLUSTER.parse(parse(TEXT, { merge: true }));
}

export function sampleNodes(scenario: Scenario = "placement"): readonly JsonObject[] {
  const { nodes: { usual, odd }, nodeStatus } = sampleCluster();
  return (scenario === "odd-pods" ? odd : usual).map(({ name, labels }) => ({
    metadata: { name, labels: { ...labels, "kubernetes.io/hostname": name } },
    spec: {},
    status: { ...nodeStatus, nodeInfo: { ...nodeStatus.nodeInfo, architecture: labels[NODE_ARCH_LABEL] ?? "" } },
  }));
}

const SIGNED = "demo/signed";

/** policy.json: accepts all images, but those of one repository only if they are signed. */
export function renderPolicy(registryHost: string): string {
  const scope = `${registryHost}/${SIGNED}`;
  const signed = [{ type: "sigstoreSigned", keyPath: "/etc/pki/demo.pub" }];
  return JSON.stringify({
    default: [{ type: "insecureAcceptAnything" }],
    transports: { docker: { [scope]: signed } },
  });
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
