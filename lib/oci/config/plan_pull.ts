// From an image to its pull plan: short-name candidates × (mirrors, then the registry itself), judged by policy.
import type { Parsed } from "../../parsed.ts";
import { failureOf, type RegistryFailure } from "../errors.ts";
import { type Endpoint, keyOfEndpoint } from "../endpoint.ts";
import { type ImageReference, renderReference, splitDomain } from "../reference.ts";
import { canonicalHost, DOCKER_HUB, DOCKER_HUB_HOST, hostKey } from "../host_names.ts";
import { resolveFullNames } from "./full_names.ts";
import { rejectingScope } from "./policy.ts";
import { findRule, type FullName, repositoryName } from "./registry_rules.ts";
import type { HostTls } from "./host_tls.ts";
import type { PullSettings } from "./settings.ts";
import { findPullSources, type PullSource } from "./pull_sources.ts";

type Refusal = { readonly kind: "refused"; readonly failure: RegistryFailure };
/** Where a reference may be pulled from, in order, or why it must not be pulled. */
export type PullPlan =
  | { readonly kind: "endpoints"; readonly reference: ImageReference; readonly endpoints: readonly Endpoint[] }
  | Refusal;
type Step = { readonly kind: "planned"; readonly endpoint: Endpoint } | Refusal;

/** Plans the pull of an image as the user wrote it. Refused when no endpoint is left, for the first reason found. */
export function planPull(image: string, settings: PullSettings): PullPlan {
  if (settings.refusal !== undefined) return refusedPlan("Misconfigured", image.slice(0, 300), settings.refusal);
  const names = resolveFullNames(image, settings);
  if (names.kind === "refused") return names;
  const steps = names.names.flatMap((full) => planName(full, settings));
  const planned = steps.flatMap((step) => step.kind === "planned" ? [step.endpoint] : []);
  // Two configurations may name the same endpoint, which gets one request.
  const keys = planned.map(keyOfEndpoint);
  const endpoints = planned.filter((endpoint, at) => keys.indexOf(keyOfEndpoint(endpoint)) === at);
  const refusal = steps.find((step) => step.kind === "refused");
  if (endpoints.length === 0 && refusal !== undefined) return refusal;
  return { kind: "endpoints", reference: names.reference, endpoints };
}

function planName(full: FullName, settings: PullSettings): readonly Step[] {
  const scope = rejectingScope(settings.policy, full);
  if (scope !== undefined) {
    const says = `policy.json rejects it (scope "${scope}")`;
    return [
      refusedPlan(
        "Blocked",
        repositoryName(full),
        `${says}. Accept the scope in Archway's policy.json if it may be used`,
      ),
    ];
  }
  const found = findPullSources(full, settings);
  if (found.kind === "unparsable") return [refusedPlan("Misconfigured", renderReference(full), found.fault.message)];
  return found.value.map((source) => planSource(source, full, settings));
}

function planSource(source: PullSource, full: FullName, settings: PullSettings): Step {
  const name = repositoryName(full);
  // Blocking applies to the contacted host, not the named one: a blocked registry may have mirrors.
  const rule = findRule(settings.registries.rules, repositoryName(source));
  if (rule?.isBlocked === true) return refusedPlan("Blocked", name, `registries.conf blocks "${rule.prefix}"`);
  if (source.repository === "") {
    return refusedPlan("Misconfigured", name, `the location "${source.host}" has no repository`);
  }
  const host = hostKey(source.host) === DOCKER_HUB ? DOCKER_HUB_HOST : canonicalHost(source.host);
  // An entry of its own in certs.d or registries.yaml means that an administrator declared the host; `*` does not.
  const own = [...new Set([canonicalHost(source.host), host])].flatMap((name) => tlsOf(name, settings));
  const anyHost = settings.rancher.tls.has(canonicalHost(source.host)) ? undefined : settings.rancher.tls.get("*");
  const known: HostTls[] = source.tls === undefined ? [] : [source.tls];
  for (const tls of anyHost === undefined ? own : [...own, anyHost]) {
    if (tls.kind === "unparsable") return refusedPlan("Misconfigured", name, tls.fault.message);
    known.push(tls.value);
  }
  const connection = connectionOf(source, { host, known, isDeclared: own.length > 0, settings });
  return { kind: "planned", endpoint: { ...endpointOf(source, host, full), connection } };
}

function endpointOf(source: PullSource, host: string, full: FullName): Omit<Endpoint, "connection"> {
  const { repository, isMirror, pathPrefix, mirrorOf, headers } = source;
  const common = { host, repository, identifier: full.identifier, isMirror, pathPrefix };
  return {
    ...common,
    ...mirrorOf === undefined ? {} : { mirrorOf },
    ...Object.keys(headers).length === 0 ? {} : { headers },
  };
}

function connectionOf(
  source: PullSource,
  options: {
    readonly host: string;
    readonly known: readonly HostTls[];
    readonly isDeclared: boolean;
    readonly settings: PullSettings;
  },
): Endpoint["connection"] {
  const { host, known, isDeclared, settings: { caCertificates, ...flags } } = options;
  const isInsecure = source.isInsecure || flags.insecure.has(hostKey(host));
  const skipsVerify = known.some((tls) => tls.skipsVerify);
  const clientCertificates = known.flatMap((tls) => tls.clientCertificates);
  return {
    scheme: source.scheme === "http" ? "http" : isInsecure ? "https-then-http" : "https",
    verifiesTls: !(isInsecure || skipsVerify),
    caCertificates: [...caCertificates, ...known.flatMap((tls) => tls.caCertificates)],
    ...clientCertificates.length === 0 ? {} : { clientCertificates },
    isDeclared: source.isDeclared || isInsecure || isDeclared || flags.declared.has(hostKey(host)),
  };
}

function tlsOf(host: string, { certs, rancher }: PullSettings): readonly Parsed<HostTls>[] {
  return [certs.get(host), rancher.tls.get(host)].filter((tls) => tls !== undefined);
}

function refusedPlan(reason: "Blocked" | "Misconfigured", name: string, state: string): Refusal {
  const { domain: registry } = splitDomain(name);
  return { kind: "refused", failure: failureOf(reason, `Cannot pull "${name}": ${state}.`, { registry }) };
}
