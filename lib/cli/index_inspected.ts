// An index as `archway index inspect` prints it. Pure.
import { stringify } from "yaml";
import type { InspectedEntry, InspectedIndex } from "../images/assemble/inspect_index.ts";
import type { AssembleProblem } from "../images/assemble/problem.ts";
import { renderPlatform } from "../oci/image/platforms.ts";
import { renderColumns, renderTable } from "./output.ts";

export interface InspectedIndexDocument {
  readonly image: string;
  /** `image`: the reference leads to a single image, not to an index. */
  readonly kind: InspectedIndex["kind"];
  readonly resolved?: string | undefined;
  readonly digest?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly size?: number | undefined;
  readonly entries: readonly InspectedEntry[];
  readonly requests: number;
  readonly error?: AssembleProblem | undefined;
}

export function toInspectedIndex(
  result: InspectedIndex,
  { image, requests }: { readonly image: string; readonly requests: number },
): InspectedIndexDocument {
  if (result.kind === "failed") return { image, kind: "failed", entries: [], requests, error: result.problem };
  return { image, ...result, requests };
}

export function renderIndex(document: InspectedIndexDocument, output: "table" | "json" | "yaml"): string {
  if (output === "json") return `${JSON.stringify(document, null, 2)}\n`;
  if (output === "yaml") return stringify(document);
  const { image, kind, resolved = "", digest = "", mediaType = "", entries, requests } = document;
  const rows = entries.map((entry) => [
    entry.platform === undefined ? "-" : renderPlatform(entry.platform),
    entry.kind,
    entry.digest,
    String(entry.size),
    entry.findings.map((finding) => finding.kind).join(",") || "ok",
  ]);
  const findings = entries.flatMap((entry) => entry.findings.map(({ message }) => ["Finding", message]));
  const details = [
    ["Resolved", resolved],
    ["Kind", kind === "index" ? "index" : "a single image, not an index"],
    ["Digest", digest],
    ["Media type", mediaType],
    ...findings,
    ["Requests", String(requests)],
  ];
  return [
    renderTable(["PLATFORM", "KIND", "DIGEST", "SIZE", "CONFIG"], rows),
    `\n${image}\n`,
    renderColumns(details).replaceAll(/^(?=.)/gm, "  "),
  ].join("");
}
