// Indexes as `archway index assemble` and `archway index inspect` print them. Pure.
import type { AssembleResult, JoinedImage } from "../publishing/assemble/assemble_index.ts";
import type { ChildCopy } from "../publishing/assemble/copy_children.ts";
import type { LeftOut } from "../publishing/assemble/read_child.ts";
import type { AssembleProblem } from "../publishing/assemble/problem.ts";
import { renderPlatform } from "../oci/image/platforms.ts";
import { renderColumns, renderTable } from "./output.ts";
import { renderMib } from "./progress_line.ts";
import type { InspectedEntry, InspectedIndex } from "../publishing/assemble/inspect_index.ts";

interface Assembled {
  readonly target: string;
  readonly outcome: AssembleResult["kind"];
  /** `registry/repository@sha256:…`; absent when nothing was made. */
  readonly reference?: string | undefined;
  readonly digest?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly replaced?: string | undefined;
  readonly images: readonly JoinedImage[];
  readonly requests: number;
  readonly problems: readonly AssembleProblem[];
  /** Of a failure: whether the tag may have been written all the same. */
  readonly tagWritten?: boolean | undefined;
}

export function toAssembled(
  result: AssembleResult,
  { target, requests }: { readonly target: string; readonly requests: number },
): Assembled {
  if (result.kind === "failed") {
    const { problems, isTagWritten } = result;
    return { target, outcome: "failed", images: [], requests, problems, tagWritten: isTagWritten };
  }
  const { kind, index: { digest, mediaType }, repository, replaced, images } = result;
  const reference = `${repository}@${digest}`;
  return { target, outcome: kind, reference, digest, mediaType, replaced, images, requests, problems: [] };
}

export function renderAssembled(assembled: readonly Assembled[], width?: number): string {
  return assembled.filter(({ outcome }) => outcome !== "failed").map((one) => renderMade(one, width)).join("\n");
}

const HEADLINE: Readonly<Record<AssembleResult["kind"], string>> = {
  published: "Published",
  unchanged: "Unchanged",
  planned: "Would publish",
  failed: "Not published:",
};

function renderMade(one: Assembled, width?: number): string {
  const { target, outcome, reference, mediaType, replaced, images, requests } = one;
  const rows = images.map(({ image, platform, digest, copy }) => [
    renderPlatform(platform),
    image,
    digest.replace(/^([a-z0-9]+:[0-9a-f]{12})[0-9a-f]+$/, "$1…"),
    renderCopy(copy),
  ]);
  const details = [
    ["Reference", reference ?? ""],
    ["Media type", mediaType ?? ""],
    ...replaced === undefined ? [] : [[outcome === "planned" ? "Would replace" : "Replaced", replaced]],
    ["Requests", String(requests)],
  ];
  return [
    renderTable(["PLATFORM", "IMAGE", "DIGEST", "CONTENT"], rows, width),
    `\n${HEADLINE[outcome]} ${target}\n`,
    renderColumns(details, width, 2),
  ].join("");
}

function renderCopy({ kind, present, mounted, copied, foreign, bytes }: ChildCopy): string {
  if (kind === "in place") return kind;
  if (kind === "to be copied") return `to be copied, at most ${renderMib(bytes)} MiB`;
  const counts: readonly (readonly [count: number, what: string])[] = [
    [present, "present"],
    [mounted, "mounted"],
    [copied, `copied (${renderMib(bytes)} MiB)`],
    [foreign, "left where they are"],
  ];
  return `blobs: ${counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`).join(", ")}`;
}

/** What is wrong, one sentence or more each, and what became of the tag. */
export function sentencesOf({ target, problems, tagWritten }: Assembled): readonly string[] {
  const end = tagWritten === true
    ? `It is unknown whether ${target} was written: look with \`archway index inspect ${target}\`.`
    : `Nothing was published: ${target} is as it was.`;
  return [...problems.map(({ message }) => message), end];
}

/** One sentence for each claim that is wrong, and for what is not copied with an image. Referrers are not looked up. */
export function lossesOf({ images }: Assembled): readonly string[] {
  return images.flatMap(({ image, copy, leftOut, findings }) => [
    ...findings.map(({ message }) => `"${image}": ${message} The config counts.`),
    ...leftOut.length === 0 ? [] : [besideImages(image, leftOut)],
    ...copy.kind === "in place" ? [] : [`Signatures and other referrers of "${image}" are not copied with it.`],
  ]);
}

export function besideImages(image: string, leftOut: readonly LeftOut[]): string {
  const entries = leftOut.map(({ kind, digest }) => `${kind} ${digest}`).join(", ");
  return `The index does not hold what "${image}" has beside its image: ${entries}.`;
}

interface InspectedIndexDocument {
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

export function renderIndex(document: InspectedIndexDocument, width?: number): string {
  const { image, kind, resolved = "", digest = "", mediaType = "", entries, requests } = document;
  const rows = entries.map((entry) => [
    entry.platform === undefined ? "-" : renderPlatform(entry.platform),
    entry.kind,
    entry.digest,
    String(entry.size),
    entry.findings.map((finding) => finding.kind).join(", ") || "ok",
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
    renderTable(["PLATFORM", "KIND", "DIGEST", "SIZE", "CONFIG"], rows, width),
    `\n${image}\n`,
    renderColumns(details, width, 2),
  ].join("");
}
