// The kubelet's credential provider plugins: its configuration file and the exec protocol v1. Opened by keyring.ts.
// Contract: kubelet.config.k8s.io/v1 CredentialProviderConfig, credentialprovider.kubelet.k8s.io/v1.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { LastGood, renderProblem } from "../config/last_good.ts";
import type { Problem } from "../config/problem.ts";
import { haveChanged, openFileReader } from "../config/read_files.ts";
import type { Credential, Keyring } from "../types.ts";
import { matchCredentials, scopeCovers } from "./match.ts";
import {
  type CacheKeyType,
  type CredentialProvider,
  parsePluginAnswer,
  parseProviderConfig,
  type PluginAnswer,
  renderPluginRequest,
} from "./plugin_protocol.ts";
import { ReportOnce } from "./report_once.ts";
import type { CommandRunner } from "./run_command.ts";
import { canonicalHost } from "./scope.ts";
import { awaitShared } from "./shared_answer.ts";

/** The kubelet waits a minute; a gated pod should not. */
const PLUGIN_TIMEOUT_MS = 20_000;

/** After a failure the plugin is left alone for this long. */
const FAILURE_REST_MS = 10_000;

interface Endpoint {
  readonly host: string;
  readonly repository: string;
}

interface Cached {
  readonly untilMs: number;
  readonly credentials: readonly Credential[];
}

/** Opens the plugins. The configuration is read again when it changes; complaints are logged once. */
export function openKubeletPlugins(options: {
  readonly configPath: string;
  readonly binDir: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly run: CommandRunner;
}): Keyring {
  const { configPath, binDir, clock, run } = options;
  const report = new ReportOnce(options.log);
  const content = new LastGood<readonly CredentialProvider[]>();
  const cache = new LRUCache<string, Cached>({ max: 1_000 });
  const running = new Map<string, Promise<readonly Credential[]>>();
  let touched: ReadonlyMap<string, string> = new Map([[configPath, "never read"]]);
  let providers: readonly CredentialProvider[] = [];

  function refresh(): readonly CredentialProvider[] {
    if (!haveChanged(touched)) return providers;
    const files = openFileReader();
    const problems: Problem[] = [];
    const list = { add: (problem: Problem): unknown => problems.push(problem) };
    const found = content.read(configPath, { files, problems: list, parse: parseProviderConfig, place: "named" });
    if (found.kind === "missing") problems.push({ file: configPath, message: "is missing" });
    problems.forEach((problem) => report.tell("credential provider configuration", renderProblem(problem)));
    touched = files.touched;
    providers = found.kind === "value" ? found.value : [];
    cache.clear();
    return providers;
  }

  async function exec(provider: CredentialProvider, image: string): Promise<PluginAnswer | string> {
    const outcome = await run({
      program: `${binDir}/${provider.name}`,
      args: provider.args,
      env: provider.env,
      stdin: renderPluginRequest(provider, image),
      timeoutMs: PLUGIN_TIMEOUT_MS,
    });
    if (outcome.kind === "failed") return outcome.message;
    if (outcome.code !== 0) return `ended with exit code ${outcome.code}`;
    return parsePluginAnswer(provider, outcome.stdout) ?? "gave no readable answer";
  }

  async function ask(provider: CredentialProvider, endpoint: Endpoint): Promise<readonly Credential[]> {
    const answer = await exec(provider, imageOf(endpoint));
    const nowMs = clock.monotonicMs();
    if (typeof answer === "string") {
      report.tell(`plugin ${provider.name}`, answer);
      cache.set(cacheKey(provider, "Image", endpoint), { untilMs: nowMs + FAILURE_REST_MS, credentials: [] });
      return [];
    }
    report.settle(`plugin ${provider.name}`);
    const { credentials, keyType, cacheMs } = answer;
    if (cacheMs > 0) cache.set(cacheKey(provider, keyType, endpoint), { untilMs: nowMs + cacheMs, credentials });
    return credentials;
  }

  /** From the cache under any of its three keys, from a run under way, or from a run of its own. */
  async function credentialsOf(provider: CredentialProvider, endpoint: Endpoint): Promise<readonly Credential[]> {
    for (const keyType of ["Image", "Registry", "Global"] as const) {
      const known = cache.get(cacheKey(provider, keyType, endpoint));
      if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.credentials;
    }
    const key = cacheKey(provider, "Image", endpoint);
    const shared = running.get(key) ?? ask(provider, endpoint).finally(() => running.delete(key));
    running.set(key, shared);
    return await shared;
  }

  return {
    lookup: async (endpoint, signal) => {
      const asked = refresh().filter(({ matchImages }) =>
        matchImages.some((pattern) => scopeCovers(pattern, endpoint))
      );
      const lists = await awaitShared(Promise.all(asked.map((provider) => credentialsOf(provider, endpoint))), signal);
      return (lists ?? []).flatMap((credentials) => matchCredentials(credentials, endpoint));
    },
  };
}

function imageOf({ host, repository }: Endpoint): string {
  return `${canonicalHost(host)}/${repository}`;
}

function cacheKey({ name }: CredentialProvider, keyType: CacheKeyType, endpoint: Endpoint): string {
  const part = { Image: imageOf(endpoint), Registry: canonicalHost(endpoint.host), Global: "" };
  return `${name} ${keyType} ${part[keyType]}`;
}
