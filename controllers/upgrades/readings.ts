// Reads what a step requests: once per reconcile, and again after an effect that changes it.
import { isMaster } from "../../lib/upgrades/decide/pools.ts";
import { readCapacity, readCapacityLeft } from "../../lib/upgrades/cluster/capacity.ts";
import { smokeStateOf } from "../../lib/upgrades/decide/capacity/smoke.ts";
import { historyEntryOf } from "../../lib/upgrades/decide/status_changes.ts";
import { imageComparisons } from "../../lib/upgrades/decide/release/convergence.ts";
import type {
  Observation,
  Readers,
  ReadingName,
  Readings,
  UpgradeFacts,
} from "../../lib/upgrades/decide/types/observed.ts";
import type { Baseline } from "../../lib/upgrades/decide/types/plan.ts";
import type { ReadContext, UpgradesDeps } from "./deps.ts";
import { observe } from "../../lib/upgrades/cluster/plan_input.ts";
import { type ReadApi, readOptional } from "../../lib/k8s/api.ts";
import { Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { objectAt, textAt } from "../../lib/json.ts";

export type Read = { [Name in ReadingName]?: Observation<Readings[Name]> };

/** Reads these in parallel. Rejects only when the signal aborts. */
export async function readAll(
  readings: readonly ReadingName[],
  deps: UpgradesDeps,
  context: ReadContext,
): Promise<Read> {
  const readers = readersOf(deps, context);
  const read: Read = {};
  await Promise.all(readings.map((name) => readOne(name, { readers, into: read, signal: context.signal })));
  return read;
}

async function readOne<Name extends ReadingName>(
  name: Name,
  { readers, into, signal }: {
    readonly readers: Readers;
    readonly into: { [Each in Name]?: Observation<Readings[Each]> };
    readonly signal: AbortSignal;
  },
): Promise<void> {
  into[name] = await observe(readers[name], signal);
}

function readersOf({ api, outside }: UpgradesDeps, context: ReadContext): Readers {
  const { facts, osImages, reader, signal, workloads, notReadyNodes } = context;
  return {
    ...outside.readers(context),
    clusterOperators: reader.operators,
    pools: reader.pools,
    buildingPools: reader.buildingPools,
    osImages: async () => await osImages.compare(imageComparisons(await reader.pools(), baselineOf(facts)), signal),
    controlPlaneArchitectures: async () => {
      const nodes = (await reader.nodes()).filter(isMaster);
      return [...new Set(nodes.map(({ architecture }) => architecture).filter((one) => one !== ""))].toSorted();
    },
    capacity: () => readCapacity(context),
    capacityLeft: () => readCapacityLeft(context),
    smoke: async () => {
      const [machineSets, machines, nodes] = await Promise.all([
        reader.machineSets(),
        reader.smokeMachines(),
        reader.nodes(),
      ]);
      return smokeStateOf({ machineSets, machines, nodes });
    },
    notReadyNodes: () => Promise.resolve(notReadyNodes()),
    advisories: async () => {
      const found = workloads();
      if (found === undefined) return { kind: "looking" };
      return { kind: "found", sentences: [...await readAdvisories(api, signal), ...found] };
    },
  };
}

/** The target's baseline; empty when there is none to compare with. */
function baselineOf(facts: UpgradeFacts | undefined): Pick<Baseline, "renderedConfigs"> {
  const entry = facts === undefined ? undefined : historyEntryOf(facts.plan.status, facts.plan.spec.desired);
  return entry?.baseline ?? { renderedConfigs: {} };
}

const IMAGE_REGISTRY: ResourceType = {
  group: "imageregistry.operator.openshift.io",
  version: "v1",
  plural: "configs",
  kind: "Config",
  namespaced: false,
};

/** Advisories of one sentence each; empty if the cluster lacks the objects. */
async function readAdvisories(api: ReadApi, signal: AbortSignal): Promise<readonly string[]> {
  const [registry, images] = await Promise.all([
    readOptional(api, { type: IMAGE_REGISTRY, name: "cluster", signal }),
    readOptional(api, { type: Resource.imageConfigs, name: "cluster", signal }),
  ]);
  const state = textAt(objectAt(registry, "spec"), "managementState");
  const mode = textAt(objectAt(images, "spec"), "imageStreamImportMode");
  return [
    ...state !== "" && state !== "Managed" ? [`the image registry is ${state}: images are not pruned or mirrored`] : [],
    ...mode === "Legacy"
      ? ["imageStreamImportMode is Legacy: image streams keep one architecture of each image after the migration"]
      : [],
  ];
}
