// Keeps a record of an image that claims an architecture which its program does not have.
import { listAll } from "../../lib/k8s/lists.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { buildFailedImage, type FailedImage, MAX_FAILED_IMAGES } from "../../lib/enoexec/failed_image.ts";
import { EnoexecLabel } from "../../lib/names.ts";
import type { ExecFormatDeps } from "./deps.ts";

/** Writes the record, or renews it. Throws ApiError when the API server refuses it. */
export async function rememberImage(
  { api, log, settings: { namespace } }: ExecFormatDeps,
  failed: FailedImage,
  signal: AbortSignal,
): Promise<void> {
  const document = buildFailedImage(failed, namespace);
  if (document === undefined) return;
  const { name } = document.metadata;
  const names = new Set<string>();
  const labelSelector = EnoexecLabel.failedArchitecture;
  for await (const { metadata } of listAll(api, Resource.enoexecEvents, { namespace, labelSelector, signal })) {
    names.add(metadata.name);
  }
  if (names.size >= MAX_FAILED_IMAGES && !names.has(name)) {
    return log.warn("failed image not remembered: there are too many", { max: MAX_FAILED_IMAGES });
  }
  const body = { kind: "apply", document, force: true } as const;
  await api.patch(Resource.enoexecEvents, { namespace, name }, { body, signal });
  const { digest, architecture } = failed;
  log.info("image fails on an architecture that it claims", { digest, architecture });
}
