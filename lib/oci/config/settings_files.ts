// Reads all configuration files of pulls into one value. Each load reads every file.
import { HostTrees } from "./host_trees.ts";
import type { LoadContext } from "./host_files.ts";
import { type FileProblem, type FileValue, LastGood, renderProblem } from "../files/last_good.ts";
import { parseCertificates } from "./pem.ts";
import { parsePolicy, type Policy } from "./policy.ts";
import { hostKey } from "../registry_host.ts";
import type { Parsed } from "../../parsed.ts";
import { FileReader } from "../files/read_files.ts";
import { mergeRegistriesConfs, parseAliasCache, parseRegistriesConf, type RegistriesConf } from "./registries_conf.ts";
import type { PullSettings } from "./settings.ts";
import type { SystemPaths } from "./registry_environment.ts";

/** Files and folders that the administrator named. All are optional; a named one must exist (rows DV-97, DV-98). */
export interface NamedPaths {
  readonly registriesConf?: string | undefined;
  readonly registriesConfDir?: string | undefined;
  readonly hostsDir?: string | undefined;
  readonly rancherRegistries?: string | undefined;
  readonly certsDir?: string | undefined;
  readonly policy?: string | undefined;
  /** `HOST[:PORT]`, like `insecureRegistry`. */
  readonly registry: readonly string[];
  readonly registryCa: readonly string[];
  readonly insecureRegistry: readonly string[];
}

export interface SettingsPaths extends NamedPaths {
  readonly system: SystemPaths;
}

export interface LoadedSettings {
  readonly settings: PullSettings;
  readonly problems: readonly FileProblem[];
  readonly paths: ReadonlyMap<string, string>;
}

interface SettingsContext extends LoadContext {
  readonly refusals: string[];
}

export class SettingsFiles {
  readonly #paths: SettingsPaths;
  readonly #registries = new LastGood<RegistriesConf>();
  readonly #policies = new LastGood<Policy>();
  readonly #certificates = new LastGood<readonly string[]>();
  readonly #trees = new HostTrees();

  constructor(paths: SettingsPaths) {
    this.#paths = paths;
  }

  load(nowMs: number): LoadedSettings {
    const context: SettingsContext = { files: new FileReader(), problems: [], nowMs, refusals: [] };
    const { hostsDir, rancherRegistries, certsDir, registriesConfDir, system, registry, insecureRegistry } =
      this.#paths;
    for (const folder of [hostsDir, certsDir, registriesConfDir]) reportMissing(folder, context);
    const loaded = {
      registries: this.#loadRegistries(context),
      shortNames: this.#paths.registriesConf === undefined ? "usual" : "refuse",
      policy: this.#loadPolicy(context),
      hosts: this.#trees.loadHosts(hostsDir, context),
      rancher: this.#trees.loadRancher(rancherRegistries, context),
      certs: this.#trees.loadCerts(certsDir === undefined ? system.certsDirs : [certsDir], context),
      caCertificates: this.#loadCaCertificates(context),
      declared: new Set(registry.map(hostKey)),
      insecure: new Set(insecureRegistry.map(hostKey)),
    } as const;
    const { problems, refusals, files } = context;
    return { settings: { ...loaded, refusal: refusals[0] }, problems, paths: files.touched };
  }

  #loadRegistries(context: SettingsContext): RegistriesConf | undefined {
    const main = this.#paths.registriesConf ?? this.#paths.system.registriesConf;
    const folder = this.#paths.registriesConfDir ?? `${main}.d`;
    const origin = originOf(this.#paths.registriesConf);
    const first = this.#registries.read(main, {
      ...context,
      origin,
      parse: (text) => parseRegistriesConf(text, "main"),
    });
    const dropIns = context.files.list(folder).filter((name) => name.endsWith(".conf")).map((name) =>
      this.#registries.read(`${folder}/${name}`, {
        ...context,
        origin,
        parse: (text) => parseRegistriesConf(text, "drop-in"),
      })
    );
    refuse(context, { value: first, path: main, origin });
    dropIns.forEach((value) => refuse(context, { value, path: folder, origin: "system" }));
    const confs = [first, ...dropIns, this.#loadAliases(context)].flatMap((found) =>
      found.kind === "value" ? [found.value] : []
    );
    return confs.length === 0 ? undefined : mergeRegistriesConfs(confs);
  }

  /** The first existing file counts. A broken one is logged and loses only its aliases. */
  #loadAliases(context: SettingsContext): FileValue<RegistriesConf> {
    const found = this.#paths.system.aliasCaches.map((path) =>
      this.#registries.read(path, { ...context, origin: "system", parse: parseAliasCache })
    );
    return found.find(({ kind }) => kind !== "missing") ?? { kind: "missing" };
  }

  #loadPolicy(context: SettingsContext): Policy | undefined {
    const path = this.#paths.policy ?? this.#paths.system.policy;
    const origin = originOf(this.#paths.policy);
    const value = this.#policies.read(path, { ...context, origin, parse: parsePolicy });
    refuse(context, { value, path, origin });
    return value.kind === "value" ? value.value : undefined;
  }

  /** An unreadable CA is logged and only loses the trust in its certificates. */
  #loadCaCertificates(context: SettingsContext): readonly string[] {
    return this.#paths.registryCa.flatMap((path) => {
      const parse = (text: string): Parsed<readonly string[]> => parseCertificates(text, context.nowMs);
      const value = this.#certificates.read(path, { ...context, origin: "named", parse });
      if (value.kind === "missing") context.problems.push({ file: path, message: "is missing" });
      return value.kind === "value" ? value.value : [];
    });
  }
}

/** Rules that were never readable, or a missing named file, could forbid anything (rows DV-97, DV-98). */
function refuse(
  context: SettingsContext,
  options: { readonly value: FileValue<unknown>; readonly path: string; readonly origin: "named" | "system" },
): void {
  const { value, path, origin } = options;
  if (value.kind === "unparsable") {
    context.refusals.push(`a configuration file is broken: ${renderProblem(value.problem)}`);
  }
  if (value.kind !== "missing" || origin === "system") return;
  context.problems.push({ file: path, message: "is missing" });
  context.refusals.push(`the configuration file ${path} is missing`);
}

/** A folder that a flag names must exist, but may be empty. */
function reportMissing(folder: string | undefined, { files, problems }: LoadContext): void {
  if (folder !== undefined && !files.isFolder(folder)) problems.push({ file: folder, message: "is not a folder" });
}

function originOf(named: string | undefined): "named" | "system" {
  return named === undefined ? "system" : "named";
}
