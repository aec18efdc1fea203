// The messages between the kubelet and its credential provider plugins.
import * as z from "zod";
import { parseDuration } from "../../vocabulary/duration.ts";
import { parseYaml } from "../../vocabulary/yaml.ts";
import { parseAs, parseJson } from "../files/formats.ts";
import { asParsed, type Fault, type Parsed } from "../../parsed.ts";
import type { Credential } from "../credential.ts";

export type CacheKeyType = "Image" | "Registry" | "Global";

export type CredentialProvider = z.infer<typeof Provider>;

export interface PluginAnswer {
  readonly credentials: readonly Credential[];
  readonly keyType: CacheKeyType;
  /** 0: not cached. */
  readonly cacheMs: number;
}

const Duration = z.string().transform((text, context): number => {
  // Go writes `0`, and `12h0m0s` for twelve hours.
  const ms = text === "0" ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: "custom", message: "is not a duration" });
  return z.NEVER;
});
const VERSIONS = ["v1", "v1beta1", "v1alpha1"] as const;
const Provider = z.object({
  name: z.string().regex(/^[^\s/\\]+$/).refine((name) => name !== "." && name !== ".."),
  matchImages: z.array(z.string()).min(1),
  defaultCacheDuration: Duration,
  apiVersion: z.enum(VERSIONS.map((version) => `credentialprovider.kubelet.k8s.io/${version}` as const)),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string().min(1), value: z.string() })).nullish(),
  tokenAttributes: z.object({ requireServiceAccount: z.boolean().nullish() }).nullish(),
}).transform(({ defaultCacheDuration, args, env, ...provider }) => ({
  ...provider,
  defaultCacheMs: defaultCacheDuration,
  args: args ?? [],
  env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
}));
const Config = z.object({
  apiVersion: z.enum(VERSIONS.map((version) => `kubelet.config.k8s.io/${version}` as const)),
  kind: z.literal("CredentialProviderConfig"),
  providers: z.array(Provider),
});
const Answer = z.object({
  kind: z.literal("CredentialProviderResponse"),
  apiVersion: z.string(),
  cacheKeyType: z.enum(["Image", "Registry", "Global"]),
  cacheDuration: Duration.nullish(),
  auth: z.record(z.string(), z.object({ username: z.string().default(""), password: z.string().default("") }))
    .nullish(),
});

/** Parses the kubelet's file (YAML or JSON). A plugin that needs a pod's token cannot run here and gives a warning. */
export function parseProviderConfig(text: string): Parsed<readonly CredentialProvider[]> {
  const says = (path: string): string => `"${path}" is missing or not what the kubelet would take`;
  const parsed = parseAs(Config, parseYaml(text), text, says);
  if (parsed.kind === "unparsable") return parsed;
  const needsToken = parsed.value.providers.filter(({ tokenAttributes }) =>
    tokenAttributes?.requireServiceAccount === true
  );
  const warnings = needsToken.map(({ name }): Fault => ({
    message: `the plugin ${name} wants a ServiceAccount token of the pod and is not asked`,
  }));
  return asParsed(parsed.value.providers.filter((provider) => !needsToken.includes(provider)), warnings);
}

export function renderPluginRequest({ apiVersion }: CredentialProvider, image: string): string {
  return JSON.stringify({ apiVersion, kind: "CredentialProviderRequest", image });
}

export function parsePluginAnswer(provider: CredentialProvider, stdout: string): PluginAnswer | undefined {
  const document = parseJson(stdout);
  const parsed = Answer.safeParse(document.kind === "parsed" ? document.value : undefined);
  if (!parsed.success || parsed.data.apiVersion !== provider.apiVersion) return undefined;
  const { auth, cacheKeyType, cacheDuration } = parsed.data;
  const credentials = Object.entries(auth ?? {}).map(([scope, { username, password }]): Credential => ({
    scope,
    source: `plugin ${provider.name}`,
    secret: { kind: "basic", username, password },
  }));
  return { credentials, keyType: cacheKeyType, cacheMs: cacheDuration ?? provider.defaultCacheMs };
}
