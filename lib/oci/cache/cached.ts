// Remembers what images said: a digest's platforms for good, a tag's digest for a while and by HEAD after it. A wrapper
// around the registry's inspector.
import type { Clock } from "../../clock.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Logger } from "../../log.ts";
import { type DocumentRecord, isDeepEnough, type TagRecord } from "./records.ts";
import type { Credential } from "../credential.ts";
import { fingerprintOfAll } from "../fingerprint.ts";
import { findingsOfDocument, findingsOfReference } from "../image/findings.ts";
import type { HeadAnswer, InspectionReport, InspectionRequest, Inspector, RegistryLookups } from "../inspector.ts";
import { type InspectionStore, openInspectionStore } from "./inspection_store.ts";
import { type AccessScope, openAccessScopes, PUBLIC_SCOPE } from "./access_scope.ts";
import { addRequests, NO_REQUESTS } from "../request_log.ts";
import { type NegativeCache, openNegativeCache } from "./negative.ts";
import { canonicalReference, type ImageReference, parseReference } from "../reference.ts";

/** An inspector with a memory. */
export interface CachedInspector extends Inspector {
  /** Images known in memory. */
  size(): number;
}

/** An answer about a tag that is this young is shared even by those who want it looked up each time (ms). */
const SHARED_MS = 1_000;

/** What the memory is made with. */
export interface CachedInspectorDeps {
  /** Asked for what is not known. */
  readonly inner: RegistryLookups;
  /** What outlives the process. */
  readonly kv: KeyValueStore;
  /** Ages tags. */
  readonly clock: Clock;
  /** Says at debug level when a registry was asked. */
  readonly log: Logger;
  /** Images kept in memory. */
  readonly maxEntries: number;
  /** How long a tag is believed without asking (ms). */
  readonly tagTtlMs: number;
}

/**
 * Opens the memory over `inner`. Requests see what is public and what was read with the very credentials they bring, which
 * therefore must be complete (see with_keyring.ts).
 */
export function openCachedInspector(parts: CachedInspectorDeps): CachedInspector {
  return new Cache(parts);
}

/** One question on its way. */
interface Ask {
  readonly request: InspectionRequest;
  readonly reference: ImageReference;
  /** Whose knowledge may answer it, everybody's first. */
  readonly scopes: readonly AccessScope[];
  readonly signal: AbortSignal;
}

/** A record with whose knowledge it is. */
interface Known<T> {
  readonly record: T;
  readonly scope: AccessScope;
}

class Cache implements CachedInspector {
  readonly #parts: CachedInspectorDeps;
  readonly #knowledge: InspectionStore;
  readonly #failures: NegativeCache;
  readonly #scopeOf: (credentials: readonly Credential[]) => AccessScope;

  constructor(parts: CachedInspectorDeps) {
    this.#parts = parts;
    this.#knowledge = openInspectionStore(parts);
    this.#failures = openNegativeCache(parts);
    this.#scopeOf = openAccessScopes(parts);
  }

  size(): number {
    return this.#knowledge.size();
  }

  async inspect(request: InspectionRequest, signal: AbortSignal): Promise<InspectionReport> {
    const parsed = parseReference(request.image);
    if (parsed.kind === "invalid") return await this.#parts.inner.inspect(request, signal);
    const key = failureKey(request);
    const failure = this.#failures.recall(key, request.freshness);
    if (failure !== undefined) {
      const inspection = { kind: "failed", failure } as const;
      return toReport(parsed.reference, { inspection, verifiedAtMs: this.#parts.clock.nowMs() });
    }
    const { reference } = parsed;
    const scopes = request.credentials.length === 0
      ? [PUBLIC_SCOPE]
      : [PUBLIC_SCOPE, this.#scopeOf(request.credentials)];
    const ask = { request, reference, scopes, signal };
    const report = reference.digest === undefined
      ? await this.#inspectTag(ask)
      : await this.#inspectDigest(ask, reference.digest);
    signal.throwIfAborted();
    if (report.inspection.kind === "failed") this.#failures.remember(key, report.inspection.failure);
    else this.#failures.forget(key);
    return report;
  }

  async #inspectDigest(ask: Ask, digest: string): Promise<InspectionReport> {
    const known = await this.#recallDocument(ask, digest);
    if (known === undefined) return await this.#inspectAfresh(ask);
    return answer(ask, { document: known, verifiedAtMs: this.#parts.clock.nowMs() });
  }

  async #inspectTag(ask: Ask): Promise<InspectionReport> {
    const tag = await this.#recallTag(ask);
    const document = tag === undefined ? undefined : await this.#recallDocument(ask, tag.record.digest);
    if (tag === undefined || document === undefined) return await this.#inspectAfresh(ask);
    const ageMs = this.#parts.clock.nowMs() - tag.record.verifiedAtMs;
    const maxAgeMs = ask.request.freshness === "revalidate" ? SHARED_MS : this.#parts.tagTtlMs;
    // A negative age is another replica's clock, or ours set back: no reason to believe it for longer.
    if (ageMs < 0 || ageMs > maxAgeMs) return await this.#revalidate(ask);
    return answer(ask, { document, verifiedAtMs: tag.record.verifiedAtMs });
  }

  /** One HEAD: mostly the tag has not moved, or moved to what is known under another name. */
  async #revalidate(ask: Ask): Promise<InspectionReport> {
    const { request, signal, reference } = ask;
    const askedAtMs = this.#parts.clock.nowMs();
    const head = await this.#parts.inner.head(request, signal);
    if (head.kind === "failed" && head.failure.kind === "transient") {
      const { requests, trace, failure } = head;
      const report = toReport(reference, { inspection: { kind: "failed", failure }, verifiedAtMs: askedAtMs });
      return { ...report, source: "registry", requests, trace };
    }
    // Not every registry answers HEAD truthfully: only a GET decides that an image is gone.
    const document = head.kind === "digest" ? await this.#recallDocument(ask, head.digest) : undefined;
    if (head.kind !== "digest" || document === undefined) return await this.#inspectAfresh(ask, head);
    const { requests, trace, access, digest, credentialSource } = head;
    this.#knowledge.putTag(this.#scopeFor(request, access), tagName(reference), { digest, verifiedAtMs: askedAtMs });
    const report = { ...answer(ask, { document, verifiedAtMs: askedAtMs }), requests, trace, access };
    return credentialSource === undefined ? report : { ...report, credentialSource };
  }

  async #inspectAfresh(ask: Ask, head?: HeadAnswer): Promise<InspectionReport> {
    const { request, signal, reference } = ask;
    const verifiedAtMs = this.#parts.clock.nowMs();
    const report = await this.#parts.inner.inspect(request, signal);
    const { inspection, access } = report;
    // Private knowledge without a credential to tell whose it is would be everybody's.
    if (inspection.kind !== "failed" && (access === "public" || request.credentials.length > 0)) {
      const scope = this.#scopeFor(request, access);
      const { digest } = inspection;
      this.#knowledge.learnDocument(scope, { ...inspection, findings: findingsOfDocument(inspection.findings) });
      if (reference.digest === undefined) {
        this.#knowledge.putTag(scope, tagName(reference), { digest, verifiedAtMs });
      }
    }
    this.#parts.log.debug("asked the registry for an image", { image: request.image, outcome: inspection.kind });
    if (head === undefined) return report;
    const requests = addRequests(head.requests, report.requests);
    return { ...report, requests, trace: [...head.trace, ...report.trace] };
  }

  #scopeFor({ credentials }: InspectionRequest, access: InspectionReport["access"]): AccessScope {
    return access === "public" ? PUBLIC_SCOPE : this.#scopeOf(credentials);
  }

  async #recallDocument({ scopes, request }: Ask, digest: string): Promise<Known<DocumentRecord> | undefined> {
    for (const scope of scopes) {
      const record = await this.#knowledge.document(scope, digest);
      if (record !== undefined && isDeepEnough(record, request.depth)) return { record, scope };
    }
    return undefined;
  }

  /** The youngest: the same tag may have been looked up with and without credentials. */
  async #recallTag({ scopes, reference }: Ask): Promise<Known<TagRecord> | undefined> {
    let youngest: Known<TagRecord> | undefined;
    for (const scope of scopes) {
      const record = await this.#knowledge.tag(scope, tagName(reference));
      if (record === undefined || record.verifiedAtMs <= (youngest?.record.verifiedAtMs ?? 0)) continue;
      youngest = { record, scope };
    }
    return youngest;
  }
}

function answer(
  { reference }: Ask,
  { document: { record, scope }, verifiedAtMs }: {
    readonly document: Known<DocumentRecord>;
    readonly verifiedAtMs: number;
  },
): InspectionReport {
  const findings = [...findingsOfReference(reference, record.mediaType), ...record.findings];
  const access = scope === PUBLIC_SCOPE ? "public" : "private";
  return { ...toReport(reference, { inspection: { ...record, findings }, verifiedAtMs }), access };
}

function toReport(
  reference: ImageReference,
  { inspection, verifiedAtMs }: Pick<InspectionReport, "inspection" | "verifiedAtMs">,
): InspectionReport {
  const resolved = canonicalReference(reference);
  return { inspection, resolved, verifiedAtMs, source: "cache", access: "public", requests: NO_REQUESTS, trace: [] };
}

/** One spelling for each tag. Short names stand apart: the configuration may send them elsewhere than to Docker Hub. */
function tagName(reference: ImageReference): string {
  return `${reference.isShort ? "short " : ""}${canonicalReference(reference)}`;
}

function failureKey({ image, depth, credentials }: InspectionRequest): string {
  return JSON.stringify([image, depth, fingerprintOfAll(credentials)]);
}
