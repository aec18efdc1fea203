// Reads all configuration files of pulls into one value.
import { asParsed, type Parsed } from "../../parsed.ts";
import type { FileReader, Origin } from "../files/read_files.ts";
import { DOCKER_HUB, hostKey } from "../host_names.ts";
import { loadCerts, loadHosts, loadRancher } from "./host_trees.ts";
import { parseCertificates } from "./pem.ts";
import { ACCEPT_ALL, parsePolicy, type Policy } from "./policy.ts";
import { mergeRegistriesConfs, parseAliasCache, parseRegistriesConf, type RegistriesConf } from "./registries_conf.ts";
import type { SystemPaths } from "./registry_environment.ts";
import type { PullSettings } from "./settings.ts";

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

/** Rules or a policy that cannot be read, or are named but missing, could forbid anything: every image is refused. */
export function loadSettings(paths: SettingsPaths, files: FileReader): PullSettings {
  const { hostsDir, rancherRegistries, certsDir, registriesConfDir, system } = paths;
  for (const folder of [hostsDir, certsDir, registriesConfDir]) {
    if (folder !== undefined) files.expectFolder(folder);
  }
  const registries = loadRegistries(paths, files);
  const policy = loadPolicy(paths, files);
  const broken = [registries, policy].find((rules) => rules.kind === "unparsable");
  return {
    refusal: broken?.fault.message,
    registries: registries.kind === "parsed" ? registries.value : mergeRegistriesConfs([]),
    policy: policy.kind === "parsed" ? policy.value : ACCEPT_ALL,
    hosts: loadHosts(hostsDir, files),
    rancher: loadRancher(rancherRegistries, files),
    certs: loadCerts(certsDir === undefined ? system.certsDirs : [certsDir], files),
    // An unreadable CA file loses only the trust in its certificates.
    caCertificates: valuesOf(paths.registryCa.map((path) => files.readRequired(path, parseCertificates))).flat(),
    declared: new Set(paths.registry.map(hostKey)),
    insecure: new Set(paths.insecureRegistry.map(hostKey)),
  };
}

function loadRegistries(
  { registriesConf, registriesConfDir, system }: SettingsPaths,
  files: FileReader,
): Parsed<RegistriesConf> {
  const main = registriesConf ?? system.registriesConf;
  const origin: Origin = registriesConf === undefined ? "system" : "named";
  const folder = registriesConfDir ?? `${main}.d`;
  const dropIns = files.list(folder).filter((name) => name.endsWith(".conf"));
  const rules = [
    registriesConf === undefined
      ? files.read(main, parseRegistriesConf, origin)
      : files.readRequired(main, parseRegistriesConf),
    ...dropIns.map((name) => files.read(`${folder}/${name}`, parseRegistriesConf, origin)),
  ];
  const broken = rules.find((conf) => conf?.kind === "unparsable");
  if (broken !== undefined) return broken;
  // The first cache that exists counts. A broken one loses only its aliases.
  const aliases = system.aliasCaches.map((path) => files.read(path, parseAliasCache, "system"))
    .find((cache) => cache !== undefined);
  const merged = mergeRegistriesConfs(valuesOf([...rules, aliases]));
  // Without a named file and without search registries, short names mean Docker Hub.
  const needsHub = registriesConf === undefined && merged.searchRegistries.length === 0;
  return asParsed(needsHub ? { ...merged, searchRegistries: [DOCKER_HUB] } : merged);
}

function loadPolicy({ policy, system }: SettingsPaths, files: FileReader): Parsed<Policy> {
  if (policy !== undefined) return files.readRequired(policy, parsePolicy);
  return files.read(system.policy, parsePolicy, "system") ?? asParsed(ACCEPT_ALL);
}

function valuesOf<T>(found: readonly (Parsed<T> | undefined)[]): readonly T[] {
  return found.flatMap((each) => each?.kind === "parsed" ? [each.value] : []);
}
