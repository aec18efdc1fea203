// registries.yaml of k3s and RKE2: mirrors with rewrites, and per-host TLS and credentials.
import * as z from "zod";
import { decodeUserPassword } from "../credentials/docker_config.ts";
import { bareHost } from "../credentials/scope.ts";
import type { Credential } from "../credential.ts";
import { parseYaml } from "../../vocabulary/yaml.ts";
import { findLine, parseAs } from "../files/formats.ts";
import { type EndpointUrl, parseEndpointUrl } from "./endpoint_url.ts";
import type { TlsFiles } from "./host_tls.ts";
import { asParsed, type Fault, type Parsed } from "../../parsed.ts";
import { canonicalHost } from "../host_names.ts";
import { parseRewrite, type Rewrite } from "./rewrite.ts";

export interface RancherMirrors {
  readonly endpoints: readonly EndpointUrl[];
  readonly rewrites: readonly Rewrite[];
}

/** The whole file. The host `*` applies to hosts without mirrors, or TLS settings, of their own. */
interface RancherRegistries {
  readonly mirrors: ReadonlyMap<string, RancherMirrors>;
  readonly tls: ReadonlyMap<string, TlsFiles>;
  readonly credentials: readonly Credential[];
}

const text = z.string().nullish();
const Mirror = z.object({
  endpoint: z.array(z.string()).nullish(),
  rewrite: z.record(z.string(), z.string()).nullish(),
}).nullish();
const Config = z.object({
  auth: z.object({ username: text, password: text, auth: text, identity_token: text }).nullish(),
  tls: z.object({
    ca_file: text,
    cert_file: text,
    key_file: text,
    insecure_skip_verify: z.boolean().nullish(),
  }).nullish(),
}).nullish();
const Document = z.object({
  mirrors: z.record(z.string(), Mirror).nullish(),
  configs: z.record(z.string(), Config).nullish(),
}).nullable();

type Warn = (message: string, needle: string) => unknown;

/** Parses the file. Skips unusable URLs and rewrites with a warning. */
export function parseRancherRegistries(content: string): Parsed<RancherRegistries> {
  const parsed = parseAs(Document, parseYaml(content), content);
  if (parsed.kind === "unparsable") return parsed;
  const { mirrors: written, configs: entries } = parsed.value ?? {};
  const warnings: Fault[] = [];
  const warn: Warn = (message, needle) => warnings.push({ message, line: findLine(content, needle) });
  const mirrors = new Map<string, RancherMirrors>();
  for (const [host, mirror] of Object.entries(written ?? {})) {
    mirrors.set(canonicalHost(host), readMirror(mirror, warn));
  }
  const configs = Object.entries(entries ?? {});
  if (entries?.["*"]?.auth) {
    warn("the login of * is not used: it would go to whatever host an image names", "*");
  }
  return asParsed({
    mirrors,
    tls: new Map(
      configs.flatMap(([host, config]) =>
        config?.tls ? [[canonicalHost(bareHost(host)), readTls(config.tls)] as const] : []
      ),
    ),
    credentials: configs.flatMap(([host, config]) => host === "*" ? [] : readCredentials(host, config)),
  }, warnings);
}

function readMirror(mirror: z.infer<typeof Mirror>, warn: Warn): RancherMirrors {
  const endpoints = (mirror?.endpoint ?? []).flatMap((url): readonly EndpointUrl[] => {
    const parsed = parseEndpointUrl(url, { path: "root" });
    if (parsed === undefined) warn("an endpoint is passed over: its URL cannot be used", url);
    return parsed === undefined ? [] : [parsed];
  });
  const rewrites = Object.entries(mirror?.rewrite ?? {}).flatMap(([pattern, replacement]): readonly Rewrite[] => {
    const parsed = parseRewrite(pattern, replacement);
    if (parsed === undefined) warn("a rewrite is passed over: its pattern cannot be used", pattern);
    return parsed === undefined ? [] : [parsed];
  });
  return { endpoints, rewrites };
}

function readTls(tls: NonNullable<NonNullable<z.infer<typeof Config>>["tls"]>): TlsFiles {
  const { ca_file: caFile, cert_file: certificateFile, key_file: keyFile, insecure_skip_verify: skipVerify } = tls;
  return {
    skipsVerify: skipVerify === true,
    caFiles: caFile ? [caFile] : [],
    clients: certificateFile ? [{ certificateFile, ...keyFile ? { keyFile } : {} }] : [],
  };
}

function readCredentials(host: string, config: z.infer<typeof Config>): readonly Credential[] {
  const { username, password, auth, identity_token: identity } = config?.auth ?? {};
  const pair = auth ? decodeUserPassword(auth) : username ? { username, password: password ?? "" } : undefined;
  const entry = { scope: bareHost(host), source: "registries.yaml" };
  return [
    ...identity && /^[\x21-\x7e]+$/.test(identity)
      ? [{ ...entry, secret: { kind: "identity", token: identity } } as const]
      : [],
    ...pair === undefined ? [] : [{ ...entry, secret: { kind: "basic", ...pair } } as const],
  ];
}
