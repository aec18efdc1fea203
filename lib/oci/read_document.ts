// Reads one document of a repository through its client: its limit of bytes, and the check of what comes back.
import {
  type DocumentName,
  documentUrl,
  refused,
  type RegistryDocument,
  toDocument,
  unreadable,
} from "./image/document.ts";
import { MANIFEST_MEDIA_TYPES } from "./image/manifest.ts";
import { isAbsence, mayBeAbsence } from "./limits/outcome.ts";
import type { RepositoryAnswer, RepositoryClient, RepositoryMessage } from "./repository_client.ts";
import type { RequestKind } from "./request_log.ts";

const MIB = 1024 * 1024;

/** Registries need not accept manifests beyond 4 MiB. Those that an index names, of which there may be many, are far below 1 MiB. */
const MAX_BYTES: Readonly<Record<DocumentName["kind"], number>> = {
  manifest: 4 * MIB,
  head: 4 * MIB,
  child: MIB,
  blob: MIB,
  layer: MIB,
};

const REQUEST_KIND: Readonly<Record<DocumentName["kind"], RequestKind>> = {
  manifest: "manifestGet",
  child: "manifestGet",
  head: "manifestHead",
  blob: "blobGet",
  layer: "blobGet",
};

/** Reads one document and parses it within the parsing limit. Throws InspectionError when it is missing, refused, or not what its digest says. */
export async function readDocument<T>(
  client: RepositoryClient,
  name: DocumentName,
  parse: (document: RegistryDocument) => T,
): Promise<T> {
  const { endpoint, context: { callers, signal } } = client;
  const { answer, credential } = await askFor(client, name);
  const arrived = { bytes: answer.body.byteLength, callers, signal, registry: endpoint.host };
  return await client.limits.parse(() => parse(toDocument(endpoint, { document: name, answer, credential })), arrived);
}

/** How long a registry may take to begin a layer, and to send the whole of any other answer (ms). */
const LAYER_TIMEOUTS = { headersMs: 30_000, totalMs: 60_000 };

/** The bytes of a layer as they come, unchecked. Throws InspectionError as {@link readDocument} does; so does the stream. */
export async function openLayer(client: RepositoryClient, digest: string): Promise<ReadableStream<Uint8Array>> {
  const name = { kind: "layer", identifier: digest } as const;
  const { answer } = await askFor(client, name, { isStreamed: true, timeouts: LAYER_TIMEOUTS });
  const { stream, status } = answer;
  if (status === 200) return stream ?? new Blob([]).stream();
  throw unreadable(client.endpoint, { document: name, status });
}

async function askFor(
  client: RepositoryClient,
  name: DocumentName,
  message: Partial<RepositoryMessage> = {},
): Promise<Extract<RepositoryAnswer, { kind: "answered" }>> {
  const { endpoint, credentials } = client;
  const { kind } = name;
  const method = kind === "head" ? "HEAD" : "GET";
  const sent = await client.send({
    message: {
      kind: REQUEST_KIND[kind],
      maxBytes: MAX_BYTES[kind],
      method,
      accept: kind === "blob" || kind === "layer" ? undefined : MANIFEST_MEDIA_TYPES.join(", "),
      ...message,
    },
    urlBy: (scheme) => documentUrl(endpoint, { ...name, scheme }),
    // Anything but "not for you" and "not there" ends the search for a credential.
    isFinal: ({ status }) => ![401, 403, 404].includes(status),
    mayReadRoot: kind !== "head",
  });
  if (sent.kind === "refused") throw refused(endpoint, { document: name, status: sent.answer?.status, credentials });
  const { status } = sent.answer;
  if (status !== 429 && status < 500) return sent;
  const isGone = isAbsence(sent.answer) || mayBeAbsence({ status, method });
  if (isGone) throw refused(endpoint, { document: name, status: 404, credentials });
  throw unreadable(endpoint, { document: name, status, retryAfterMs: client.pauseOf(sent.answer) });
}
