// What image builds depend on, watched and trimmed: configurations and builds, pools, nodes, machine sets, and in the one
// namespace the Jobs, their pods and what belongs to them. Of secrets only names and owners are kept.
import type { Clock } from "../clock.ts";
import type {
  BuildNode,
  ChildObject,
  ClusterSettings,
  DigestObservation,
  JobObservation,
  MachineConfigPool,
  MachineOSBuild,
  MachineOSConfig,
  MachineSet,
} from "../image_builds/observed.ts";
import { parseBuildJob, parseChild, parseDigestMap } from "../image_builds/parse/job.ts";
import { parseMachineConfigPool, parseMachineSet } from "../image_builds/parse/machine_config.ts";
import { parseMachineOSBuild, parseMachineOSConfig } from "../image_builds/parse/machine_os_config.ts";
import { parseBuildNode } from "../image_builds/parse/node.ts";
import { parseStoredRecord } from "../image_builds/status/record.ts";
import { BuildLabel } from "../image_builds/names.ts";
import type { StoredRecord } from "../image_builds/facts.ts";
import type { ReadApi } from "../k8s/api.ts";
import type { Change } from "../k8s/object_cache.ts";
import { openReflector, type Reflector, type ReflectorOptions } from "../k8s/reflector.ts";
import { type KubeObject, Resource } from "../k8s/types.ts";
import type { Logger } from "../log.ts";
import type { Parsed } from "../parsed.ts";
import { isReadyDeployment, parsePayload, parseSharedInputs, type WaitingPod, waitingPod } from "./views.ts";

/** What they are made with. */
export interface BuildWatchesDeps {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the Jobs are. */
  readonly namespace: string;
  /** Called with the name of a MachineOSConfig to reconcile; undefined: all. Must be quick. */
  readonly onChange: (config: string | undefined) => void;
}

/** A ConfigMap of a build, and what it is besides an object. */
export interface WatchedMap {
  readonly child: ChildObject;
  readonly digest: DigestObservation | undefined;
  readonly record: StoredRecord | undefined;
}

/** The watches. */
export interface BuildWatches {
  run(signal: AbortSignal): Promise<void>;
  /** Whether everything was listed once. */
  hasSynced(): boolean;
  readonly configs: Reflector<MachineOSConfig>;
  readonly builds: Reflector<MachineOSBuild>;
  readonly pools: Reflector<MachineConfigPool>;
  readonly nodes: Reflector<BuildNode>;
  readonly machineSets: Reflector<MachineSet>;
  readonly jobs: Reflector<JobObservation>;
  readonly waiting: Reflector<WaitingPod>;
  readonly maps: Reflector<WatchedMap>;
  readonly secrets: Reflector<ChildObject>;
  readonly shared: Reflector<Pick<ClusterSettings, "proxy" | "trustBundle">>;
  readonly payload: Reflector<string>;
  readonly otherBuilder: Reflector<boolean>;
}

/** The Deployment of the machine config operator's own builder. */
const OTHER_BUILDER = "machine-os-builder";

/** Opens them. No request is sent to the API server before `run`. */
export function openBuildWatches(deps: BuildWatchesDeps): BuildWatches {
  const watches = { ...openPoolWatches(deps), ...openSharedWatches(deps), ...openJobWatches(deps) };
  const list = Object.values(watches);
  return {
    ...watches,
    run: async (signal) => {
      await Promise.all(list.map((watch) => watch.run(signal)));
    },
    // A kind that the cluster does not have is known to have no objects.
    hasSynced: () => list.every((watch) => watch.hasSynced() || watch.state() === "missing"),
  };
}

/** What is not about one configuration alone concerns all of them. */
function forAll({ onChange }: BuildWatchesDeps): () => void {
  return () => onChange(undefined);
}

function open<T>(
  { api, clock, log }: BuildWatchesDeps,
  options: Omit<ReflectorOptions<T>, "api" | "clock" | "log">,
): Reflector<T> {
  return openReflector<T>({ api, clock, log, ...options });
}

function openPoolWatches(
  deps: BuildWatchesDeps,
): Pick<BuildWatches, "configs" | "builds" | "pools" | "nodes" | "machineSets"> {
  const { onChange } = deps;
  const all = forAll(deps);
  return {
    configs: open<MachineOSConfig>(deps, {
      name: "MachineOSConfigs",
      resource: Resource.machineOsConfigs,
      parse: valueOf(parseMachineOSConfig),
      onChange: ({ value }) => onChange(value.meta.name),
    }),
    builds: open<MachineOSBuild>(deps, {
      name: "MachineOSBuilds",
      resource: Resource.machineOsBuilds,
      parse: valueOf(parseMachineOSBuild),
      onChange: ({ value }) => onChange(value.config),
    }),
    pools: open<MachineConfigPool>(deps, {
      name: "pools",
      resource: Resource.machineConfigPools,
      parse: valueOf(parseMachineConfigPool),
      onChange: all,
    }),
    nodes: open<BuildNode>(deps, {
      name: "nodes of pools",
      resource: Resource.nodes,
      parse: parseBuildNode,
      onChange: onDifference(all),
    }),
    machineSets: open<MachineSet>(deps, {
      name: "machine sets",
      resource: Resource.machineSets,
      parse: parseMachineSet,
      onChange: onDifference(all),
    }),
  };
}

function openSharedWatches(deps: BuildWatchesDeps): Pick<BuildWatches, "shared" | "payload" | "otherBuilder"> {
  const onChange = onDifference(forAll(deps));
  return {
    shared: open<Pick<ClusterSettings, "proxy" | "trustBundle">>(deps, {
      name: "shared settings",
      resource: Resource.controllerConfigs,
      parse: parseSharedInputs,
      onChange,
    }),
    payload: open<string>(deps, {
      name: "payload",
      resource: Resource.clusterVersions,
      parse: parsePayload,
      onChange,
    }),
    otherBuilder: open<boolean>(deps, {
      name: "other builder",
      resource: Resource.deployments,
      namespace: deps.namespace,
      fieldSelector: `metadata.name=${OTHER_BUILDER}`,
      parse: isReadyDeployment,
      onChange,
    }),
  };
}

function openJobWatches(deps: BuildWatchesDeps): Pick<BuildWatches, "jobs" | "waiting" | "maps" | "secrets"> {
  const { namespace, onChange } = deps;
  const within = { namespace, labelSelector: BuildLabel.build };
  const jobs = open<JobObservation>(deps, {
    name: "Jobs of builds",
    resource: Resource.jobs,
    ...within,
    parse: (object) => parseBuildJob(object),
    onChange: ({ value: { meta } }) => onChange(meta.labels[BuildLabel.config]),
  });
  return {
    jobs,
    waiting: open<WaitingPod>(deps, {
      name: "pods of builds",
      resource: Resource.pods,
      namespace,
      labelSelector: "batch.kubernetes.io/job-name",
      parse: waitingPod,
      onChange: (change) => {
        const job = [...jobs.values()].find(({ meta }) => meta.uid === change.value.jobUid);
        // A Job that is not known yet has the pod read with it.
        if (job !== undefined) onDifference(() => onChange(job.meta.labels[BuildLabel.config]))(change);
      },
    }),
    maps: open<WatchedMap>(deps, {
      name: "ConfigMaps of builds",
      resource: Resource.configMaps,
      ...within,
      parse: parseMap,
      onChange: ({ value: { child } }) => onChange(child.labels[BuildLabel.config]),
    }),
    secrets: open<ChildObject>(deps, {
      name: "secrets of builds",
      resource: Resource.secrets,
      ...within,
      parse: (object) => parseChild(object, "secrets"),
      onChange: ({ value: { labels } }) => onChange(labels[BuildLabel.config]),
    }),
  };
}

/** Passes on what makes a difference to builds: the objects themselves change far more often. */
function onDifference<T>(onChange: () => void): (change: Change<T>) => void {
  return (change) => {
    const previous = change.kind === "apply" ? change.previous : undefined;
    if (change.kind === "apply" && JSON.stringify(previous) === JSON.stringify(change.value)) return;
    onChange();
  };
}

/** An object that cannot be read is of no interest, and is reported by the watch. */
function valueOf<T>(parse: (object: KubeObject) => Parsed<T>): (object: KubeObject) => T {
  return (object) => {
    const parsed = parse(object);
    if (parsed.kind === "parsed") return parsed.value;
    throw new Error(parsed.fault.message);
  };
}

function parseMap(object: KubeObject): WatchedMap {
  const digest = parseDigestMap(object);
  return {
    child: parseChild(object, "configMaps"),
    digest: digest.digest === "" && !object.metadata.name.startsWith("digest-") ? undefined : digest,
    record: parseStoredRecord(object),
  };
}
