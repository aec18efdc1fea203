// Plans what is to be built from a pool's configuration and architectures, whatever the order of these inputs.
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import type { KnownArchitecture } from "../../../arch.ts";
import type { MachineOSBuild, MachineOSConfig } from "../parse/machine_os_config.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import type { ArchitecturePlan, ArchitectureSet, BuildMode, BuildPlan, PlanError } from "../types.ts";
import { ArchwayAnnotation, McoAnnotation } from "../names.ts";
import { buildInputs, buildKeyOf, nameKeyOf, setKeyOf, SHORT_KEY_LENGTH } from "./build_keys.ts";
import { mcoBuildName } from "./mco_build_name.ts";
import { renderContainerfile, resolveContainerfile } from "./containerfile.ts";
import { cutReference } from "../../../oci/reference.ts";

export interface PlanInput {
  readonly config: MachineOSConfig;
  readonly pool: MachineConfigPool | undefined;
  readonly rendered: RenderedConfig | undefined;
  readonly set: ArchitectureSet;
  readonly alwaysIndex: boolean;
  /** `registry/repository` for images that are to be joined; empty, or absent: that of the push spec. */
  readonly staging?: string;
  /** Builds of the MachineOSConfig: the one in use keeps its name while its inputs stay the same. */
  readonly builds: readonly MachineOSBuild[];
  /** Version of the Containerfile's template; for tests. */
  readonly template?: number | undefined;
}

/** Maximum length of a MachineOSConfig's name: 63 characters less what is appended to it. */
const MAX_NAME: Readonly<Record<BuildMode, number>> = { single: 24, index: 30 };

export function planBuild(input: PlanInput): BuildPlan | PlanError {
  const { config, pool, rendered, set, alwaysIndex } = input;
  const name = config.meta.name;
  if (pool === undefined) return error("PoolNotFound", `There is no MachineConfigPool "${config.pool}".`);
  if (pool.name !== config.pool) {
    return error("PoolMismatch", `MachineOSConfig "${name}" is for pool "${config.pool}", not "${pool.name}".`);
  }
  const lack = whyNotRendered(pool, rendered);
  if (rendered === undefined || lack !== undefined) return error("NotRendered", lack ?? "");
  if (set.length === 0) return error("NoArchitecture", `No node says which architecture pool "${config.pool}" has.`);
  const mode: BuildMode = set.length === 1 && !alwaysIndex ? "single" : "index";
  if (name.length > MAX_NAME[mode]) {
    const message = `The name of MachineOSConfig "${name}" has ${name.length} characters; names and labels of its ` +
      `builds leave room for ${MAX_NAME[mode]}.`;
    return error("NameTooLong", message);
  }
  return planOf({ ...input, pool, rendered, mode });
}

interface CheckedInput extends PlanInput {
  readonly pool: MachineConfigPool;
  readonly rendered: RenderedConfig;
  readonly mode: BuildMode;
}

function planOf(input: CheckedInput): BuildPlan {
  const { config, pool, rendered, set, mode, staging = "" } = input;
  const repository = cutReference(config.pushSpec).name;
  const keys = set.map((arch): readonly [KnownArchitecture, string] => [arch, buildKeyOf(buildInputs(arch, input))]);
  const name = mode === "single"
    ? singleName(input)
    : `${config.meta.name}-${
      setKeyOf({ pool: config.pool, rendered: pool.rendered, repository, builds: Object.fromEntries(keys) })
        .slice(0, SHORT_KEY_LENGTH)
    }`;
  const builds = keys.map(([arch, buildKey]): ArchitecturePlan => {
    const userText = resolveContainerfile(config.containerFiles, arch);
    return {
      arch,
      buildKey,
      ...(mode === "single" ? mcoObjectNames(name) : indexNames(config.meta.name, arch, buildKey)),
      userText,
      containerfile: renderContainerfile({ rendered, pool: config.pool, userText }),
    };
  });
  return {
    kind: "plan",
    mode,
    set,
    name,
    configName: config.meta.name,
    pool: config.pool,
    renderedConfigName: pool.rendered,
    repository,
    jobRepository: mode === "single" || staging === "" ? repository : staging,
    builds,
    infos: unusedFiles(input),
  };
}

function unusedFiles({ config, set }: Pick<PlanInput, "config" | "set">): readonly string[] {
  return config.containerFiles.filter(({ arch }) => arch !== "NoArch" && !set.includes(arch)).map(({ arch }) =>
    `The containerfile for ${arch} is not used: no node of pool "${config.pool}" is of it.`
  );
}

type ObjectNames = Pick<
  ArchitecturePlan,
  "jobName" | "digestConfigMapName" | "containerfileConfigMapName" | "tag"
>;

function mcoObjectNames(build: string): ObjectNames {
  return {
    jobName: `build-${build}`,
    digestConfigMapName: `digest-${build}`,
    containerfileConfigMapName: `containerfile-${build}`,
    tag: build,
  };
}

function indexNames(config: string, arch: KnownArchitecture, buildKey: string): ObjectNames {
  const key = `${nameKeyOf(config, buildKey)}-${arch}`;
  return {
    jobName: `ocl-${key}`,
    digestConfigMapName: `digest-${key}`,
    containerfileConfigMapName: `containerfile-${key}`,
    tag: `${config}-${buildKey.slice(0, SHORT_KEY_LENGTH)}-${arch}`,
  };
}

/** The name of the build in use while nothing has changed; else the one that the machine config operator would give. */
function singleName({ config, pool, rendered, builds }: CheckedInput): string {
  const used = config.meta.annotations[McoAnnotation.currentBuild];
  const isUnchanged = config.status.observedGeneration > 0 &&
    config.status.observedGeneration === config.meta.generation;
  const current = builds.find(({ meta, rendered, pushSpec }) =>
    meta.name === used && rendered === pool.rendered && pushSpec === `${cutReference(pushSpec).name}:${used}` &&
    !meta.isDeleting
  );
  const isOfOneArchitecture = current !== undefined &&
    !Object.hasOwn(current.meta.annotations, ArchwayAnnotation.indexOf);
  return isUnchanged && isOfOneArchitecture ? current.meta.name : mcoBuildName({ config, pool, rendered });
}

function whyNotRendered(pool: MachineConfigPool, rendered: RenderedConfig | undefined): string | undefined {
  if (pool.rendered === "") return `MachineConfigPool "${pool.name}" has no rendered configuration yet.`;
  if (rendered === undefined) return `There is no MachineConfig "${pool.rendered}".`;
  const { name, annotations } = rendered.meta;
  if (!name.startsWith("rendered-")) return `MachineConfig "${name}" is not a rendered one.`;
  for (const key of [McoAnnotation.releaseVersion, McoAnnotation.controllerVersion]) {
    if ((annotations[key] ?? "") === "") return `MachineConfig "${name}" has no annotation ${key}.`;
  }
  return rendered.osImageURL === "" ? `MachineConfig "${name}" names no osImageURL.` : undefined;
}

function error(reason: PlanError["reason"], message: string): PlanError {
  return { kind: "error", reason, message };
}
