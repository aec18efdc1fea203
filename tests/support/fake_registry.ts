// A registry for the caches above it: tags that tests move, answers that take time on a test's clock, and a list of what
// was asked. It reads its tags early in the time that an answer takes, so that much can happen before it is given.
import type { PlannedRequest } from "../../lib/oci/inspection_request.ts";
import { failureOf, type RegistryFailure } from "../../lib/oci/errors.ts";
import type { Credential } from "../../lib/oci/credential.ts";
import type { Platform } from "../../lib/oci/inspection.ts";
import type { HeadAnswer, RegistryRead, RegistryReader } from "../../lib/oci/registry_reader.ts";
import { parseReference } from "../../lib/oci/reference.ts";
import type { FakeClock } from "./fake_clock.ts";
import { makePlatforms, makeRead } from "./reports.ts";

export interface FakeRead {
  readonly image: string;
  readonly method: "GET" | "HEAD";
}

/** The part of an answer's time after which the tags are read. */
const READ_AT = 0.1;

export class FakeRegistry implements Pick<RegistryReader, "head" | "read"> {
  readonly reads: FakeRead[] = [];
  /** Names of images that need a credential. */
  readonly private = new Set<string>();
  /** How often each tag was moved. */
  readonly tags = new Map<string, number>();
  mediaType = "application/vnd.oci.image.index.v1+json";
  /** What a HEAD is answered with where it is not what the tags say. */
  headAnswer: HeadAnswer | undefined;
  platforms: (image: string) => readonly Platform[] = () => [{ os: "linux", architecture: "arm64" }];
  /** How long an answer takes. */
  delayMs = 0;
  /** What every request fails with. */
  failure: RegistryFailure | undefined;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** Moves a tag to another digest, which is returned. */
  push(image: string): string {
    this.tags.set(image, (this.tags.get(image) ?? 0) + 1);
    return this.digestOf(image);
  }

  digestOf(image: string): string {
    const parsed = parseReference(image);
    const pinned = parsed.kind === "parsed" ? parsed.value.digest : undefined;
    return pinned ?? `sha256:${(this.tags.get(image) ?? 0).toString(16).padStart(64, "0")}`;
  }

  /** Requests since the last call: `1 GET, 0 HEAD`. */
  take(): string {
    const count = (wanted: FakeRead["method"]): number => this.reads.filter(({ method }) => method === wanted).length;
    const counts = `${count("GET")} GET, ${count("HEAD")} HEAD`;
    this.reads.length = 0;
    return counts;
  }

  async read(request: PlannedRequest, signal: AbortSignal): Promise<RegistryRead> {
    const found = await this.#read(request, { method: "GET", signal });
    const { image, depth } = request;
    const inspection = found.failure === undefined
      ? makePlatforms({ digest: found.digest, platforms: this.platforms(image), mediaType: this.mediaType, depth })
      : { kind: "failed", failure: found.failure } as const;
    return makeRead(inspection, this.#credentialOf(request));
  }

  async head(request: PlannedRequest, signal: AbortSignal): Promise<HeadAnswer> {
    const { digest, failure } = await this.#read(request, { method: "HEAD", signal });
    if (failure !== undefined) return { kind: "failed", failure };
    return this.headAnswer ?? { kind: "digest", digest, credential: this.#credentialOf(request) };
  }

  #credentialOf({ image, credentials }: PlannedRequest): Credential | undefined {
    return this.private.has(image) ? credentials[0] : undefined;
  }

  async #read(
    { image, credentials, requestLog }: PlannedRequest,
    { method, signal }: { readonly method: FakeRead["method"]; readonly signal: AbortSignal },
  ): Promise<{ readonly digest: string; readonly failure: RegistryFailure | undefined }> {
    this.reads.push({ image, method });
    requestLog.count(method === "GET" ? "manifestGet" : "manifestHead");
    await this.#clock.sleep(this.delayMs * READ_AT, signal);
    const digest = this.digestOf(image);
    await this.#clock.sleep(this.delayMs * (1 - READ_AT), signal);
    signal.throwIfAborted();
    const isClosed = this.private.has(image) && credentials.length === 0;
    const failure = this.failure ?? (isClosed ? failureOf("Unauthorized", "Cannot read it: 401.") : undefined);
    return { digest, failure };
  }
}
