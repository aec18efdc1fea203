// Reads what one reconcile of a MachineOSConfig needs: watched objects from memory, a few others by their name.
import type { JobObservation } from "../decide/parse/job.ts";
import type { MachineOSConfig } from "../decide/parse/machine_os_config.ts";
import { parseRenderedConfig, type RenderedConfig } from "../decide/parse/machine_config.ts";
import { objectNameOf, OPTIONAL_INPUTS, type OptionalInput } from "../decide/optional_inputs.ts";
import { stateOfSecret } from "../decide/parse/secret.ts";
import { digestsOf } from "../decide/publish/deletions.ts";
import type { BuildSettings } from "../../config/image_builds.ts";
import { ARCHITECTURES_MAP, BUILDER_IMAGES_MAP, BuildLabel, GLOBAL_PULL_SECRET_COPY } from "../decide/names.ts";
import type { BuildFacts } from "../decide/facts.ts";
import { parseObject, textAt, textMapAt } from "../../json.ts";
import { type ReadApi, readOptional } from "../../k8s/api.ts";
import { type KubeObject, Resource, type ResourceType } from "../../k8s/types.ts";
import type { RegistrySecrets } from "./answer_questions.ts";
import type { BuildWatches } from "./watches.ts";

interface ReadFactsDeps {
  readonly api: ReadApi;
  readonly watches: BuildWatches;
  readonly settings: BuildSettings;
  readonly nowMs: number;
  readonly checksImages: boolean;
  readonly signal: AbortSignal;
}

interface FactsAndSecrets {
  readonly facts: BuildFacts;
  /** Never to be logged. */
  readonly secrets: RegistrySecrets;
}

export async function readFacts(config: MachineOSConfig, deps: ReadFactsDeps): Promise<FactsAndSecrets> {
  const { watches, settings, nowMs, checksImages } = deps;
  const pool = watches.pools.get(config.pool);
  const { namespace } = settings;
  const read = (type: ResourceType, name: string) =>
    readOptional(deps.api, { type, namespace, name, signal: deps.signal });
  const [rendered, push, pull, optionalInputs, architectures] = await Promise.all([
    pool === undefined || pool.rendered === "" ? undefined : readRendered(pool.rendered, deps),
    read(Resource.secrets, config.pushSecret),
    read(Resource.secrets, config.pullSecret ?? GLOBAL_PULL_SECRET_COPY),
    readOptionalInputs(config.pool, read),
    read(Resource.configMaps, ARCHITECTURES_MAP),
  ]);
  const { name } = config.meta;
  const facts: BuildFacts = {
    nowMs,
    config,
    pool,
    pools: [...watches.pools.values()],
    rendered,
    nodes: [...watches.nodes.values()],
    machineSets: [...watches.machineSets.values()],
    cluster: clusterOf(watches),
    builds: [...watches.builds.values()].filter((build) => build.config === name),
    jobs: jobsOf(name, watches),
    ...mapsOf(name, watches),
    secrets: { push: stateOfSecret(push), pull: stateOfSecret(pull) },
    secretVersions: { push: push?.metadata.resourceVersion ?? "", pull: pull?.metadata.resourceVersion ?? "" },
    optionalInputs,
    checksImages,
    mcoBuilder: [...watches.mcoBuilder.values()].some((isRunning) => isRunning) ? "running" : "stopped",
    architecturesMap: textMapAt(architectures, "data") ?? {},
    answers: new Map(),
    settings,
  };
  return { facts, secrets: { push, pull } };
}

function clusterOf({ payloadArchitectures, controllerConfigs }: BuildWatches): BuildFacts["cluster"] {
  const [payloadArchitecture = ""] = payloadArchitectures.values();
  const [inputs = { proxy: {}, trustBundle: "" }] = controllerConfigs.values();
  return { payloadArchitecture, ...inputs };
}

function jobsOf(config: string, { jobs, waitingPods }: BuildWatches): readonly JobObservation[] {
  const pods = new Map([...waitingPods.values()].map((pod) => [pod.jobUid, pod.waits]));
  return [...jobs.values()].filter(({ meta }) => meta.labels[BuildLabel.config] === config)
    .map((job) => ({ ...job, ...pods.get(job.meta.uid) }));
}

function mapsOf(
  config: string,
  { maps, secrets }: BuildWatches,
): Pick<BuildFacts, "digests" | "records" | "digestsElsewhere" | "children"> {
  const own = [...maps.values()].filter(({ child }) => child.labels[BuildLabel.config] === config);
  return {
    digests: own.flatMap(({ digest }) => digest ?? []),
    records: own.flatMap(({ record }) => record ?? []),
    digestsElsewhere: digestsOfOtherConfigs(config, maps),
    children: [
      ...own.map(({ child }) => child),
      ...[...secrets.values()].filter(({ labels }) => labels[BuildLabel.config] === config),
    ],
  };
}

export function digestsOfOtherConfigs(config: string, maps: BuildWatches["maps"]): readonly string[] {
  return [...maps.values()].flatMap(({ child, record }) =>
    record === undefined || child.labels[BuildLabel.config] === config ? [] : digestsOf(record)
  );
}

/** Read and not watched: a rendered MachineConfig never changes, and the watch of pools shows which one counts. */
async function readRendered(name: string, { api, signal }: ReadFactsDeps): Promise<RenderedConfig | undefined> {
  const object = await readOptional(api, { type: Resource.machineConfigs, name, signal });
  return object && parseRenderedConfig(object);
}

async function readOptionalInputs(
  pool: string,
  read: (type: ResourceType, name: string) => Promise<KubeObject | undefined>,
): Promise<readonly OptionalInput[]> {
  const found = await Promise.all(OPTIONAL_INPUTS.map(async (input) => {
    const type = input.kind === "secret" ? Resource.secrets : Resource.configMaps;
    return await read(type, objectNameOf(input, pool)) === undefined ? [] : [input];
  }));
  return found.flat();
}

/** The image of the release's machine config operator, which has the build programs; empty where it is not known. */
export async function findBuilder(api: ReadApi, namespace: string, signal: AbortSignal): Promise<string> {
  const map = await readOptional(api, { type: Resource.configMaps, namespace, name: BUILDER_IMAGES_MAP, signal });
  return textAt(parseObject(textMapAt(map, "data")?.["images.json"] ?? ""), "machineConfigOperator");
}
