// The pod of a build: an init container builds and pushes, then a container hands the digest over.
import type { V1EnvVar, V1PodSpec, V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import type { Wire } from "../../k8s/wire.ts";
import type { BuildSettings } from "../settings.ts";
import type { ArchPlan, BuildPlan } from "../types.ts";
import type { OptionalInputs } from "../facts.ts";
import type { ClusterSettings } from "../observed.ts";
import { childLabels } from "./metadata.ts";
import { objectOf, OPTIONAL_INPUTS } from "../optional_inputs.ts";
import { BUILD_SCRIPT } from "./script.ts";

/** What a pod is rendered from. */
export interface PodInput {
  readonly plan: BuildPlan;
  readonly arch: ArchPlan;
  readonly baseImage: string;
  readonly settings: BuildSettings;
  readonly cluster: ClusterSettings;
  readonly optional: OptionalInputs;
  /** `registry/repository:tag` that the pod pushes. */
  readonly tag: string;
}

const DIGEST_FILE = "/tmp/done/digestfile";

/** The spec of the pod, without where it runs. */
export function renderPod(input: PodInput): Wire<V1PodSpec> {
  const { plan, settings } = input;
  const [image, writer] = [settings.builder, settings.digestWriter];
  const mounts = mountsOf(input);
  const command = image.command.length > 0 ? image.command : ["/bin/bash", "-c", BUILD_SCRIPT];
  const shared = { imagePullPolicy: "Always", securityContext: {}, terminationMessagePolicy: "FallbackToLogsOnError" };
  return {
    restartPolicy: "Never",
    serviceAccountName: settings.serviceAccount,
    terminationGracePeriodSeconds: 10,
    initContainers: [{
      name: "image-build",
      image: image.image,
      command,
      env: envOf(input),
      ...(Object.keys(settings.requests).length === 0 ? {} : { resources: { requests: settings.requests } }),
      ...shared,
      volumeMounts: [...mounts, { name: "buildah-cache", mountPath: "/home/build/.local/share/containers" }],
    }],
    containers: [{
      name: "create-digest-configmap",
      image: writer.image,
      command: writer.command.length > 0 ? writer.command : ["machine-os-builder", "create-digest-configmap"],
      args: [
        `--configmap-name=${input.arch.digestMap}`,
        `--digestfile=${DIGEST_FILE}`,
        `--namespace=${settings.namespace}`,
        `--labels=${labelText(plan, input.arch)}`,
      ],
      env: envOf(input),
      ...shared,
      volumeMounts: mounts,
    }],
    volumes: volumesOf(input),
  };
}

function labelText(plan: BuildPlan, arch: ArchPlan): string {
  return Object.entries(childLabels(plan, arch)).toSorted(([left], [right]) => left < right ? -1 : 1)
    .map(([key, value]) => `${key}=${value}`).join(" ");
}

function envOf({ plan, arch, baseImage, cluster: { proxy }, optional, tag }: PodInput): readonly Wire<V1EnvVar>[] {
  const texts: readonly (readonly [string, string])[] = [
    ["MAX_RETRIES", "3"],
    ["DIGEST_CONFIGMAP_NAME", arch.digestMap],
    ["DIGEST_CONFIGMAP_LABELS", labelText(plan, arch)],
    ["HOME", "/home/build"],
    ["TAG", tag],
    ["BASE_IMAGE_PULL_CREDS", "/tmp/base-image-pull-creds/config.json"],
    ["FINAL_IMAGE_PUSH_CREDS", "/tmp/final-image-push-creds/config.json"],
    ["BUILDAH_ISOLATION", "chroot"],
    ["HTTP_PROXY", proxy.http ?? ""],
    ["HTTPS_PROXY", proxy.https ?? ""],
    ["NO_PROXY", proxy.no ?? ""],
    ["BASE_OS_IMAGE_PULLSPEC", baseImage],
    ...OPTIONAL_INPUTS.filter(({ has }) => optional[has]).map(({ volume, path }) =>
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

function mountsOf({ optional }: PodInput): readonly Wire<V1VolumeMount>[] {
  return [
    { name: "machineconfig", mountPath: "/tmp/machineconfig" },
    { name: "containerfile", mountPath: "/tmp/containerfile" },
    { name: "etc-policy", mountPath: "/etc/containers/policy.json", subPath: "policy.json" },
    { name: "etc-registries", mountPath: "/etc/containers/registries.conf", subPath: "registries.conf" },
    { name: "additional-trust-bundle", mountPath: "/etc/pki/ca-trust/source/anchors" },
    { name: "base-image-pull-creds", mountPath: "/tmp/base-image-pull-creds" },
    { name: "final-image-push-creds", mountPath: "/tmp/final-image-push-creds" },
    { name: "done", mountPath: "/tmp/done" },
    ...OPTIONAL_INPUTS.filter(({ has }) => optional[has]).map(({ volume, path }) => ({
      name: volume,
      mountPath: path,
    })),
  ];
}

function volumesOf({ plan, arch, optional }: PodInput): readonly Wire<V1Volume>[] {
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
    map("containerfile", arch.containerfileMap),
    map("etc-policy", `etc-policy-${plan.name}`, true),
    map("etc-registries", `etc-registries-${plan.name}`, true),
    map("additional-trust-bundle", `additionaltrustbundle-${plan.name}`),
    credentials("base-image-pull-creds", `base-${plan.name}`),
    credentials("final-image-push-creds", `final-${plan.name}`),
    { name: "done", emptyDir: { medium: "Memory" } },
    { name: "buildah-cache", emptyDir: {} },
    ...OPTIONAL_INPUTS.filter(({ has }) => optional[has]).map((input) => {
      const [name, object] = [input.volume, objectOf(input, plan.pool)];
      return input.kind === "secret" ? { name, secret: { secretName: object } } : { name, configMap: { name: object } };
    }),
  ];
}
