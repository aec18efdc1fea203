// The caching inspector, around the registry's. It keeps the platforms of a digest for good, and the digest of a tag for a
// while. After that a HEAD request confirms the digest.
//
//   inspect ─ equal one under way? ─ recent failure? ─ known and fresh enough? ─ TagLookups: share or begin a look-up
//                                                                                 ├ HEAD, where its document is known
//                                                                                 └ GET otherwise
import type { Clock } from "../../clock.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Logger } from "../../log.ts";
import { fingerprintOfAll } from "../fingerprint.ts";
import { isIndexType } from "../image/manifest.ts";
import {
  type Freshness,
  type InspectionReport,
  type InspectionRequest,
  type PlannedRequest,
  reportWithoutRequests,
} from "../inspection.ts";
import { canonicalReference, type ImageReference } from "../reference.ts";
import type { RegistryInspector } from "../registry_inspector.ts";
import { SharedCalls } from "../shared_calls.ts";
import { type AccessScope, openAccessScopes, PUBLIC_SCOPE } from "./access_scope.ts";
import { FailureCache } from "./failure_cache.ts";
import { InspectionStore, type KnownTag, MAX_STORED_BYTES } from "./inspection_store.ts";
import { type DocumentRecord, isDeepEnough } from "./records.ts";
import { TagLookups } from "./tag_lookups.ts";

export interface RecalledImage {
  readonly inspection: DocumentRecord;
  /** Whether its tag is past half of its life. */
  readonly isAging: boolean;
}

interface CachedInspectorDeps {
  readonly registry: Pick<RegistryInspector, "head" | "inspect">;
  /** Absent: what is known ends with the process. */
  readonly kv: KeyValueStore | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxEntries: number;
  /** How long the digest of a tag is used without asking the registry (ms). */
  readonly tagTtlMs: number;
}

interface Question {
  readonly request: PlannedRequest;
  readonly scopes: readonly AccessScope[];
  readonly signal: AbortSignal;
}

interface Scoped<T> {
  readonly record: T;
  readonly scope: AccessScope;
}

/** A request is answered by what was read anonymously, and by what was read with exactly its credentials (see inspector.ts). */
export class CachedInspector {
  readonly #deps: CachedInspectorDeps;
  readonly #store: InspectionStore;
  readonly #failures: FailureCache;
  readonly #lookups: TagLookups;
  readonly #underWay: SharedCalls<InspectionReport>;
  readonly #scopeOf = openAccessScopes();

  constructor(deps: CachedInspectorDeps) {
    this.#deps = deps;
    this.#store = new InspectionStore({ ...deps, maxStoredBytes: MAX_STORED_BYTES });
    this.#failures = new FailureCache(deps);
    this.#lookups = new TagLookups(deps);
    this.#underWay = new SharedCalls({ clock: deps.clock });
  }

  size(): number {
    return this.#store.size();
  }

  /** What memory has of an image, public or in one of these access scopes, and fresh enough; answered at once. */
  recall(
    reference: ImageReference,
    { scopeIds, freshness }: { readonly scopeIds: readonly number[]; readonly freshness: Freshness },
  ): RecalledImage | undefined {
    const ids = [PUBLIC_SCOPE.id, ...scopeIds];
    const name = tagName(reference);
    const tag = reference.digest === undefined
      ? this.#youngest(ids.flatMap((id) => this.#store.tagNow(id, name) ?? []), (one) => one)
      : undefined;
    const digest = reference.digest ?? tag?.digest;
    if (digest === undefined || tag !== undefined && !this.#isFresh(tag, freshness)) return undefined;
    const document = ids.map((id) => this.#store.documentNow(id, digest)).find((one) => one !== undefined);
    if (document === undefined) return undefined;
    const isAging = tag !== undefined && !this.#isFresh(tag, "renewed");
    return { inspection: withPin(document, reference), isAging };
  }

  /** Equal requests that overlap are one: the thousand replicas of a Deployment cost one. It ends when its last caller has left. */
  async inspect(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    // Requests with a sinceMs share only the look-up: their times differ.
    if (typeof request.freshness === "object") return await this.#inspectOnce(request, signal);
    return await this.#underWay.run(
      `${request.freshness} ${keyOf(request)}`,
      { callers: request.callers, signal },
      (callers, shared) => this.#inspectOnce({ ...request, callers }, shared),
    );
  }

  async #inspectOnce(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    const { clock } = this.#deps;
    const { reference } = request;
    const key = keyOf(request);
    const failure = this.#failures.recall(key, request.freshness);
    if (failure !== undefined) {
      return toReport(reference, { inspection: { kind: "failed", failure }, verifiedAtMs: clock.nowMs() });
    }
    const scopes = [...new Set([PUBLIC_SCOPE, this.#scopeOf(request.credentials)])];
    const question = { request, scopes, signal };
    const report = await this.#recallOrLookUp(question);
    signal.throwIfAborted();
    const { inspection, verifiedAtMs } = report;
    if (inspection.kind === "failed") {
      this.#failures.remember(key, { failure: inspection.failure, askedAtMs: verifiedAtMs });
      return report;
    }
    this.#failures.forget(key);
    return { ...report, inspection: withPin(inspection, reference) };
  }

  /** From what is known, where that is fresh enough; else by a look-up, whose request serves all that share it. */
  async #recallOrLookUp(question: Question): Promise<InspectionReport> {
    const { request, signal } = question;
    const { reference, freshness, callers } = request;
    const tag = reference.digest === undefined ? await this.#recallTag(question) : undefined;
    const digest = reference.digest ?? tag?.record.digest;
    const document = digest === undefined ? undefined : await this.#recallDocument(question, digest);
    if (document !== undefined && (tag === undefined || this.#isFresh(tag.record, freshness))) {
      const verifiedAtMs = tag?.record.verifiedAtMs ?? this.#deps.clock.nowMs();
      return cachedReport(question, { document, tagScope: tag?.scope, verifiedAtMs });
    }
    const sinceMs = this.#sinceMs(freshness);
    return await this.#lookups.share(keyOf(request), { sinceMs, callers, signal }, (all, shared) => {
      const asked = { ...question, request: { ...request, callers: all }, signal: shared };
      return document === undefined ? this.#get(asked) : this.#head(asked);
    });
  }

  /** One HEAD: mostly the tag has not moved, or moved to what is known under another name. */
  async #head(question: Question): Promise<InspectionReport> {
    const { request, signal } = question;
    const { reference, log } = request;
    const verifiedAtMs = this.#deps.clock.nowMs();
    const head = await this.#deps.registry.head(request, signal);
    const cost = { requests: log.counts, trace: log.trace };
    if (head.kind === "failed" && head.failure.kind === "transient") {
      const report = toReport(reference, { inspection: { kind: "failed", failure: head.failure }, verifiedAtMs });
      return { ...report, source: "registry", ...cost };
    }
    // Not every registry answers HEAD truthfully: only a GET decides that an image is gone.
    const document = head.kind === "digest" ? await this.#recallDocument(question, head.digest) : undefined;
    if (head.kind !== "digest" || document === undefined) return await this.#get(question);
    const { access, digest, credentialSource } = head;
    const tagScope = this.#scopeFor(request, access);
    this.#store.putTag(tagScope, tagName(reference), { digest, verifiedAtMs });
    return { ...cachedReport(question, { document, tagScope, verifiedAtMs }), ...cost, credentialSource };
  }

  async #get({ request, signal }: Question): Promise<InspectionReport> {
    const { reference } = request;
    const report = await this.#deps.registry.inspect(request, signal);
    const { inspection, access, verifiedAtMs } = report;
    this.#deps.log.debug("asked the registry for an image", { image: request.image, outcome: inspection.kind });
    // A private answer without a credential has no scope: storing it would make it public.
    const hasNoScope = access === "private" && request.credentials.length === 0;
    // What one registry lacks is no property of the digest, whose records answer for every registry.
    if (inspection.kind === "failed" || hasNoScope || report.isPartial === true) return report;
    const scope = this.#scopeFor(request, access);
    this.#store.putDocument(scope, inspection);
    if (reference.digest === undefined) {
      this.#store.putTag(scope, tagName(reference), { digest: inspection.digest, verifiedAtMs });
    }
    return { ...report, ...ownerOf([scope]) };
  }

  #isFresh({ verifiedAtMs, isOwn }: KnownTag, freshness: Freshness): boolean {
    // One in the future is by another replica's clock, or ours was set back: no reason to use it for longer.
    if (verifiedAtMs > this.#deps.clock.nowMs() || verifiedAtMs < this.#sinceMs(freshness)) return false;
    // Times of another process may come from another clock: good enough for an expiry, not for an order.
    return isOwn || typeof freshness === "string";
  }

  #sinceMs(freshness: Freshness): number {
    if (typeof freshness === "object") return freshness.sinceMs;
    const { clock, tagTtlMs } = this.#deps;
    return clock.nowMs() - (freshness === "renewed" ? tagTtlMs / 2 : tagTtlMs);
  }

  #scopeFor({ credentials }: InspectionRequest, access: InspectionReport["access"]): AccessScope {
    return access === "public" ? PUBLIC_SCOPE : this.#scopeOf(credentials);
  }

  async #recallDocument({ scopes, request }: Question, digest: string): Promise<Scoped<DocumentRecord> | undefined> {
    for (const scope of scopes) {
      const record = await this.#store.document(scope, digest);
      if (record !== undefined && isDeepEnough(record, request.depth)) return { record, scope };
    }
    return undefined;
  }

  /** The youngest: the same tag may have been looked up with and without credentials. */
  async #recallTag({ scopes, request: { reference } }: Question): Promise<Scoped<KnownTag> | undefined> {
    const found: Scoped<KnownTag>[] = [];
    for (const scope of scopes) {
      const record = await this.#store.tag(scope, tagName(reference));
      if (record !== undefined) found.push({ record, scope });
    }
    return this.#youngest(found, ({ record }) => record);
  }

  /** The one verified last. A time in the future ranks below all others: it is by another clock. */
  #youngest<T>(all: readonly T[], tagOf: (one: T) => KnownTag): T | undefined {
    const nowMs = this.#deps.clock.nowMs();
    const rank = (one: T): number => {
      const { verifiedAtMs } = tagOf(one);
      return verifiedAtMs <= nowMs ? verifiedAtMs : -Infinity;
    };
    return all.reduce<T | undefined>(
      (best, one) => best === undefined || rank(one) > rank(best) ? one : best,
      undefined,
    );
  }
}

/** The report of a cached document. It is public only if the document is, and the tag that led to it. */
function cachedReport(
  { request: { reference } }: Question,
  { document: { record, scope }, tagScope = scope, verifiedAtMs }: {
    readonly document: Scoped<DocumentRecord>;
    readonly tagScope?: AccessScope | undefined;
    readonly verifiedAtMs: number;
  },
): InspectionReport {
  return { ...toReport(reference, { inspection: record, verifiedAtMs }), ...ownerOf([scope, tagScope]) };
}

function ownerOf(scopes: readonly AccessScope[]): Pick<InspectionReport, "access" | "scopeId"> {
  const owner = scopes.find((scope) => scope !== PUBLIC_SCOPE);
  return owner === undefined ? { access: "public" } : { access: "private", scopeId: owner.id };
}

function toReport(
  reference: ImageReference,
  { inspection, verifiedAtMs }: Pick<InspectionReport, "inspection" | "verifiedAtMs">,
): InspectionReport {
  const resolved = canonicalReference(reference);
  return reportWithoutRequests({ inspection, resolved, verifiedAtMs, source: "cache" });
}

/** With a finding where the reference names one platform's manifest by its digest, instead of the index. */
function withPin(record: DocumentRecord, { digest, droppedTag, registry, repository }: ImageReference): DocumentRecord {
  if (digest === undefined || isIndexType(record.mediaType)) return record;
  const hint = droppedTag === undefined
    ? ""
    : ` To run on all of its platforms, pin the digest of ${registry}/${repository}:${droppedTag}.`;
  const message = `The digest pins an image of a single platform.${hint}`;
  return { ...record, findings: [{ kind: "ChildDigestPin", message }, ...record.findings] };
}

/** One spelling for each tag. Short names are kept apart: the configuration may resolve them to another registry than Docker Hub. */
function tagName(reference: ImageReference): string {
  return `${reference.isShort ? "short " : ""}${canonicalReference(reference)}`;
}

function keyOf({ image, depth, credentials }: InspectionRequest): string {
  return JSON.stringify([image, depth, fingerprintOfAll(credentials)]);
}
