// From an image to its pull plan: short-name candidates × (mirrors, then the registry itself), judged by policy.
import { failureOf } from "../errors.ts";
import { type Endpoint, keyOfEndpoint, type PullPlan } from "../pull_plan.ts";
import type { InspectionFailure } from "../types.ts";
import { canonicalHost, DOCKER_HUB, DOCKER_HUB_HOST, hostKey } from "../registry_host.ts";
import { resolveFullNames } from "./full_names.ts";
import { rejectingScope } from "./policy.ts";
import { findRule, type FullName } from "./registry_rules.ts";
import type { HostAccess } from "./pem.ts";
import type { PullSettings } from "./settings.ts";
import { findSources, type Source, splitName } from "./sources.ts";

type Refusal = { readonly kind: "refused"; readonly failure: InspectionFailure };
type Step<T> = { readonly kind: "planned"; readonly value: T } | Refusal;

/** Plans the pull of an image as the user wrote it. Refused when no endpoint is left, for the first reason found. */
export function planPull(image: string, settings: PullSettings): PullPlan {
  if (settings.refusal !== undefined) return misconfigured(image.slice(0, 300), settings.refusal);
  const names = resolveFullNames(image, settings);
  if (names.kind === "refused") return names;
  const steps = names.names.flatMap((full) => planName(full, settings));
  const planned = steps.flatMap((step) => step.kind === "planned" ? [step.value] : []);
  // Two configurations may name one endpoint; it gets one request.
  const keys = planned.map(keyOfEndpoint);
  const endpoints = planned.filter((endpoint, at) => keys.indexOf(keyOfEndpoint(endpoint)) === at);
  const refusal = steps.find((step) => step.kind === "refused");
  if (endpoints.length === 0 && refusal !== undefined) return refusal;
  return { kind: "endpoints", reference: names.reference, endpoints };
}

function planName(full: FullName, settings: PullSettings): readonly Step<Endpoint>[] {
  const scope = settings.policy === undefined ? undefined : rejectingScope(settings.policy, full);
  if (scope !== undefined) {
    const says = `policy.json rejects it (scope "${scope}")`;
    return [blocked(full.name, `${says}. Accept the scope in Archway's policy.json if it may be used`)];
  }
  const found = findSources(full, settings);
  if (found.kind === "unparsable") return [misconfigured(full.name + full.suffix, found.message)];
  return found.sources.map((source) => planSource(source, full, settings));
}

function planSource(source: Source, full: FullName, settings: PullSettings): Step<Endpoint> {
  const name = `${source.host}/${source.repository}`;
  // The host to contact counts, not the one the image names: a blocked registry may have mirrors (row DV-100).
  const rule = findRule(settings.registries?.rules ?? [], { name, suffix: "" });
  if (rule?.blocked === true) return blocked(full.name, `registries.conf blocks "${rule.prefix}"`);
  if (source.repository === "") return misconfigured(full.name, `the location "${source.host}" has no repository`);
  const host = hostKey(source.host) === DOCKER_HUB ? DOCKER_HUB_HOST : canonicalHost(source.host);
  const own = [...new Set([canonicalHost(source.host), host])].flatMap((name) => accessesOf(name, settings));
  const known: (HostAccess & { kind: "parsed" })[] = [];
  for (const access of [source.access, ...own, ...anyHostAccess(canonicalHost(source.host), settings)]) {
    if (access?.kind === "unparsable") return misconfigured(full.name, access.message);
    if (access !== undefined) known.push(access);
  }
  const transport = transportOf(source, { host, known, isDeclared: own.length > 0, settings });
  return { kind: "planned", value: { ...endpointOf(source, host, full), transport } };
}

function endpointOf(source: Source, host: string, full: FullName): Omit<Endpoint, "transport"> {
  const { repository, isMirror, pathPrefix, mirrorOf, headers } = source;
  const common = { host, repository, identifier: full.suffix.slice(1), isMirror, pathPrefix };
  return {
    ...common,
    ...mirrorOf === undefined ? {} : { mirrorOf },
    ...Object.keys(headers).length === 0 ? {} : { headers },
  };
}

function transportOf(
  source: Source,
  options: {
    readonly host: string;
    readonly known: readonly (HostAccess & { kind: "parsed" })[];
    readonly isDeclared: boolean;
    readonly settings: PullSettings;
  },
): Endpoint["transport"] {
  const { host, known, isDeclared, settings: { caCertificates, ...flags } } = options;
  const insecure = source.insecure || flags.insecure.has(hostKey(host));
  const skipVerify = known.some((access) => access.skipVerify);
  const clientCertificates = known.flatMap(({ certificates }) => certificates.clientCertificates);
  return {
    scheme: source.scheme === "http" ? "http" : insecure ? "https-then-http" : "https",
    verifyTls: !(insecure || skipVerify),
    caCertificates: [...caCertificates, ...known.flatMap(({ certificates }) => certificates.caCertificates)],
    ...clientCertificates.length === 0 ? {} : { clientCertificates },
    declared: source.declared || insecure || isDeclared || flags.declared.has(hostKey(host)),
  };
}

/** What certs.d and registries.yaml say of a host. A host that has certificates there was declared by the administrator. */
function accessesOf(host: string, { certs, rancher }: PullSettings): readonly HostAccess[] {
  return [certs.get(host), rancher?.access.get(host)].filter((access) => access !== undefined);
}

/** What registries.yaml says of `*`: how a host without an entry of its own is reached. It declares none of them. */
function anyHostAccess(host: string, { rancher }: PullSettings): readonly HostAccess[] {
  const access = rancher?.access.has(host) === true ? undefined : rancher?.access.get("*");
  return access === undefined ? [] : [access];
}

function blocked(name: string, state: string): Refusal {
  return { kind: "refused", failure: failureOf("Blocked", `Cannot pull "${name}": ${state}.`, registryOf(name)) };
}

function misconfigured(name: string, state: string): Refusal {
  return { kind: "refused", failure: failureOf("Misconfigured", `Cannot pull "${name}": ${state}.`, registryOf(name)) };
}

function registryOf(name: string): { readonly registry?: string } {
  const { host, repository } = splitName(name);
  return repository === "" ? {} : { registry: host };
}
