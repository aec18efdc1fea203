// Everything that one reconcile of a MachineOSConfig reads.
import type { MachineConfigPool } from "../../vocabulary/machines.ts";
import type {
  BuildMachineSet,
  BuildNode,
  ChildObject,
  ClusterSettings,
  DigestObservation,
  RegistryAnswer,
  SecretState,
} from "./observed.ts";
import type { JobObservation } from "./parse/job.ts";
import type { MachineOSBuild, MachineOSConfig } from "./parse/machine_os_config.ts";
import type { RenderedConfig } from "./parse/machine_config.ts";
import type { OptionalInput } from "./optional_inputs.ts";
import type { BuildSettings } from "../../config/image_builds.ts";
import type { BuildRecord } from "./types.ts";

export interface BuildFacts {
  readonly nowMs: number;
  readonly config: MachineOSConfig;
  readonly pool: MachineConfigPool | undefined;
  readonly pools: readonly MachineConfigPool[];
  readonly rendered: RenderedConfig | undefined;
  readonly nodes: readonly BuildNode[];
  readonly machineSets: readonly BuildMachineSet[];
  readonly cluster: ClusterSettings;
  readonly builds: readonly MachineOSBuild[];
  readonly jobs: readonly JobObservation[];
  readonly digests: readonly DigestObservation[];
  readonly records: readonly StoredRecord[];
  /** Digests in the records of other MachineOSConfigs: their images must not be deleted. */
  readonly digestsElsewhere: readonly string[];
  readonly children: readonly ChildObject[];
  readonly secrets: { readonly pull: SecretState; readonly push: SecretState };
  /** Resource versions of the two secrets; empty for one that does not exist. */
  readonly secretVersions: { readonly pull: string; readonly push: string };
  readonly optionalInputs: readonly OptionalInput[];
  /** Whether to check that published images still exist: at the start, after a change, and at intervals. */
  readonly checksImages: boolean;
  /** Whether the machine config operator's own builder has a replica, ready or not. */
  readonly mcoBuilder: "running" | "stopped";
  /** The data of the ConfigMap of architectures, by pool. */
  readonly architecturesMap: Readonly<Record<string, string>>;
  readonly answers: ReadonlyMap<string, RegistryAnswer>;
  readonly settings: BuildSettings;
}

export interface StoredRecord {
  readonly name: string;
  readonly resourceVersion: string;
  readonly build: string;
  readonly buildUid: string;
  /** `registry/repository:tag` of the build; empty where it is not known. */
  readonly pushSpec: string;
  readonly pushSecret: string;
  readonly record: BuildRecord;
}
