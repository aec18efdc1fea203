// The kubelet's credential provider plugins, exec protocol v1 (credentialprovider.kubelet.k8s.io).
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import type { Credential, Keyring, KeyringEndpoint } from "../credential.ts";
import type { Callers } from "../callers.ts";
import { matchCredentials, scopeCovers } from "./match.ts";
import {
  type CacheKeyType,
  type CredentialProvider,
  parsePluginAnswer,
  parseProviderConfig,
  type PluginAnswer,
  renderPluginRequest,
} from "./plugin_protocol.ts";
import { followFile, ReportOnce } from "../files/followed_file.ts";
import type { CommandRunner } from "./run_command.ts";
import { hostKey } from "../host_names.ts";
import { livingBy } from "../cache_limits.ts";
import { SharedCalls } from "../shared_calls.ts";

/** The kubelet waits a minute, which is too long for a gated pod. */
const PLUGIN_TIMEOUT_MS = 20_000;

const FAILURE_REST_MS = 10_000;

interface KubeletPluginsOptions {
  readonly configPath: string;
  readonly binDir: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly run: CommandRunner;
}

/** Runs the plugins. Their configuration is reread when it changes; a problem is logged once until it is mended. */
export class KubeletPlugins implements Keyring {
  readonly #options: KubeletPluginsOptions;
  readonly #report: ReportOnce;
  readonly #providers: () => readonly CredentialProvider[];
  readonly #cache: LRUCache<string, readonly Credential[]>;
  readonly #runs: SharedCalls<readonly Credential[]>;

  constructor(options: KubeletPluginsOptions) {
    this.#options = options;
    this.#cache = new LRUCache({ max: 1_000, ...livingBy(options.clock) });
    this.#report = new ReportOnce(options.log);
    this.#runs = new SharedCalls({ clock: options.clock, outlivesCallers: true });
    this.#providers = followFile<readonly CredentialProvider[]>({
      path: options.configPath,
      parse: parseProviderConfig,
      empty: [],
      name: "credential provider configuration",
      report: this.#report,
      onChange: () => this.#cache.clear(),
    });
  }

  async credentialsFor(endpoint: KeyringEndpoint, signal: AbortSignal): Promise<readonly Credential[]> {
    const asked = this.#providers().filter(({ matchImages }) =>
      matchImages.some((pattern) => scopeCovers(pattern, endpoint))
    );
    const lists = await Promise.all(asked.map((provider) => this.#credentialsOf(provider, { endpoint, signal })));
    return lists.flatMap((credentials) => matchCredentials(credentials, endpoint));
  }

  /** Credentials from the cache under any of its three keys, from a run under way, or from a new run. */
  async #credentialsOf(
    provider: CredentialProvider,
    { endpoint, signal }: { readonly endpoint: KeyringEndpoint; readonly signal: AbortSignal },
  ): Promise<readonly Credential[]> {
    for (const keyType of ["Image", "Registry", "Global"] as const) {
      const known = this.#cache.get(cacheKey(provider, keyType, endpoint));
      if (known !== undefined) return known;
    }
    const key = cacheKey(provider, "Image", endpoint);
    const { callers } = endpoint;
    return await this.#runs.run(
      key,
      { callers, signal },
      (allCallers) => this.#ask(provider, { endpoint, callers: allCallers }),
    );
  }

  async #ask(
    provider: CredentialProvider,
    { endpoint, callers }: { readonly endpoint: KeyringEndpoint; readonly callers: Callers },
  ): Promise<readonly Credential[]> {
    const answer = await this.#exec(provider, { image: imageOf(endpoint), callers });
    const keep = (keyType: CacheKeyType, credentials: readonly Credential[], ttl: number): unknown =>
      this.#cache.set(cacheKey(provider, keyType, endpoint), credentials, { ttl });
    if (typeof answer === "string") {
      this.#report.warn(`plugin ${provider.name}`, answer);
      keep("Image", [], FAILURE_REST_MS);
      return [];
    }
    this.#report.clear(`plugin ${provider.name}`);
    const { credentials, keyType, cacheMs } = answer;
    if (cacheMs > 0) keep(keyType, credentials, cacheMs);
    return credentials;
  }

  async #exec(
    provider: CredentialProvider,
    { image, callers }: { readonly image: string; readonly callers: Callers },
  ): Promise<PluginAnswer | string> {
    const outcome = await this.#options.run({
      program: `${this.#options.binDir}/${provider.name}`,
      args: provider.args,
      env: provider.env,
      stdin: renderPluginRequest(provider, image),
      timeoutMs: PLUGIN_TIMEOUT_MS,
      callers,
    });
    if (outcome.kind === "failed") return outcome.message;
    if (outcome.code !== 0) return `ended with exit code ${outcome.code}`;
    return parsePluginAnswer(provider, outcome.stdout) ?? "gave no readable answer";
  }
}

function imageOf({ host, repository }: KeyringEndpoint): string {
  return `${hostKey(host)}/${repository}`;
}

function cacheKey({ name }: CredentialProvider, keyType: CacheKeyType, endpoint: KeyringEndpoint): string {
  const part = { Image: imageOf(endpoint), Registry: hostKey(endpoint.host), Global: "" };
  return `${name} ${keyType} ${part[keyType]}`;
}
