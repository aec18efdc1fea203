// What image builds depend on, watched and trimmed. Of secrets only metadata is kept.
import { parseBuildMachineSet, parseBuildNode, parseBuildPool } from "../decide/parse/machine_config.ts";
import type {
  BuildMachineSet,
  BuildNode,
  ChildObject,
  ClusterSettings,
  DigestObservation,
} from "../decide/observed.ts";
import { type JobObservation, parseBuildJob, parseChild, parseDigestMap } from "../decide/parse/job.ts";
import {
  type MachineOSBuild,
  type MachineOSConfig,
  parseMachineOSBuild,
  parseMachineOSConfig,
} from "../decide/parse/machine_os_config.ts";
import type { MachineConfigPool } from "../../vocabulary/machines.ts";
import type { Clock } from "../../clock.ts";
import { parseStoredRecord } from "../decide/status/record.ts";
import { BuildLabel } from "../decide/names.ts";
import type { StoredRecord } from "../decide/facts.ts";
import type { ReadApi } from "../../k8s/api.ts";
import type { Change } from "../../k8s/object_cache.ts";
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorOptions } from "../../k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType } from "../../k8s/types.ts";
import type { Logger } from "../../log.ts";
import type { Parsed } from "../../parsed.ts";
import {
  isRunningDeployment,
  parseControllerConfig,
  parsePayloadArchitecture,
  parseWaitingPod,
  type WaitingPod,
} from "../decide/parse/shared_objects.ts";

interface BuildWatchesDeps {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  /** Called with the name of a MachineOSConfig to reconcile; undefined: all. Must be quick. */
  readonly onChange: (config: string | undefined) => void;
}

export interface WatchedMap {
  readonly child: ChildObject;
  readonly digest: DigestObservation | undefined;
  readonly record: StoredRecord | undefined;
}

export interface BuildWatches {
  run(signal: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  readonly configs: Reflector<MachineOSConfig>;
  readonly builds: Reflector<MachineOSBuild>;
  readonly pools: Reflector<MachineConfigPool>;
  readonly nodes: Reflector<BuildNode>;
  readonly machineSets: Reflector<BuildMachineSet>;
  readonly jobs: Reflector<JobObservation>;
  readonly waitingPods: Reflector<WaitingPod>;
  readonly maps: Reflector<WatchedMap>;
  readonly secrets: Reflector<ChildObject>;
  readonly controllerConfigs: Reflector<Pick<ClusterSettings, "proxy" | "trustBundle">>;
  readonly payloadArchitectures: Reflector<string>;
  readonly mcoBuilder: Reflector<boolean>;
}

const OTHER_BUILDER = "metadata.name=machine-os-builder";

const ABSENT =
  "nothing is built: the cluster has no MachineOSConfigs, which OpenShift's machine config operator brings. " +
  "Elsewhere run Archway without image builds: leave out manifests/components/image-builds, or set imageBuilds=false " +
  "with Helm";

/** OpenShift's kinds are usually missing together: the warning is about MachineOSConfigs, which users write. */
function kindOf(resource: ResourceType): Pick<ReflectorOptions<unknown>, "resource" | "name" | "ifMissing"> {
  const named = { resource, name: resource.plural };
  if (!resource.group.endsWith(".openshift.io")) return named;
  const isFirst = resource === Resource.machineOsConfigs;
  return {
    ...named,
    ifMissing: isFirst ? { level: "warn", message: ABSENT } : { level: "debug", message: "not served" },
  };
}

type OpenWatch = <T>(
  resource: ResourceType,
  parse: ReflectorOptions<T>["parse"],
  onChange: (change: Change<T>) => void,
  where?: Pick<ReflectorOptions<T>, "namespace" | "labelSelector" | "fieldSelector">,
) => Reflector<T>;

export function openBuildWatches({ api, clock, log, namespace, onChange }: BuildWatchesDeps): BuildWatches {
  const common = { api, clock, log };
  const watch: OpenWatch = (resource, parse, onChange, where) =>
    new Reflector({ ...common, retain: RETENTION.imageBuilds, ...kindOf(resource), parse, onChange, ...where });
  // A change that is not about one MachineOSConfig concerns all of them.
  const reconcileAll = (): void => onChange(undefined);
  const ifDifferent = onDifference(reconcileAll);
  const reconcileConfigOf = (labels: Readonly<Record<string, string>>): void => onChange(labels[BuildLabel.config]);
  const ours = { namespace, labelSelector: BuildLabel.build };
  const other = { namespace, fieldSelector: OTHER_BUILDER };
  const jobs = watch(Resource.jobs, parseBuildJob, ({ value: { meta } }) => reconcileConfigOf(meta.labels), ours);
  const onPod = (change: Change<WaitingPod>): void => {
    const job = [...jobs.values()].find(({ meta }) => meta.uid === change.value.jobUid);
    // A Job that is not known yet triggers its own reconcile, which reads the pod.
    if (job !== undefined) onDifference(() => reconcileConfigOf(job.meta.labels))(change);
  };
  const watches = {
    configs: watch(Resource.machineOsConfigs, parseMachineOSConfig, ({ value }) => onChange(value.meta.name)),
    builds: watch(Resource.machineOsBuilds, parseMachineOSBuild, ({ value }) => onChange(value.config)),
    pools: watch(Resource.machineConfigPools, parsedOrThrow(parseBuildPool), reconcileAll),
    nodes: watch(Resource.nodes, parseBuildNode, ifDifferent),
    machineSets: watch(Resource.machineSets, parseBuildMachineSet, ifDifferent),
    jobs,
    waitingPods: watch(Resource.pods, parseWaitingPod, onPod, {
      namespace,
      labelSelector: "batch.kubernetes.io/job-name",
    }),
    maps: watch(Resource.configMaps, parseMap, ({ value: { child } }) => reconcileConfigOf(child.labels), ours),
    secrets: watch(Resource.secrets, parseSecret, ({ value }) => reconcileConfigOf(value.labels), ours),
    controllerConfigs: watch(Resource.controllerConfigs, parseControllerConfig, ifDifferent),
    payloadArchitectures: watch(Resource.clusterVersions, parsePayloadArchitecture, ifDifferent),
    mcoBuilder: watch(Resource.deployments, isRunningDeployment, ifDifferent, other),
  };
  return { ...watches, ...together(Object.values(watches)) };
}

function together(
  list: readonly Pick<Reflector<unknown>, "run" | "hasSynced" | "state">[],
): Pick<BuildWatches, "run" | "hasSynced"> {
  return {
    run: async (signal) => {
      await Promise.all(list.map((watch) => watch.run(signal)));
    },
    // A kind that the cluster does not serve has no objects.
    hasSynced: () => list.every((watch) => watch.hasSynced() || watch.state() === "missing"),
  };
}

/** Calls `onChange` only where the parsed value changes, since the objects themselves change far more often. */
function onDifference<T>(onChange: () => void): (change: Change<T>) => void {
  return (change) => {
    const previous = change.kind === "apply" ? change.previous : undefined;
    if (change.kind === "apply" && JSON.stringify(previous) === JSON.stringify(change.value)) return;
    onChange();
  };
}

/** Throws for an object that cannot be parsed: the reflector leaves it out and reports it. */
function parsedOrThrow<T>(parse: (object: KubeObject) => Parsed<T>): (object: KubeObject) => T {
  return (object) => {
    const parsed = parse(object);
    if (parsed.kind === "parsed") return parsed.value;
    throw new Error(parsed.fault.message);
  };
}

const parseSecret = (object: KubeObject): ChildObject => parseChild(object, "secrets");

function parseMap(object: KubeObject): WatchedMap {
  const digest = parseDigestMap(object);
  return {
    child: parseChild(object, "configMaps"),
    digest: digest.digest === "" && !object.metadata.name.startsWith("digest-") ? undefined : digest,
    record: parseStoredRecord(object),
  };
}
