// One image as `archway inspect` prints it: the report of the inspector in the shape of the JSON output. Pure.
import { intersectArchitectures, isUsableArchitecture, KNOWN_ARCHITECTURES } from "../arch.ts";
import type { InspectionReport, RequestCounts, TraceEntry } from "../oci/inspector.ts";
import type { Finding, InspectionFailure, Platform } from "../oci/types.ts";

/** Why an image could not be inspected, as it is printed. */
export type InspectedError = Pick<InspectionFailure, "kind" | "reason" | "message" | "retryAfterMs">;

export interface InspectedImage {
  readonly image: string;
  readonly resolved: string;
  readonly mirror?: string;
  readonly credential?: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly platforms: readonly Platform[];
  readonly architectures: readonly string[];
  readonly source: "registry" | "cache";
  readonly requests: RequestCounts;
  readonly findings: readonly Finding[];
  readonly trace?: readonly TraceEntry[];
  readonly error?: InspectedError;
}

export function toInspected(
  image: string,
  report: InspectionReport,
  { trace }: { readonly trace: boolean },
): InspectedImage {
  const { inspection, resolved, mirror, credentialSource, source, requests } = report;
  const common = {
    image,
    resolved,
    ...(mirror === undefined ? {} : { mirror }),
    ...(credentialSource === undefined ? {} : { credential: credentialSource }),
  };
  const traced = trace ? { trace: report.trace } : {};
  if (inspection.kind === "failed") {
    const { registry: _named, ...error } = inspection.failure;
    const nothing = { digest: "", mediaType: "", platforms: [], architectures: [], findings: [] };
    return { ...common, ...nothing, source, requests, ...traced, error };
  }
  const { digest, mediaType, platforms, findings } = inspection;
  const named = platforms.map(({ architecture }) => architecture).filter(isUsableArchitecture);
  const architectures = inspection.kind === "anywhere" ? [...KNOWN_ARCHITECTURES] : intersectArchitectures([named]);
  return { ...common, digest, mediaType, platforms, architectures, source, requests, findings, ...traced };
}
