// `archway inspect`: which architectures images support, and how that was found out. Called by main.
import { stringify } from "yaml";
import type { Clock } from "../clock.ts";
import { type ImageServiceConfig, openImageService } from "../images/image_service.ts";
import { silentLogger } from "../log.ts";
import { intersectArchitectures, isUsableArchitecture, KNOWN_ARCHITECTURES } from "../arch.ts";
import { renderPlatform } from "../oci/platforms.ts";
import type {
  Finding,
  InspectionFailure,
  InspectionReport,
  Platform,
  RequestCounts,
  TraceEntry,
} from "../oci/types.ts";
import { ExitCode, renderTable, type Terminal } from "./output.ts";

/** The flags of the command. */
export interface InspectConfig extends ImageServiceConfig {
  readonly operands: readonly string[];
  readonly output: "table" | "json" | "yaml";
  readonly trace: boolean;
  readonly registries: boolean;
  readonly adminUrl?: string | undefined;
}

/** One image as it is printed with `-o json` (design §4). */
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
  readonly error?: Pick<InspectionFailure, "kind" | "reason" | "message">;
}

/** Inspects the images, all at once, and prints them in the order given; 1 when one could not be inspected. */
export async function runInspect(
  config: InspectConfig,
  parts: {
    readonly terminal: Terminal;
    readonly clock: Clock;
    readonly userAgent: string;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const { terminal, signal } = parts;
  await using service = await openImageService({ config, ...parts, log: silentLogger, clusterCredentials: () => [] });
  const images = await Promise.all(config.operands.map(async (image) => {
    const request = { image, credentials: [], freshness: "revalidate", depth: "index", priority: "gated" } as const;
    return toInspected(image, await service.inspector.inspect(request, signal), { trace: config.trace });
  }));
  terminal.out(renderInspected(images, config));
  return images.every(({ error }) => error === undefined) ? ExitCode.done : ExitCode.no;
}

/** The document of one image. Pure. */
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
    const { kind, reason, message } = inspection.failure;
    const nothing = { digest: "", mediaType: "", platforms: [], architectures: [], findings: [] };
    return { ...common, ...nothing, source, requests, ...traced, error: { kind, reason, message } };
  }
  const { digest, mediaType, platforms, findings } = inspection;
  const named = platforms.map(({ architecture }) => architecture).filter(isUsableArchitecture);
  const architectures = inspection.kind === "anywhere" ? [...KNOWN_ARCHITECTURES] : intersectArchitectures([named]);
  return { ...common, digest, mediaType, platforms, architectures, source, requests, findings, ...traced };
}

/** All images in the wanted form. Pure. */
export function renderInspected(
  images: readonly InspectedImage[],
  { output, trace }: Pick<InspectConfig, "output" | "trace">,
): string {
  if (output === "json") return `${JSON.stringify(images, null, 2)}\n`;
  if (output === "yaml") return stringify(images);
  const rows = images.map(({ image, architectures, platforms, source, requests, digest, error }) => [
    image,
    error === undefined ? architectures.join(",") || "none" : `${error.reason} (${error.kind})`,
    platforms.map(renderPlatform).join(","),
    source,
    String(Object.values(requests).reduce((sum, count) => sum + count, 0)),
    digest.slice(0, 19),
  ]);
  const header = ["IMAGE", "ARCHITECTURES", "PLATFORMS", "SOURCE", "REQUESTS", "DIGEST"];
  return renderTable(header, rows) + images.map((image) => renderNotes(image, trace)).join("");
}

function renderNotes(image: InspectedImage, trace: boolean): string {
  const notes = [
    ...(image.error === undefined ? [] : [image.error.message]),
    ...image.findings.map(({ kind, message }) => `${kind}: ${message}`),
    ...(image.mirror === undefined ? [] : [`answered by mirror ${image.mirror}`]),
    ...(image.credential === undefined ? [] : [`logged in with ${image.credential}`]),
    ...(trace ? image.trace ?? [] : []).map(({ method, url, status, ms, note = "" }) =>
      `${method} ${url} → ${status} ${note} (${Math.round(ms)} ms)`
    ),
  ];
  return notes.length === 0 ? "" : `\n${image.image}\n${notes.map((note) => `  ${note}\n`).join("")}`;
}
