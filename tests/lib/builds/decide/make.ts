// Makers of the objects that image builds read, as the API server gives them.
import assert from "node:assert/strict";
import type { MachineConfigPool } from "../../../../lib/vocabulary/machines.ts";
import {
  parseBuildNode,
  parseBuildPool,
  parseRenderedConfig,
  type RenderedConfig,
} from "../../../../lib/builds/decide/parse/machine_config.ts";
import { type MachineOSConfig, parseMachineOSConfig } from "../../../../lib/builds/decide/parse/machine_os_config.ts";
import type { BuildNode } from "../../../../lib/builds/decide/observed.ts";
import { mcoBuildName } from "../../../../lib/builds/decide/plan/mco_build_name.ts";
import { planBuild, type PlanInput } from "../../../../lib/builds/decide/plan/plan.ts";
import type { BuildPlan } from "../../../../lib/builds/decide/types.ts";
import { ImageBuildsSchema } from "../../../../lib/config/image_builds.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import type { Parsed } from "../../../../lib/parsed.ts";

export const SETTINGS = ImageBuildsSchema.parse({ builderImage: "registry.test/tools/builder:v1" });

export function valueOf<T>(parsed: Parsed<T>): T {
  return parsed.kind === "parsed" ? parsed.value : assert.fail(parsed.fault.message);
}

/** The rows at the beginning of a case's name, behind which a title goes on. */
export const IDS = /^(?:[OP]-\d+ )*/;

export interface RawConfig {
  readonly name?: string;
  readonly pool?: string;
  readonly files?: readonly { readonly containerfileArch?: string; readonly content: string }[];
  readonly pushSpec?: string;
  readonly pushSecret?: string;
  readonly pullSecret?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const NO_ARCH = { containerfileArch: "NoArch", content: "FROM configs AS final\nRUN echo hi\n" };

export function rawConfig(given: RawConfig = {}): KubeObject {
  const { name = "worker", pool = "worker", files = [NO_ARCH], pushSpec = "registry.test/org/os:latest" } = given;
  const { pushSecret = "push", pullSecret, annotations = {} } = given;
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineOSConfig",
    metadata: { name, uid: `uid-${name}`, resourceVersion: "1", generation: 1, annotations },
    spec: {
      machineConfigPool: { name: pool },
      imageBuilder: { imageBuilderType: "Job" },
      ...(pullSecret === undefined ? {} : { baseImagePullSecret: { name: pullSecret } }),
      renderedImagePushSecret: { name: pushSecret },
      renderedImagePushSpec: pushSpec,
      containerFile: files,
    },
  };
}

export function configOf(given: RawConfig = {}): MachineOSConfig {
  return parseMachineOSConfig(rawConfig(given));
}

interface RawPool {
  readonly name?: string;
  readonly rendered?: string;
  readonly paused?: boolean;
  readonly conditions?: readonly Readonly<Record<string, string>>[];
}

export function rawPool(given: RawPool = {}): KubeObject {
  const { name = "worker", rendered = "rendered-worker-1", paused = false, conditions = [] } = given;
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name, uid: `uid-pool-${name}`, resourceVersion: "1", annotations: {} },
    spec: {
      paused,
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
      configuration: { name: rendered },
    },
    status: { configuration: { name: rendered }, conditions },
  };
}

export function poolObject(given: RawPool = {}): MachineConfigPool {
  return valueOf(parseBuildPool(rawPool(given)));
}

export interface RawRendered {
  readonly name?: string;
  readonly osImageURL?: string;
  readonly extensionsImage?: string;
  readonly kernelType?: string;
  readonly kernelArguments?: readonly string[];
  readonly extensions?: readonly string[];
}

export const BASE_IMAGE = `registry.test/base/os@sha256:${"b".repeat(64)}`;

export function rawRendered(given: RawRendered = {}): KubeObject {
  const { name = "rendered-worker-1", osImageURL = BASE_IMAGE, extensionsImage, ...rest } = given;
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: {
      name,
      uid: `uid-${name}`,
      annotations: {
        "machineconfiguration.openshift.io/release-image-version": "4.20.1",
        "machineconfiguration.openshift.io/generated-by-controller-version": "abc",
      },
    },
    spec: {
      osImageURL,
      ...(extensionsImage === undefined ? {} : { baseOSExtensionsContainerImage: extensionsImage }),
      config: { ignition: { version: "3.4.0" } },
      ...rest,
    },
  };
}

export function renderedOf(given: RawRendered = {}): RenderedConfig {
  return parseRenderedConfig(rawRendered(given));
}

interface RawBuild {
  readonly name: string;
  readonly uid?: string;
  readonly rendered?: string;
  readonly repository?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A MachineOSBuild of config "worker". */
export function rawBuild({ name, uid = `uid-${name}`, metadata, status = {}, ...given }: RawBuild): KubeObject {
  const { rendered = "rendered-worker-1", repository = "registry.test/org/os" } = given;
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineOSBuild",
    metadata: { name, uid, labels: {}, annotations: {}, ...metadata },
    spec: {
      machineConfig: { name: rendered },
      machineOSConfig: { name: "worker" },
      renderedImagePushSpec: `${repository}:${name}`,
    },
    status,
  };
}

export interface PlanGiven extends Partial<Omit<PlanInput, "config" | "rendered">> {
  readonly config?: RawConfig;
  readonly rendered?: RawRendered;
}

/** Of two architectures unless more is said. */
export function planInput({ config, rendered, ...rest }: PlanGiven = {}): PlanInput {
  const given = { set: ["amd64", "arm64"], alwaysIndex: false, builds: [], ...rest } as const;
  return { config: configOf(config), pool: poolObject(), rendered: renderedOf(rendered), ...given };
}

export function planOf(given: PlanGiven = {}): BuildPlan {
  const planned = planBuild(planInput(given));
  return planned.kind === "plan" ? planned : assert.fail(planned.message);
}

/** What the machine config operator calls the build of what these makers make. */
export function ownName(): string {
  return mcoBuildName({ config: configOf(), pool: poolObject(), rendered: renderedOf() });
}

export interface RawNode {
  readonly name?: string;
  readonly reported?: string;
  readonly label?: string;
  readonly roles?: readonly string[];
  readonly os?: string;
  readonly taints?: readonly Readonly<Record<string, string>>[];
  readonly unschedulable?: boolean;
  readonly ready?: boolean;
  readonly images?: { readonly currentImage?: string; readonly desiredImage?: string };
}

export function rawBuildNode(given: RawNode = {}): KubeObject {
  const { reported = "amd64", roles = ["worker"], os = "linux", taints = [], unschedulable, ready = true } = given;
  const { name = `node-${reported}`, label = reported, images = {} } = given;
  const annotations = Object.entries(images).map(([key, image]) => [`machineconfiguration.openshift.io/${key}`, image]);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      annotations: Object.fromEntries(annotations),
      labels: {
        "kubernetes.io/arch": label,
        "kubernetes.io/os": os,
        ...Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ""])),
      },
    },
    spec: { taints, ...(unschedulable === undefined ? {} : { unschedulable }) },
    status: {
      nodeInfo: { architecture: reported, operatingSystem: os },
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    },
  };
}

export function nodeOf(given: RawNode = {}): BuildNode {
  return parseBuildNode(rawBuildNode(given));
}
