// The pod of a build: an init container builds and pushes the image, then a container stores its digest in a ConfigMap.
import type { V1Container, V1EnvVar, V1PodSpec, V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import type { AddedToleration } from "../../../vocabulary/taint.ts";
import type { ObjectMeta, OwnerReference, Wire } from "../../../k8s/types.ts";
import type { BuildFacts } from "../facts.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import { objectNameOf } from "../optional_inputs.ts";
import type { ArchitecturePlan, BuildPlan } from "../types.ts";
import BUILD_SCRIPT from "./build.sh" with { type: "text" };
import DIGEST_SCRIPT from "./digest.sh" with { type: "text" };
import { SHORT_KEY_LENGTH } from "../plan/build_keys.ts";
import { isAtLeast423 } from "../plan/release.ts";
import { ArchwayAnnotation, BuildLabel, MCO_API_VERSION, MCO_GROUP, McoAnnotation } from "../names.ts";

export interface JobInput {
  readonly plan: BuildPlan;
  readonly arch: ArchitecturePlan;
  readonly build: MachineOSBuild;
  readonly rendered: RenderedConfig;
  readonly facts: Pick<BuildFacts, "config" | "settings" | "cluster" | "optionalInputs" | "nodes" | "secretVersions">;
  readonly tolerations: readonly AddedToleration[];
  readonly tag: string;
}

const DIGEST_FILE = "/tmp/done/digestfile";

export function renderPod(input: JobInput): Wire<V1PodSpec> {
  const { plan, arch, facts: { settings } } = input;
  const { builderImage, builderCommand } = settings;
  const mounts = mountsOf(input);
  const shared = { imagePullPolicy: "Always", securityContext: {}, terminationMessagePolicy: "FallbackToLogsOnError" };
  return {
    restartPolicy: "Never",
    serviceAccountName: settings.serviceAccount,
    terminationGracePeriodSeconds: 10,
    initContainers: [{
      name: "image-build",
      image: builderImage,
      command: builderCommand.length > 0 ? builderCommand : ["/bin/bash", "-c", BUILD_SCRIPT],
      env: envOf(input),
      ...(Object.keys(settings.requests).length === 0 ? {} : { resources: { requests: settings.requests } }),
      ...shared,
      volumeMounts: [...mounts, { name: "buildah-cache", mountPath: "/home/build/.local/share/containers" }],
    }],
    containers: [{
      name: "create-digest-configmap",
      ...digestProgram(input),
      args: [
        `--configmap-name=${arch.digestConfigMapName}`,
        `--digestfile=${DIGEST_FILE}`,
        `--namespace=${settings.namespace}`,
        `--labels=${labelText(plan, arch)}`,
      ],
      env: envOf(input),
      ...shared,
      volumeMounts: mounts,
    }],
    volumes: volumesOf(input),
  };
}

/** Before 4.23 `machine-os-builder` lacks the command: then a script runs in the OS image, which has `oc`. */
function digestProgram({ rendered, facts: { settings } }: JobInput): Pick<Wire<V1Container>, "image" | "command"> {
  const { builderImage, digestImage, digestCommand } = settings;
  const [image, command] = digestCommand.length > 0
    ? [builderImage, digestCommand]
    : isAtLeast423(rendered.meta)
    ? [builderImage, ["machine-os-builder", "create-digest-configmap"]]
    : [rendered.osImageURL, ["/bin/bash", "-c", DIGEST_SCRIPT, "create-digest-configmap"]];
  return { image: digestImage === "" ? image : digestImage, command };
}

/** In the form that the machine config operator's command parses: `labels.ConvertSelectorToLabelsMap` of Kubernetes. */
function labelText(plan: BuildPlan, arch: ArchitecturePlan): string {
  return Object.entries(childLabels(plan, arch)).toSorted(([left], [right]) => left < right ? -1 : 1)
    .map(([key, value]) => `${key}=${value}`).join(",");
}

function envOf({ plan, arch, rendered, facts, tag }: JobInput): readonly Wire<V1EnvVar>[] {
  const { cluster: { proxy }, optionalInputs } = facts;
  const texts: readonly (readonly [string, string])[] = [
    ["MAX_RETRIES", "3"],
    ["DIGEST_CONFIGMAP_NAME", arch.digestConfigMapName],
    ["DIGEST_CONFIGMAP_LABELS", labelText(plan, arch)],
    ["HOME", "/home/build"],
    ["TAG", `${plan.jobRepository}:${tag}`],
    ["BASE_IMAGE_PULL_CREDS", "/tmp/base-image-pull-creds/config.json"],
    ["FINAL_IMAGE_PUSH_CREDS", "/tmp/final-image-push-creds/config.json"],
    ["BUILDAH_ISOLATION", "chroot"],
    ["HTTP_PROXY", proxy.http ?? ""],
    ["HTTPS_PROXY", proxy.https ?? ""],
    ["NO_PROXY", proxy.no ?? ""],
    ["BASE_OS_IMAGE_PULLSPEC", rendered.osImageURL],
    ...optionalInputs.map(({ volume, path }) =>
      [`${volume.replaceAll("-", "_").toUpperCase()}_MOUNTPOINT`, path] as const
    ),
  ];
  const env = texts.map(([name, value]) => ({ name, value }));
  return plan.mode === "single" ? env : [
    ...env,
    { name: "ARCH", value: arch.arch },
    { name: "BUILD_KEY", value: arch.buildKey },
    { name: "TARGETARCH", value: arch.arch },
    { name: "TARGETOS", value: "linux" },
    { name: "TARGETPLATFORM", value: `linux/${arch.arch}` },
    {
      name: "JOB_UID",
      valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" } },
    },
  ];
}

function mountsOf({ facts: { optionalInputs } }: JobInput): readonly Wire<V1VolumeMount>[] {
  return [
    { name: "machineconfig", mountPath: "/tmp/machineconfig" },
    { name: "containerfile", mountPath: "/tmp/containerfile" },
    { name: "etc-policy", mountPath: "/etc/containers/policy.json", subPath: "policy.json" },
    { name: "etc-registries", mountPath: "/etc/containers/registries.conf", subPath: "registries.conf" },
    { name: "additional-trust-bundle", mountPath: "/etc/pki/ca-trust/source/anchors" },
    { name: "base-image-pull-creds", mountPath: "/tmp/base-image-pull-creds" },
    { name: "final-image-push-creds", mountPath: "/tmp/final-image-push-creds" },
    { name: "done", mountPath: "/tmp/done" },
    ...optionalInputs.map(({ volume, path }) => ({ name: volume, mountPath: path })),
  ];
}

function volumesOf({ plan, arch, facts: { optionalInputs } }: JobInput): readonly Wire<V1Volume>[] {
  const map = (name: string, configMap: string, isOptional = false): Wire<V1Volume> => ({
    name,
    configMap: { name: configMap, ...(isOptional ? { optional: true } : {}) },
  });
  const credentials = (name: string, secretName: string): Wire<V1Volume> => ({
    name,
    secret: { secretName, items: [{ key: ".dockerconfigjson", path: "config.json" }] },
  });
  return [
    map("machineconfig", `mc-${plan.name}`),
    map("containerfile", arch.containerfileConfigMapName),
    map("etc-policy", `etc-policy-${plan.name}`, true),
    map("etc-registries", `etc-registries-${plan.name}`, true),
    map("additional-trust-bundle", `additionaltrustbundle-${plan.name}`),
    credentials("base-image-pull-creds", `base-${plan.name}`),
    credentials("final-image-push-creds", `final-${plan.name}`),
    { name: "done", emptyDir: { medium: "Memory" } },
    { name: "buildah-cache", emptyDir: {} },
    ...optionalInputs.map((input) => {
      const [name, object] = [input.volume, objectNameOf(input, plan.pool)];
      return input.kind === "secret" ? { name, secret: { secretName: object } } : { name, configMap: { name: object } };
    }),
  ];
}

export function buildLabels(
  { pool, renderedConfigName, configName }: BuildPlan,
): Readonly<Record<string, string>> {
  return { [BuildLabel.pool]: pool, [BuildLabel.rendered]: renderedConfigName, [BuildLabel.config]: configName };
}

export function childLabels(plan: BuildPlan, arch?: ArchitecturePlan): Readonly<Record<string, string>> {
  return {
    [BuildLabel.layering]: "",
    [BuildLabel.ephemeral]: "",
    ...buildLabels(plan),
    [BuildLabel.build]: plan.name,
    ...(arch === undefined || plan.mode === "single" ? {} : {
      [BuildLabel.architecture]: arch.arch,
      [BuildLabel.buildKey]: arch.buildKey.slice(0, SHORT_KEY_LENGTH),
    }),
  };
}

export function childMeta(
  name: string,
  plan: BuildPlan,
  { optionalInputs, settings: { namespace } }: Pick<BuildFacts, "optionalInputs" | "settings">,
  arch?: ArchitecturePlan,
): ObjectMeta {
  return {
    name,
    namespace,
    labels: childLabels(plan, arch),
    annotations: {
      [McoAnnotation.build]: plan.name,
      [McoAnnotation.config]: plan.configName,
      ...Object.fromEntries(optionalInputs.map(({ volume }) => [`${MCO_GROUP}/has-${volume}`, ""])),
      ...(arch === undefined || plan.mode === "single"
        ? {}
        : { [ArchwayAnnotation.build]: plan.name, [ArchwayAnnotation.buildKey]: arch.buildKey }),
    },
  };
}

export function ownedBy({ meta: { name, uid } }: Pick<MachineOSBuild, "meta">): OwnerReference {
  return { apiVersion: MCO_API_VERSION, kind: "MachineOSBuild", name, uid, controller: true, blockOwnerDeletion: true };
}
