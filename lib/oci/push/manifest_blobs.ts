// The blobs that must be copied with a manifest. Pure.
import { isObject, listAt, objectAt, parseBoundedObject, textAt } from "../../json.ts";
import { type Unparsable, unparsable } from "../../parsed.ts";
import type { BlobDescriptor } from "./verified_stream.ts";
import { CONTENT_DIGEST } from "../reference.ts";

type ManifestBlobs =
  | {
    readonly kind: "blobs";
    readonly blobs: readonly BlobDescriptor[];
    /** Layers that container runtimes fetch from elsewhere, and that must not be pushed. */
    readonly foreign: readonly BlobDescriptor[];
  }
  | Unparsable;

const MAX_LAYERS = 1_000;
/** Matches media types of foreign layers. Any other layer is pushed, even if it names URLs. */
const FOREIGN = /\.(?:foreign|nondistributable)\./;

export function blobsOf(manifest: string): ManifestBlobs {
  const document = parseBoundedObject(manifest);
  const layers = listAt(document, "layers") ?? [];
  if (layers.length > MAX_LAYERS) return unparsable(`it has more than ${MAX_LAYERS} layers`);
  const all = [objectAt(document, "config"), ...layers].map(parseBlob);
  const blobs: (BlobDescriptor & { readonly isForeign: boolean })[] = [];
  for (const blob of all) {
    if (blob === undefined) return unparsable("its config or a layer has no digest or no size");
    blobs.push(blob);
  }
  const distinct = [...new Map(blobs.map((blob) => [blob.digest, blob])).values()];
  const plain = ({ digest, size }: BlobDescriptor): BlobDescriptor => ({ digest, size });
  return {
    kind: "blobs",
    blobs: distinct.filter(({ isForeign }) => !isForeign).map(plain),
    foreign: distinct.filter(({ isForeign }) => isForeign).map(plain),
  };
}

function parseBlob(descriptor: unknown): BlobDescriptor & { readonly isForeign: boolean } | undefined {
  if (!isObject(descriptor)) return undefined;
  const digest = textAt(descriptor, "digest");
  const { size } = descriptor;
  if (!CONTENT_DIGEST.test(digest)) return undefined;
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) return undefined;
  return { digest, size, isForeign: FOREIGN.test(textAt(descriptor, "mediaType")) };
}
