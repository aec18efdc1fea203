// The Job of one architecture with its ConfigMaps and Secrets. In a mixed cluster it runs only on nodes of that
// architecture.
import { gzipSync } from "node:zlib";
import type { V1ConfigMap, V1Job, V1JobSpec, V1PodSpec, V1Secret } from "@kubernetes/client-node";
import { encodeBase64 } from "../../../json.ts";
import type { KubeObject, Wire } from "../../../k8s/types.ts";
import { NODE_ARCH_LABEL, NODE_OS_LABEL } from "../../../names.ts";
import type { BuildEffect, SecretCopy } from "../effects.ts";
import { renderContainerfile } from "../plan/containerfile.ts";
import { DOCKER_CONFIG_JSON } from "../parse/secret.ts";
import { BAD_CONTAINERFILE_EXIT_CODE, MAX_FAILED_PODS } from "../status/aggregate.ts";
import type { ArchitecturePlan } from "../types.ts";
import { BuildLabel, GLOBAL_PULL_SECRET_COPY } from "../names.ts";
import { childMeta, type JobInput, ownedBy, renderPod } from "./pod.ts";

export function renderJob(input: JobInput): Extract<BuildEffect, { kind: "create job" }> {
  const { arch } = input;
  return {
    kind: "create job",
    arch: arch.arch,
    job: jobObject(input),
    configMaps: renderConfigMaps(input),
    secrets: renderSecrets(input),
  };
}

function jobObject(input: JobInput): KubeObject {
  const { plan, arch, build, facts, tolerations } = input;
  const isBound = plan.mode === "index" ||
    new Set(facts.nodes.map((node) => node.reportedArchitecture)).size > 1;
  const nodeSelection: Partial<Wire<V1PodSpec>> = {
    nodeSelector: { [NODE_ARCH_LABEL]: arch.arch, [NODE_OS_LABEL]: "linux" },
    ...(tolerations.length === 0 ? {} : { tolerations }),
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...childMeta(arch.jobName, plan, facts, arch), ownerReferences: [ownedBy(build)] },
    spec: {
      backoffLimit: MAX_FAILED_PODS,
      completions: 1,
      ...(plan.mode === "single" ? {} : limitsOf(facts.settings.jobDeadline / 1_000)),
      template: { spec: { ...renderPod(input), ...(isBound ? nodeSelection : {}) } },
    },
  } satisfies Wire<V1Job>;
}

/** Ends a build that hangs, or that cannot succeed. A pod that the cluster evicted does not count as failed. */
function limitsOf(activeDeadlineSeconds: number): Partial<Wire<V1JobSpec>> {
  const onExitCodes = { containerName: "image-build", operator: "In", values: [BAD_CONTAINERFILE_EXIT_CODE] };
  return {
    activeDeadlineSeconds,
    podFailurePolicy: {
      rules: [
        { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
        { action: "FailJob", onExitCodes },
      ],
    },
  };
}

function renderConfigMaps({ plan, arch, rendered, facts }: JobInput): readonly KubeObject[] {
  const map = (
    name: string,
    content: Wire<Pick<V1ConfigMap, "data" | "binaryData">>,
    own?: ArchitecturePlan,
  ): KubeObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: childMeta(name, plan, facts, own),
    ...content,
  } satisfies Wire<V1ConfigMap>);
  const { policy, registries } = rendered.files;
  const machineConfig = gzipSync(JSON.stringify(rendered.whole)).toString("base64");
  const containerfile = renderContainerfile({ rendered, pool: plan.pool, userText: arch.userText });
  const bundle = encodeBase64(facts.cluster.trustBundle);
  return [
    map(arch.containerfileConfigMapName, { data: { Containerfile: containerfile } }, arch),
    map(`mc-${plan.name}`, { data: { "machineconfig.json.gz": machineConfig } }),
    map(`additionaltrustbundle-${plan.name}`, { binaryData: { "openshift-config-user-ca-bundle.crt": bundle } }),
    ...(policy === undefined ? [] : [map(`etc-policy-${plan.name}`, { data: { "policy.json": policy } })]),
    ...(registries === undefined
      ? []
      : [map(`etc-registries-${plan.name}`, { data: { "registries.conf": registries } })]),
  ];
}

export function renderSecrets({ plan, facts }: Pick<JobInput, "plan" | "facts">): readonly SecretCopy[] {
  const copy = (name: string, from: string, version: string): SecretCopy => {
    const meta = childMeta(name, plan, facts);
    const labels = {
      ...meta.labels,
      [BuildLabel.canonicalized]: "",
      [BuildLabel.originalSecret]: from.slice(0, 63),
      [BuildLabel.secretVersion]: version,
    };
    const metadata = { ...meta, labels };
    return {
      from,
      object: { apiVersion: "v1", kind: "Secret", metadata, type: DOCKER_CONFIG_JSON } satisfies Wire<V1Secret>,
    };
  };
  const { config: { pullSecret = GLOBAL_PULL_SECRET_COPY, pushSecret }, secretVersions } = facts;
  return [
    copy(`base-${plan.name}`, pullSecret, secretVersions.pull),
    copy(`final-${plan.name}`, pushSecret, secretVersions.push),
  ];
}
