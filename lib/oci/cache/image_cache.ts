// Caches what is known of images, in front of the registry reader. It keeps the platforms of a digest for good, and the
// digest of a tag for a while. After that a HEAD request confirms the digest.
//
//   inspect ─ equal one under way? ─ known and fresh enough? ─ ImageLookups: share or begin a look-up
//                                                               ├ HEAD, where a record of it is known
//                                                               └ GET otherwise
import type { Clock } from "../../clock.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Logger } from "../../log.ts";
import type { Credential } from "../credential.ts";
import { fingerprintOfAll } from "../fingerprint.ts";
import { isIndexType } from "../image/manifest.ts";
import {
  type Freshness,
  type InspectionReport,
  type PlannedRequest,
  reportWithoutRequests,
} from "../inspection_request.ts";
import type { ImageRecord, Inspection } from "../inspection.ts";
import { type ImageReference, renderReference } from "../reference.ts";
import type { RegistryReader } from "../registry_reader.ts";
import { SharedCalls } from "../shared_calls.ts";
import { openReaderships, PUBLIC_READERSHIP, type Readership } from "./readership.ts";
import { type KnownTag, RecordStore } from "./record_store.ts";
import { isDeepEnough } from "./records.ts";
import { ImageLookups } from "./image_lookups.ts";

export interface RecalledImage {
  readonly inspection: ImageRecord;
  /** Whether the tag of the image is past half of its life. */
  readonly isAging: boolean;
}

interface ImageCacheDeps {
  readonly registry: Pick<RegistryReader, "head" | "read">;
  /** Absent: the cache ends with the process. */
  readonly kv: KeyValueStore | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxEntries: number;
  /** How long the digest of a tag is used without asking the registry (ms). */
  readonly tagTtlMs: number;
}

interface ReadableTag extends KnownTag {
  readonly readershipId: number;
}

interface ReadableRecord {
  readonly record: ImageRecord;
  readonly readershipId: number;
}

/** Answers a request with what was read anonymously, or with exactly the request's credentials (see inspector.ts). */
export class ImageCache {
  readonly #deps: ImageCacheDeps;
  readonly #store: RecordStore;
  readonly #lookups: ImageLookups;
  readonly #underWay: SharedCalls<InspectionReport>;
  readonly #readershipOf = openReaderships();

  constructor(deps: ImageCacheDeps) {
    this.#deps = deps;
    this.#store = new RecordStore(deps);
    this.#lookups = new ImageLookups(deps);
    this.#underWay = new SharedCalls({ clock: deps.clock });
  }

  size(): number {
    return this.#store.size();
  }

  /** Gives at once what memory has of an image: public or of one of these readerships, and fresh enough. */
  recall(
    reference: ImageReference,
    { readershipIds, freshness }: { readonly readershipIds: readonly number[]; readonly freshness: Freshness },
  ): RecalledImage | undefined {
    const ids = [PUBLIC_READERSHIP.id, ...readershipIds];
    const tag = reference.digest === undefined ? this.#tagInMemory(reference, ids) : undefined;
    const digest = reference.digest ?? tag?.digest;
    if (digest === undefined || !this.#isFresh(tag, freshness)) return undefined;
    for (const id of ids) {
      const record = this.#store.recordInMemory(id, digest);
      if (record !== undefined) {
        return { inspection: withPin(record, reference), isAging: !this.#isFresh(tag, "young") };
      }
    }
    return undefined;
  }

  /**
   * Equal requests that overlap share one inspection, so that a thousand pods of one image read the store once. The
   * shared inspection ends when its last caller has left.
   */
  async inspect(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    // Requests with a lookupSinceMs share only the look-up: their times differ.
    if (typeof request.freshness === "object") return await this.#inspectOnce(request, signal);
    return await this.#underWay.run(
      `${request.freshness} ${keyOf(request)}`,
      { callers: request.callers, signal },
      (callers, sharedSignal) => this.#inspectOnce({ ...request, callers }, sharedSignal),
    );
  }

  async #inspectOnce(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    const report = await this.#recallOrLookUp(request, signal);
    signal.throwIfAborted();
    const { inspection } = report;
    return inspection.kind === "failed" ? report : { ...report, inspection: withPin(inspection, request.reference) };
  }

  /** Answers from what is known if that is fresh enough, else by a look-up that equal requests share. */
  async #recallOrLookUp(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    const { reference, freshness, callers } = request;
    const tag = reference.digest === undefined ? await this.#readTag(request) : undefined;
    const digest = reference.digest ?? tag?.digest;
    const known = digest === undefined ? undefined : await this.#readRecord(request, digest);
    if (known !== undefined && this.#isFresh(tag, freshness)) {
      return {
        ...cachedReport(reference, known.record),
        readershipId: readershipIdOf({ record: known.readershipId, tag: tag?.readershipId }),
      };
    }
    const lookupSinceMs = this.#lookupSinceMs(freshness);
    return await this.#lookups.share(
      keyOf(request),
      { lookupSinceMs, callers, signal },
      async (allCallers, sharedSignal) => {
        const lookupAtMs = this.#deps.clock.monotonicMs();
        const lookup = { ...request, callers: allCallers };
        return known === undefined
          ? await this.#get(lookup, sharedSignal, lookupAtMs)
          : await this.#head(lookup, sharedSignal, lookupAtMs);
      },
    );
  }

  /** Sends one HEAD. Mostly the tag has not moved, or has moved to a digest that is already known. */
  async #head(request: PlannedRequest, signal: AbortSignal, lookupAtMs: number): Promise<InspectionReport> {
    const { reference, requestLog } = request;
    const head = await this.#deps.registry.head(request, signal);
    const cost = { requests: requestLog.counts, trace: requestLog.trace };
    if (head.kind === "failed" && head.failure.kind === "transient") {
      return { ...cachedReport(reference, { kind: "failed", failure: head.failure }), source: "registry", ...cost };
    }
    // Not every registry answers HEAD truthfully: only a GET decides that an image is gone.
    const known = head.kind === "digest" ? await this.#readRecord(request, head.digest) : undefined;
    if (head.kind !== "digest" || known === undefined) return await this.#get(request, signal, lookupAtMs);
    const { digest, credential } = head;
    const tagReadership = this.#readershipFor(request, credential);
    this.#store.putTag(tagReadership, tagName(reference), { digest, lookupAtMs });
    const readershipId = readershipIdOf({ record: known.readershipId, tag: tagReadership.id });
    const credentialSource = credential?.source;
    return { ...cachedReport(reference, known.record), readershipId, ...cost, credentialSource };
  }

  async #get(request: PlannedRequest, signal: AbortSignal, lookupAtMs: number): Promise<InspectionReport> {
    const { reference, image, requestLog } = request;
    const { inspection, lacksManifest, credential, endpoint } = await this.#deps.registry.read(request, signal);
    this.#deps.log.debug("asked the registry for an image", { image, outcome: inspection.kind });
    const report: InspectionReport = {
      inspection,
      resolved: endpoint === undefined ? image : renderReference(endpoint),
      source: "registry",
      requests: requestLog.counts,
      trace: requestLog.trace,
      credentialSource: credential?.source,
      mirror: endpoint?.isMirror === true ? endpoint.host : undefined,
    };
    // A record of a digest answers for every registry, so a read at a registry that lacks a part is not kept.
    if (inspection.kind === "failed" || lacksManifest) return report;
    const readership = this.#readershipFor(request, credential);
    this.#store.putRecord(readership, inspection);
    if (reference.digest === undefined) {
      this.#store.putTag(readership, tagName(reference), { digest: inspection.digest, lookupAtMs });
    }
    return { ...report, readershipId: readershipIdOf({ record: readership.id }) };
  }

  /** Without a tag the reference has a digest, which means the same for ever. */
  #isFresh(tag: KnownTag | undefined, freshness: Freshness): boolean {
    if (tag === undefined) return true;
    const { lookupAtMs, isOwn } = tag;
    // Times of another process may come from another clock: good enough for an expiry, not for an order.
    return lookupAtMs >= this.#lookupSinceMs(freshness) && (isOwn || typeof freshness === "string");
  }

  #lookupSinceMs(freshness: Freshness): number {
    if (typeof freshness === "object") return freshness.lookupSinceMs;
    const { clock, tagTtlMs } = this.#deps;
    return clock.monotonicMs() - (freshness === "young" ? tagTtlMs / 2 : tagTtlMs);
  }

  /** The readership of what was read with this credential, which is one of the request's. */
  #readershipFor({ credentials }: PlannedRequest, credential: Credential | undefined): Readership {
    return credential === undefined ? PUBLIC_READERSHIP : this.#readershipOf(credentials);
  }

  /** The readerships to look in. What was read anonymously serves every request. */
  #readershipsOf({ credentials }: PlannedRequest): readonly Readership[] {
    return [...new Set([PUBLIC_READERSHIP, this.#readershipOf(credentials)])];
  }

  async #readRecord(request: PlannedRequest, digest: string): Promise<ReadableRecord | undefined> {
    for (const readership of this.#readershipsOf(request)) {
      const record = await this.#store.readRecord(readership, digest);
      if (record !== undefined && isDeepEnough(record, request.depth)) return { record, readershipId: readership.id };
    }
    return undefined;
  }

  async #readTag(request: PlannedRequest): Promise<ReadableTag | undefined> {
    const name = tagName(request.reference);
    const found: ReadableTag[] = [];
    for (const readership of this.#readershipsOf(request)) {
      const tag = await this.#store.readTag(readership, name);
      if (tag !== undefined) found.push({ ...tag, readershipId: readership.id });
    }
    return youngestOf(found);
  }

  #tagInMemory(reference: ImageReference, readershipIds: readonly number[]): KnownTag | undefined {
    const name = tagName(reference);
    return youngestOf(readershipIds.map((id) => this.#store.tagInMemory(id, name)).filter((tag) => tag !== undefined));
  }
}

/** The same tag may have been looked up with and without credentials. */
function youngestOf<T extends KnownTag>(tags: readonly T[]): T | undefined {
  return tags.reduce<T | undefined>((youngest, tag) => {
    return youngest === undefined || tag.lookupAtMs > youngest.lookupAtMs ? tag : youngest;
  }, undefined);
}

/** The readership of an answer; undefined: public. It is public only if the record and the tag, if any, are public. */
function readershipIdOf(
  { record, tag = record }: { readonly record: number; readonly tag?: number | undefined },
): number | undefined {
  const id = record === PUBLIC_READERSHIP.id ? tag : record;
  return id === PUBLIC_READERSHIP.id ? undefined : id;
}

function cachedReport(reference: ImageReference, inspection: Inspection): InspectionReport {
  return reportWithoutRequests({ inspection, resolved: renderReference(reference), source: "cache" });
}

/** Adds a finding when the reference pins the digest of one platform's manifest instead of the index. */
function withPin(record: ImageRecord, { digest, tag, host, repository }: ImageReference): ImageRecord {
  if (digest === undefined || isIndexType(record.mediaType)) return record;
  const hint = tag === undefined
    ? ""
    : ` To run on all of its platforms, pin the digest of ${host}/${repository}:${tag}.`;
  const message = `The digest pins an image of a single platform.${hint}`;
  return { ...record, findings: [{ kind: "ChildDigestPin", message }, ...record.findings] };
}

/**
 * One spelling for each tag. Short names are kept apart: the configuration may resolve them to another registry than
 * Docker Hub.
 */
function tagName(reference: ImageReference): string {
  return `${reference.isShort ? "short " : ""}${renderReference(reference)}`;
}

function keyOf({ image, depth, credentials }: PlannedRequest): string {
  return JSON.stringify([image, depth, fingerprintOfAll(credentials)]);
}
