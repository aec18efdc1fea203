// Settings from texts, for tests of what is decided by them; no files are read.
import { type HostsFile, parseHostsToml } from "../../../../lib/oci/config/hosts_toml.ts";
import { ACCEPT_ALL, parsePolicy } from "../../../../lib/oci/config/policy.ts";
import { asParsed, type Parsed } from "../../../../lib/parsed.ts";
import { hostKey } from "../../../../lib/oci/host_names.ts";
import { mergeRegistriesConfs, parseRegistriesConf } from "../../../../lib/oci/config/registries_conf.ts";
import type { PullSettings } from "../../../../lib/oci/config/settings.ts";
import { planPull } from "../../../../lib/oci/config/plan_pull.ts";
import type { Endpoint } from "../../../../lib/oci/endpoint.ts";
import type { RegistryFailure } from "../../../../lib/oci/errors.ts";

export function valueOf<T>(parsed: Parsed<T>): T {
  if (parsed.kind === "parsed") return parsed.value;
  throw new Error(`broken: line ${parsed.fault.line}: ${parsed.fault.message}`);
}

/** Settings where only what is given is set. Short names mean docker.io unless a registries.conf is given. */
export function settingsFrom(
  given: {
    readonly conf?: string;
    readonly dropIns?: readonly string[];
    readonly policy?: string;
    readonly declared?: readonly string[];
    readonly insecure?: readonly string[];
  } & Partial<Omit<PullSettings, "policy" | "declared" | "insecure">>,
): PullSettings {
  const { conf, dropIns = [], policy, declared = [], insecure = [], ...more } = given;
  const main = conf === undefined ? [] : [valueOf(parseRegistriesConf(conf))];
  const confs = [...main, ...dropIns.map((text) => valueOf(parseRegistriesConf(text)))];
  return {
    refusal: undefined,
    registries: mergeRegistriesConfs(conf === undefined ? [{ searchRegistries: ["docker.io"] }, ...confs] : confs),
    hosts: new Map(),
    rancher: { mirrors: new Map(), tls: new Map(), credentials: [] },
    certs: new Map(),
    policy: policy === undefined ? ACCEPT_ALL : valueOf(parsePolicy(policy)),
    declared: new Set(declared.map(hostKey)),
    insecure: new Set(insecure.map(hostKey)),
    caCertificates: [],
    ...more,
  };
}

export function endpointsOf(image: string, settings: PullSettings): readonly Endpoint[] {
  const plan = planPull(image, settings);
  if (plan.kind === "endpoints") return plan.endpoints;
  throw new Error(`refused: ${plan.failure.reason}: ${plan.failure.message}`);
}

export function placesOf(image: string, settings: PullSettings): readonly string[] {
  return endpointsOf(image, settings).map(({ host, repository }) => `${host}/${repository}`);
}

export function refusalOf(image: string, settings: PullSettings): RegistryFailure {
  const plan = planPull(image, settings);
  if (plan.kind === "refused") return plan.failure;
  throw new Error(`not refused: ${JSON.stringify(plan.endpoints)}`);
}

export function parseHosts(text: string): Parsed<HostsFile> {
  return parseHostsToml(text, () => asParsed({ skipsVerify: false, caCertificates: [], clientCertificates: [] }));
}
