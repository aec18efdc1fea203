// Brings one blob into a repository: it exists, or is mounted from another repository of the registry, or streamed from its source.
import type { Clock } from "../../clock.ts";
import { openLayer } from "../read_document.ts";
import type { RepositoryClient } from "../repository_client.ts";
import type { IdleLimits } from "./idle_guard.ts";
import { withRetries } from "./retries.ts";
import type { TargetRepository } from "./target_repository.ts";
import { uploadBlob } from "./upload_blob.ts";
import { type BlobDescriptor, verifyStream } from "./verified_stream.ts";

export type BlobOutcome = "present" | "mounted" | "copied";

interface BlobCopy {
  readonly blob: BlobDescriptor;
  readonly source: RepositoryClient;
  readonly target: TargetRepository;
  readonly mountFrom: string | undefined;
}

interface CopyDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the count of bytes as they pass, those that are sent again included. */
  readonly onBytes: (bytes: number) => void;
  readonly limits?: IdleLimits | undefined;
}

/** Copies it, with bounded retries. Throws PushError or InspectionError; then the repository does not have it. */
export function copyBlob(copy: BlobCopy, deps: CopyDeps): Promise<BlobOutcome> {
  return withRetries(() => copyOnce(copy, deps), deps);
}

async function copyOnce({ blob, source, target, mountFrom }: BlobCopy, deps: CopyDeps): Promise<BlobOutcome> {
  const { signal, onBytes, limits } = deps;
  const { digest } = blob;
  if (await target.hasBlob(digest)) return "present";
  const mount = mountFrom === undefined ? undefined : await target.mount(digest, mountFrom);
  if (mount?.kind === "mounted") return "mounted";
  const open = async (): Promise<ReturnType<typeof verifyStream>> => {
    const stream = await openLayer(source, digest);
    return verifyStream(stream, { blob, registry: source.endpoint.host, onBytes });
  };
  const begun = mount?.kind === "upload" ? mount.upload : undefined;
  await uploadBlob({ blob, open }, { target, begun, signal, limits });
  return "copied";
}
