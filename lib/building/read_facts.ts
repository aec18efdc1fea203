// What one reconcile of a MachineOSConfig reads: from memory what is watched, from the API server the few objects that are read
// by their name.
import type { JobObservation, MachineOSConfig, RenderedConfig } from "../image_builds/observed.ts";
import { objectOf, OPTIONAL_INPUTS } from "../image_builds/optional_inputs.ts";
import { withPod } from "../image_builds/parse/pod.ts";
import { parseRenderedConfig } from "../image_builds/parse/machine_config.ts";
import { stateOfSecret } from "../image_builds/parse/secret.ts";
import { digestsOf } from "../image_builds/publish/collect.ts";
import type { RegistryAnswer } from "../image_builds/registry.ts";
import type { BuildSettings } from "../image_builds/settings.ts";
import { ARCHITECTURES_MAP, BuildLabel, GLOBAL_PULL_SECRET_COPY } from "../image_builds/names.ts";
import type { BuildFacts, OptionalInputs } from "../image_builds/facts.ts";
import { textMapAt } from "../json.ts";
import type { ReadApi } from "../k8s/api.ts";
import { readOptional } from "../k8s/read_optional.ts";
import { type KubeObject, Resource, type ResourceType } from "../k8s/types.ts";
import type { RegistrySecrets } from "./build_registries.ts";
import type { BuildWatches } from "./watches.ts";

/** What it is read with. */
export interface ReadFactsDeps {
  readonly api: ReadApi;
  readonly watches: BuildWatches;
  readonly settings: BuildSettings;
  readonly nowMs: number;
  /** Whether what was published is checked again. */
  readonly checksImages: boolean;
  readonly signal: AbortSignal;
}

/** What was read. */
export interface FactsAndSecrets {
  /** Without answers of registries. */
  readonly facts: BuildFacts;
  /** Never to be logged. */
  readonly secrets: RegistrySecrets;
}

const NO_ANSWERS: ReadonlyMap<string, RegistryAnswer> = new Map();

/** Reads it. Throws ApiError when the API server does not answer. */
export async function readFacts(config: MachineOSConfig, deps: ReadFactsDeps): Promise<FactsAndSecrets> {
  const { watches, settings, nowMs, checksImages } = deps;
  const pool = watches.pools.get(config.pool);
  const { namespace } = settings;
  const read = (type: ResourceType, name: string) =>
    readOptional(deps.api, { type, namespace, name, signal: deps.signal });
  const [rendered, push, pull, optional, detected] = await Promise.all([
    pool === undefined || pool.rendered === "" ? undefined : readRendered(pool.rendered, deps),
    read(Resource.secrets, config.pushSecret),
    read(Resource.secrets, config.pullSecret ?? GLOBAL_PULL_SECRET_COPY),
    readOptionalInputs(config.pool, read),
    read(Resource.configMaps, ARCHITECTURES_MAP),
  ]);
  const of = config.meta.name;
  const facts: BuildFacts = {
    nowMs,
    config,
    pool,
    pools: [...watches.pools.values()],
    rendered,
    nodes: [...watches.nodes.values()],
    machineSets: [...watches.machineSets.values()],
    cluster: clusterOf(watches),
    builds: [...watches.builds.values()].filter((build) => build.config === of),
    jobs: jobsOf(of, watches),
    ...mapsOf(of, watches),
    secrets: { push: stateOfSecret(push), pull: stateOfSecret(pull) },
    optional,
    checksImages,
    otherBuilder: [...watches.otherBuilder.values()].some((ready) => ready) ? "ready" : "not ready",
    detected: detected === undefined ? undefined : {
      resourceVersion: detected.metadata.resourceVersion ?? "",
      data: textMapAt(detected, "data") ?? {},
    },
    answers: NO_ANSWERS,
    settings,
  };
  return { facts, secrets: { push, pull } };
}

function clusterOf({ payload, shared }: BuildWatches): BuildFacts["cluster"] {
  const [architecture = ""] = payload.values();
  const [inputs = { proxy: {}, trustBundle: "" }] = shared.values();
  return { payload: architecture, ...inputs };
}

function jobsOf(config: string, { jobs, waiting }: BuildWatches): readonly JobObservation[] {
  const pods = new Map([...waiting.values()].map((pod) => [pod.jobUid, pod.waits]));
  return [...jobs.values()].filter(({ meta }) => meta.labels[BuildLabel.config] === config)
    .map((job) => withPod(job, pods.get(job.meta.uid)));
}

function mapsOf(
  config: string,
  { maps, secrets }: BuildWatches,
): Pick<BuildFacts, "digests" | "records" | "elsewhere" | "children"> {
  const own = [...maps.values()].filter(({ child }) => child.labels[BuildLabel.config] === config);
  return {
    digests: own.flatMap(({ digest }) => digest ?? []),
    records: own.flatMap(({ record }) => record ?? []),
    elsewhere: digestsElsewhere(config, maps),
    children: [
      ...own.map(({ child }) => child),
      ...[...secrets.values()].filter(({ labels }) => labels[BuildLabel.config] === config),
    ],
  };
}

/** Digests in records of other configurations. */
export function digestsElsewhere(config: string, maps: BuildWatches["maps"]): readonly string[] {
  return [...maps.values()].flatMap(({ child, record }) =>
    record === undefined || child.labels[BuildLabel.config] === config ? [] : digestsOf(record)
  );
}

/** Rendered configurations never change, so one that was read counts for as long as the watch of pools names it. */
async function readRendered(name: string, { api, signal }: ReadFactsDeps): Promise<RenderedConfig | undefined> {
  const object = await readOptional(api, { type: Resource.machineConfigs, name, signal });
  if (object === undefined) return undefined;
  const parsed = parseRenderedConfig(object);
  if (parsed.kind === "parsed") return parsed.value;
  throw new Error(`Cannot read MachineConfig "${name}": ${parsed.fault.message}.`);
}

async function readOptionalInputs(
  pool: string,
  read: (type: ResourceType, name: string) => Promise<KubeObject | undefined>,
): Promise<OptionalInputs> {
  const found = await Promise.all(OPTIONAL_INPUTS.map(async (input) => {
    const type = input.kind === "secret" ? Resource.secrets : Resource.configMaps;
    return await read(type, objectOf(input, pool)) === undefined ? [] : [input.has];
  }));
  const has = (name: keyof OptionalInputs): boolean => found.flat().includes(name);
  return {
    hasEntitlements: has("hasEntitlements"),
    hasYumRepos: has("hasYumRepos"),
    hasRpmKeys: has("hasRpmKeys"),
  };
}
