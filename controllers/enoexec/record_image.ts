// Keeps a record of an image that claims an architecture which its program does not have.
import { listAll } from "../../lib/k8s/lists.ts";
import { Resource } from "../../lib/k8s/types.ts";
import {
  buildFailedImage,
  type FailedImage,
  isWithinLimits,
  parseFailedImage,
  type RecordSource,
} from "../../lib/enoexec/failed_image.ts";
import { EnoexecLabel } from "../../lib/names.ts";
import type { ExecFormatDeps } from "./deps.ts";

/** Writes the record, or renews it. Throws ApiError when the API server refuses it. */
export async function recordImage(
  { api, log, settings: { namespace } }: ExecFormatDeps,
  failed: FailedImage,
  signal: AbortSignal,
): Promise<void> {
  const document = buildFailedImage(failed, namespace);
  if (document === undefined) return;
  const { name } = document.metadata;
  const records: RecordSource[] = [];
  const labelSelector = EnoexecLabel.failedArchitecture;
  for await (const object of listAll(api, Resource.enoexecEvents, { namespace, labelSelector, signal })) {
    records.push({ name: object.metadata.name, reportedBy: parseFailedImage(object)?.reportedBy ?? "" });
  }
  const { reportedBy } = failed;
  if (!isWithinLimits({ name, reportedBy }, records)) {
    return log.warn("failed image not remembered: there are too many", { records: records.length, by: reportedBy });
  }
  const body = { kind: "apply", document, force: true } as const;
  await api.patch(Resource.enoexecEvents, { namespace, name }, { body, signal });
  const { digest, architecture } = failed;
  log.info("image fails on an architecture that it claims", { digest, architecture });
}
