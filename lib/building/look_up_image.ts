// What a registry says of one image: there, not there for certain, or unknown. Unknown is never taken for absent: a registry
// that does not answer must cause neither a build nor a deletion.
import { memberOf } from "../json.ts";
import { InspectionError } from "../oci/errors.ts";
import { parseImageConfig, parseManifest } from "../oci/image/manifest.ts";
import type { Endpoint } from "../oci/pull_plan.ts";
import { type ReadDocument, readDocument } from "../oci/read_document.ts";
import type { RepositoryClient } from "../oci/repository_client.ts";
import type { Platform } from "../oci/types.ts";
import { type ReadDeps, readFirst } from "../assemble/read_places.ts";

/** What was found behind a reference. */
export type FoundImage =
  | {
    readonly kind: "image";
    readonly digest: string;
    readonly mediaType: string;
    readonly size: number;
    /** As its config has it. */
    readonly platform: Platform;
    /** Of its config; those that are texts. */
    readonly labels: Readonly<Record<string, string>>;
  }
  | {
    readonly kind: "index";
    readonly digest: string;
    readonly mediaType: string;
    readonly size: number;
    /** One for each image that names its platform. */
    readonly entries: readonly { readonly platform: Platform; readonly digest: string }[];
  }
  | { readonly kind: "absent" }
  /** The registry refuses every login. */
  | { readonly kind: "denied"; readonly message: string }
  /** There, but no image that can be run. */
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string; readonly retryAfterMs?: number | undefined };

/** Looks it up. `own`: at the registry itself and at no mirror. Rejects only with the signal's reason. */
export async function lookUpImage(
  { image, from }: { readonly image: string; readonly from: "own" | "mirrors" },
  deps: ReadDeps,
): Promise<FoundImage> {
  try {
    const endpoints = from === "own" ? [deps.repositories.targetOf(image)] : endpointsOf(image, deps);
    return await readFirst(endpoints, deps, (source, { reference }) => readAt(source, { ...deps, reference }));
  } catch (error) {
    if (deps.signal.aborted || !(error instanceof InspectionError)) throw error;
    return failedLookUp(error);
  }
}

function endpointsOf(image: string, { repositories }: ReadDeps): readonly Endpoint[] {
  const plan = repositories.plan(image);
  if (plan.kind === "refused") throw new InspectionError(plan.failure);
  return plan.endpoints;
}

async function readAt(
  source: RepositoryClient,
  { reference, ...deps }: ReadDeps & { readonly reference: string },
): Promise<FoundImage> {
  const top = await read(source, deps, { kind: "manifest", identifier: reference });
  const { document: { text, contentType, digest }, bytes } = top;
  const manifest = parseManifest(text, contentType);
  const size = bytes.byteLength;
  switch (manifest.kind) {
    case "unparsable":
      return { kind: "unusable", message: manifest.problem };
    case "schema1":
      return { kind: "unusable", message: "it has a schema 1 manifest" };
    case "index": {
      const entries = manifest.entries.flatMap(({ platform, digest: child }) =>
        platform === undefined || platform.architecture === "unknown" ? [] : [{ platform, digest: child }]
      );
      return { kind: "index", digest, mediaType: manifest.mediaType, size, entries };
    }
    case "manifest": {
      if (!manifest.isImage) return { kind: "unusable", message: "it is no image" };
      const blob = await read(source, deps, { kind: "blob", identifier: manifest.config.digest });
      const config = parseImageConfig(blob.document.text);
      if (config.kind === "unparsable") return { kind: "unusable", message: config.problem };
      const { platform, labels } = config;
      return { kind: "image", digest, mediaType: manifest.mediaType, size, platform, labels: textsOf(labels) };
    }
  }
}

function read(
  source: RepositoryClient,
  { clock }: ReadDeps,
  name: { readonly kind: "manifest" | "blob"; readonly identifier: string },
): Promise<ReadDocument> {
  return readDocument(source, { name, clock });
}

function textsOf(labels: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(labels).flatMap((name) => {
      const value = memberOf(labels, name);
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

function failedLookUp({ failure: { kind, reason, message, retryAfterMs } }: InspectionError): FoundImage {
  if (kind === "transient") return { kind: "unknown", message, retryAfterMs };
  if (reason === "ManifestUnknown") return { kind: "absent" };
  if (reason === "Unauthorized") return { kind: "denied", message };
  // Configuration, an address that may not be reached: an administrator has to act, and then a retry helps.
  if (reason === "Malformed" || reason === "NotAnImage") return { kind: "unusable", message };
  return { kind: "unknown", message };
}
