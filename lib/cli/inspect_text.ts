// Inspected images in the shape of the JSON output, and as text for users: one row each, then the details of each.
// Pure.
import { renderDuration } from "../vocabulary/duration.ts";
import type { InspectionReport } from "../oci/inspection_request.ts";
import type { Finding, Platform } from "../oci/inspection.ts";
import type { RegistryFailure } from "../oci/errors.ts";
import type { RequestCounts, TraceEntry } from "../oci/request_log.ts";
import { renderPlatform } from "../oci/image/platforms.ts";
import { renderColumns, renderTable } from "./output.ts";
import { intersectArchitectures, isUsableArchitecture, KNOWN_ARCHITECTURES } from "../arch.ts";

/** A table, and below it the details of each image, with what a narrow terminal leaves out of the table. */
export function renderInspectedText(images: readonly InspectOutput[], width?: number): string {
  const rows = images.map(({ image, architectures, source, requests, findings, error }) => [
    shortenDigest(image),
    error === undefined ? architectures.join(", ") || "none" : renderReason(error),
    source,
    String(Object.values(requests).reduce((sum, count) => sum + count, 0)),
    findings.map(({ kind }) => kind).join(", "),
  ]);
  const table = renderTable(["IMAGE", "ARCHITECTURES", "SOURCE", "REQUESTS", "FINDINGS"], rows, width);
  return [table, ...images.map((image) => renderDetails(image, width))].join("\n");
}

/** Leaves out the kind of a failure of trust: it lasts until the configuration changes, which neither kind says. */
function renderReason({ reason, kind }: InspectedError): string {
  return reason === "TlsFailed" ? reason : `${reason} (${kind})`;
}

/** Shortens a digest, which would fill the line. It is printed in full below. */
function shortenDigest(image: string): string {
  return image.replace(/(@[a-z0-9]+:[0-9a-f]{12})[0-9a-f]+$/, "$1…");
}

function renderDetails(image: InspectOutput, width: number = Infinity): string {
  const { error, mirror, digest, mediaType, platforms, findings, trace } = image;
  const credential = image.credential ?? "none (anonymous)";
  const rows: readonly (readonly [label: string, value: string | undefined])[] = [
    ["Resolved", image.resolved],
    ["Mirror", mirror],
    ["Error", error?.message],
    ["Next", error === undefined ? undefined : renderNext(error)],
    ...error === undefined
      ? [
        ["Credential", credential],
        ["Digest", digest],
        ["Media type", mediaType],
        ["Platforms", platforms.map(renderPlatform).join(", ")],
      ] as const
      : [],
    ...findings.map(({ kind, message }) => ["Finding", `${kind}: ${message}`] as const),
    ["Requests", renderRequests(image.requests)],
  ];
  const known = rows.flatMap(([label, value]) => value === undefined ? [] : [[label, value]]);
  const details = renderColumns(known, width, 2);
  return `${image.image}\n${details}${trace === undefined ? "" : renderTrace(trace, width)}`;
}

/** What to do about an error, where its message does not say so. */
function renderNext({ reason, retryAfterMs }: InspectedError): string | undefined {
  if (reason === "TlsFailed") {
    return "Asking again does not help before this is mended; docs/registries.md says what is trusted and accepted.";
  }
  if (reason === "Unauthorized") {
    return "Name a docker config with the right credentials by dockerConfig in the file of --config.";
  }
  return retryAfterMs === undefined
    ? undefined
    : `Ask again in ${renderDuration(retryAfterMs)}: the registry wants it so.`;
}

function renderRequests({ manifestGet, manifestHead, blobGet, token, other }: RequestCounts): string {
  const counts: readonly (readonly [count: number, name: string])[] = [
    [manifestGet, "manifest GET"],
    [manifestHead, "manifest HEAD"],
    [blobGet, "blob GET"],
    [token, "token"],
    [other, "other"],
  ];
  return counts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`).join(", ") || "none";
}

function renderTrace(trace: readonly TraceEntry[], width: number): string {
  if (trace.length === 0) return "  Trace: nothing was asked\n";
  const rows = trace.map(({ method, url, status, ms, note = "", authorization }) => [
    method,
    `${status} ${note}`.trim(),
    `${Math.round(ms)} ms`,
    authorization === undefined ? "" : `${authorization} ***`,
    url,
  ]);
  return `  Trace\n${renderColumns(rows, width, 4)}`;
}

type InspectedError = Pick<RegistryFailure, "kind" | "reason" | "message" | "retryAfterMs">;

export interface InspectOutput {
  readonly image: string;
  readonly resolved: string;
  readonly mirror?: string | undefined;
  readonly credential?: string | undefined;
  readonly digest: string;
  readonly mediaType: string;
  readonly platforms: readonly Platform[];
  readonly architectures: readonly string[];
  readonly source: "registry" | "cache";
  readonly requests: RequestCounts;
  readonly findings: readonly Finding[];
  readonly trace?: readonly TraceEntry[] | undefined;
  readonly error?: InspectedError;
}

export function toInspected(
  image: string,
  report: InspectionReport,
  { trace }: { readonly trace: boolean },
): InspectOutput {
  const { inspection, resolved, mirror, credentialSource: credential, source, requests } = report;
  const common = { image, resolved, mirror, credential };
  const traced = { trace: trace ? report.trace : undefined };
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
