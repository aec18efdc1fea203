// The credentials of a pod's pull secrets or, without any, of its ServiceAccount's.
import type { Clock } from "../../clock.ts";
import { listAt } from "../../json.ts";
import type { KubeApi } from "../../k8s/api.ts";
import { AnswerTooLarge, ApiError } from "../../k8s/api_error.ts";
import { type KubeObject, Resource, type ResourceType } from "../../k8s/types.ts";
import { errorText, type Logger } from "../../log.ts";
import { weightOfTexts } from "../../oci/cache_limits.ts";
import type { Credential } from "../../oci/credential.ts";
import { parseDockerConfigSecret } from "../../oci/credentials/docker_config.ts";
import type { RequestContext } from "../../oci/request_log.ts";
import type { RegistryFailure } from "../../oci/errors.ts";
import type { WorkLimits } from "../../oci/limits/work_limits.ts";
import { type PullIdentity, pullSecretNames } from "../../vocabulary/pull_identity.ts";
import { SharedCalls } from "../../oci/shared_calls.ts";

/** Which pull secrets may be read: any pod's, only those in Archway's own namespace, or none. */
export type PullSecretMode = "pod" | "own-namespace" | "none";

export interface PullCredentials {
  /** In list order. Missing, forbidden or malformed secrets are skipped, since the pull may still work. */
  readonly credentials: readonly Credential[];
  /** Unusable secrets with the reason, for people: `regcred (not found)`. */
  readonly unusable?: readonly string[] | undefined;
  /** Why some secrets could not be read now. Without them, a failure to read an image proves nothing. */
  readonly problem?: RegistryFailure | undefined;
}

export interface PullSecretDeps {
  readonly api: Pick<KubeApi, "get">;
  readonly mode: PullSecretMode;
  readonly ownNamespace: string;
  readonly limits: Pick<WorkLimits, "secrets">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long a secret is kept (ms): a burst of pods shares one GET, and a rotation is seen soon. */
const SECRET_KEPT_MS = 2_000;
/** How long a ServiceAccount is kept (ms): longer, since nearly every pod uses one and they rarely change. */
const ACCOUNT_KEPT_MS = 10_000;
const MAX_ACCOUNTS = 1_000;
/** Memory limits for the credentials of tenants' Secrets (bytes): of one Secret, of one pod, of all kept Secrets. */
const MAX_CONFIG_BYTES = 128 * 1024;
const MAX_POD_BYTES = 512 * 1024;
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Most credentials of a pod, since each is matched with each image. A copy of a cluster's secret has a few hundred. */
const MAX_POD_CREDENTIALS = 256;
/** A credential with a wildcard key counts as this many, because matching it is slow. */
const WILDCARD_COUNTS = 8;
/** Parallel reads for one pod, so that other pods' requests get their turn. */
const MAX_PARALLEL_READS = 4;
const DEFAULT_ACCOUNT = "default";
/** Statuses of permanent failures, in words. */
const FINAL_STATUSES: ReadonlyMap<number, string> = new Map([[403, "Archway may not read it"], [404, "not found"]]);

function whyFinal(error: unknown): string | undefined {
  if (error instanceof AnswerTooLarge) return "too large";
  return error instanceof ApiError ? FINAL_STATUSES.get(error.status) : undefined;
}

type SecretContent =
  | {
    readonly kind: "usable";
    readonly credentials: readonly Credential[];
    readonly total: number;
  }
  | { readonly kind: "unusable"; readonly why: string };

/** The callers that wait for a read. They determine its turn. */
type Readers = Pick<RequestContext, "callers" | "signal">;

interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

type Found = { readonly kind: "found"; readonly object: KubeObject } | {
  readonly kind: "absent";
  readonly why: string;
};

/** Reads a pod's pull credentials, and keeps them for later pods for {@link SECRET_KEPT_MS}. */
export class PullSecrets {
  readonly #deps: PullSecretDeps;
  readonly #secrets: SharedCalls<SecretContent>;
  readonly #accounts: SharedCalls<readonly string[]>;

  constructor(deps: PullSecretDeps) {
    this.#deps = deps;
    const { clock } = deps;
    this.#secrets = new SharedCalls({
      clock,
      keepMs: () => SECRET_KEPT_MS,
      weighed: { maxSize: MAX_KEPT_BYTES, sizeOf: weightOfContent },
    });
    this.#accounts = new SharedCalls({ clock, keepMs: () => ACCOUNT_KEPT_MS, maxKept: MAX_ACCOUNTS });
  }

  /** Rejects only when the signal aborts. */
  async read(identity: PullIdentity, readers: Readers): Promise<PullCredentials> {
    const { signal } = readers;
    const { mode, ownNamespace } = this.#deps;
    const { namespace, serviceAccount, pullSecrets } = identity;
    if (mode === "none" || mode === "own-namespace" && namespace !== ownNamespace) return { credentials: [] };
    const names = pullSecrets.length > 0 ? { kind: "read", value: pullSecrets } as const : await this.#attempt(
      signal,
      () => this.#secretsOf({ namespace, name: serviceAccount || DEFAULT_ACCOUNT }, readers),
    );
    if (names.kind === "problem") return { credentials: [], problem: names.problem };
    const share = new PodShare();
    let problem: RegistryFailure | undefined;
    for (let at = 0; at < names.value.length; at += MAX_PARALLEL_READS) {
      const some = names.value.slice(at, at + MAX_PARALLEL_READS);
      if (share.isUsedUp) {
        share.leaveOut(some);
        continue;
      }
      const read = some.map((name) => this.#attempt(signal, () => this.#contentOf({ namespace, name }, readers)));
      for (const [of, found] of (await Promise.all(read)).entries()) {
        if (found.kind === "read") share.add(some[of] ?? "", found.value);
        else problem ??= found.problem;
      }
    }
    return { credentials: share.credentials, unusable: share.unusable, problem };
  }

  #contentOf({ namespace, name }: NamedObject, readers: Readers): Promise<SecretContent> {
    return this.#secrets.run(JSON.stringify([namespace, name]), readers, async (callers, signal) => {
      const secret = await this.#get(Resource.secrets, { namespace, name }, { callers, signal });
      if (secret.kind === "absent") return { kind: "unusable", why: secret.why };
      const source = `secret ${namespace}/${name}`;
      const parsed = parseDockerConfigSecret(secret.object, source, { maxBytes: MAX_CONFIG_BYTES });
      const about = { namespace, secret: name };
      if (parsed.kind === "unparsable") {
        const why = parsed.fault.message;
        this.#deps.log.warn("cannot use a pull secret", { ...about, reason: why });
        return { kind: "unusable", why };
      }
      const [broken] = parsed.warnings;
      if (broken !== undefined) {
        this.#deps.log.warn("cannot use an entry of a pull secret", { ...about, reason: broken.message });
      }
      return usable(parsed.value);
    });
  }

  #secretsOf({ namespace, name }: NamedObject, readers: Readers): Promise<readonly string[]> {
    return this.#accounts.run(JSON.stringify([namespace, name]), readers, async (callers, signal) => {
      const account = await this.#get(Resource.serviceAccounts, { namespace, name }, { callers, signal });
      return account.kind === "absent" ? [] : pullSecretNames(listAt(account.object, "imagePullSecrets"));
    });
  }

  /** The object, unless it is missing or forbidden. Throws on transient failures. */
  async #get(
    resource: ResourceType,
    target: NamedObject,
    { callers, signal }: Readers,
  ): Promise<Found> {
    try {
      using _ = await this.#deps.limits.secrets.acquire(callers, signal);
      return { kind: "found", object: await this.#deps.api.get(resource, target, signal) };
    } catch (error) {
      const why = whyFinal(error);
      const level = error instanceof ApiError && error.status === 404 ? "debug" : "warn";
      if (!signal.aborted) {
        this.#deps.log[level](`cannot read a ${resource.kind} for pulling images`, {
          ...target,
          reason: errorText(error),
        });
      }
      if (why !== undefined) return { kind: "absent", why };
      throw new Error(`Cannot read ${resource.kind} "${target.namespace}/${target.name}": ${errorText(error)}`, {
        cause: error,
      });
    }
  }

  async #attempt<T>(
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<
    { readonly kind: "read"; readonly value: T } | { readonly kind: "problem"; readonly problem: RegistryFailure }
  > {
    try {
      return { kind: "read", value: await work() };
    } catch (error) {
      signal.throwIfAborted();
      return { kind: "problem", problem: { kind: "transient", reason: "ServerError", message: errorText(error) } };
    }
  }
}

/** The credentials of a pod's secrets, added in order up to the limits. */
class PodShare {
  readonly credentials: Credential[] = [];
  readonly unusable: string[] = [];
  #bytes = 0;
  #count = 0;
  #usedUp: "many" | "large" | undefined;

  get isUsedUp(): boolean {
    return this.#usedUp !== undefined;
  }

  add(name: string, content: SecretContent): void {
    if (content.kind === "unusable") {
      this.unusable.push(`${name} (${content.why})`);
      return;
    }
    const { credentials, total } = content;
    const taken = this.#take(credentials);
    if (taken === 0 && total > 0) this.leaveOut([name]);
    else if (taken < total) this.unusable.push(`${name} (all but its first ${taken} credentials)`);
  }

  leaveOut(names: readonly string[]): void {
    this.unusable.push(...names.map((name) => `${name} (those before it are too ${this.#usedUp} together)`));
  }

  #take(credentials: readonly Credential[]): number {
    for (const [taken, credential] of credentials.entries()) {
      const bytes = weightOfCredential(credential);
      const count = /[*?[]/.test(credential.scope) ? WILDCARD_COUNTS : 1;
      if (this.#count + count > MAX_POD_CREDENTIALS) this.#usedUp ??= "many";
      else if (this.#bytes + bytes > MAX_POD_BYTES) this.#usedUp ??= "large";
      if (this.#usedUp !== undefined) return taken;
      this.credentials.push(credential);
      this.#bytes += bytes;
      this.#count += count;
    }
    return credentials.length;
  }
}

function weightOfContent(content: SecretContent): number {
  if (content.kind === "unusable") return weightOfTexts(content.why);
  return content.credentials.reduce((sum, credential) => sum + weightOfCredential(credential), weightOfTexts());
}

function weightOfCredential({ scope, source, secret }: Credential): number {
  const texts = secret.kind === "basic" ? [secret.username, secret.password] : [secret.token];
  return weightOfTexts(scope, source, ...texts);
}

function usable(credentials: readonly Credential[]): SecretContent {
  return { kind: "usable", credentials: credentials.slice(0, MAX_POD_CREDENTIALS), total: credentials.length };
}
