// Reads an index with all that it lists, and compares what it says of each image with the image's own config.
import pLimit from "p-limit";
import { checkEntry, type EntryFinding, type EntryKind, type EntryRead, kindOfEntry } from "../index/check_entry.ts";
import { type ImagePlatform, judgeConfig, judgeDocument } from "../index/child.ts";
import { InspectionError, inspectionError } from "../oci/errors.ts";
import { type Descriptor, parseManifest } from "../oci/image/manifest.ts";
import type { Endpoint } from "../oci/pull_plan.ts";
import type { ReadDocument } from "../oci/read_document.ts";
import { canonicalReference } from "../oci/reference.ts";
import type { RepositoryClient } from "../oci/repository_client.ts";
import type { Platform } from "../oci/types.ts";
import { type AssembleProblem, problemOf } from "./problem.ts";
import { readAgain, type ReadDeps, readFirst } from "./read_places.ts";

/** One entry of an index. */
export interface InspectedEntry {
  readonly kind: EntryKind;
  readonly platform?: Platform | undefined;
  readonly digest: string;
  readonly mediaType: string;
  readonly size: number;
  readonly findings: readonly EntryFinding[];
}

/** An index, or what is there instead. */
export type InspectedIndex =
  | {
    readonly kind: "index" | "image";
    /** Where it was read, `registry/repository:tag`. */
    readonly resolved: string;
    readonly digest: string;
    readonly mediaType: string;
    readonly size: number;
    readonly entries: readonly InspectedEntry[];
  }
  | { readonly kind: "failed"; readonly problem: AssembleProblem };

const READ_AT_ONCE = 4;

/** Inspects it. Rejects only with the signal's reason and for faults that are no registry's. */
export async function inspectIndex(image: string, deps: ReadDeps): Promise<InspectedIndex> {
  const plan = deps.repositories.plan(image);
  if (plan.kind === "refused") return { kind: "failed", problem: { ...plan.failure, image } };
  try {
    if (plan.endpoints.length === 0) {
      throw inspectionError("Misconfigured", `Cannot read "${image}": no registry is configured for it.`);
    }
    return await readFirst(plan.endpoints, deps, (source, endpoint) => inspectAt(endpoint, source, deps));
  } catch (error) {
    const problem = deps.signal.aborted ? undefined : problemOf(error, image);
    if (problem === undefined) throw error;
    return { kind: "failed", problem };
  }
}

async function inspectAt(
  { host, repository, reference }: Endpoint,
  source: RepositoryClient,
  deps: ReadDeps,
): Promise<InspectedIndex> {
  const { document, bytes } = await readAgain(source, { kind: "manifest", identifier: reference }, deps);
  const manifest = parseManifest(document.text, document.contentType);
  const resolved = canonicalReference({ registry: host, repository, identifier: reference });
  if (manifest.kind === "unparsable") {
    throw inspectionError("Malformed", `Cannot read "${resolved}": ${manifest.problem}.`);
  }
  const { digest } = document;
  const common = { resolved, digest, mediaType: manifest.mediaType, size: bytes.byteLength };
  if (manifest.kind === "index") {
    const limit = pLimit(READ_AT_ONCE);
    const entries = await Promise.all(manifest.entries.map((entry) => limit(() => inspectEntry(entry, source, deps))));
    return { kind: "index", ...common, entries };
  }
  const own = await platformOf({ document, bytes }, source, deps);
  const platform = own.kind === "platform" ? own.platform : undefined;
  const findings: readonly EntryFinding[] = own.kind === "failed" ? [{ kind: "Unreadable", message: own.message }] : [];
  const { mediaType, size } = common;
  return { kind: "image", ...common, entries: [{ kind: "image", platform, digest, mediaType, size, findings }] };
}

async function inspectEntry(entry: Descriptor, source: RepositoryClient, deps: ReadDeps): Promise<InspectedEntry> {
  const { digest, mediaType, size, platform } = entry;
  const kind = kindOfEntry(entry);
  const findings = kind === "image" ? checkEntry(entry, await readEntry(digest, source, deps)) : [];
  return { kind, platform, digest, mediaType, size, findings };
}

async function readEntry(digest: string, source: RepositoryClient, deps: ReadDeps): Promise<EntryRead> {
  try {
    return await platformOf(await readAgain(source, { kind: "child", identifier: digest }, deps), source, deps);
  } catch (error) {
    if (deps.signal.aborted || !(error instanceof InspectionError)) throw error;
    // What may pass is no finding about the index.
    if (error.failure.kind === "transient") throw error;
    return { kind: "failed", reason: error.failure.reason, message: error.message };
  }
}

async function platformOf({ document }: ReadDocument, source: RepositoryClient, deps: ReadDeps): Promise<EntryRead> {
  const judged = judgeDocument(parseManifest(document.text, document.contentType), { isInner: true });
  if (judged.kind === "inner") {
    return { kind: "failed", reason: "NestedIndex", message: `${document.digest} is an index.` };
  }
  if (judged.kind === "problem") return failedRead(document.digest, judged);
  const config = judgeConfig(
    (await readAgain(source, { kind: "blob", identifier: judged.config }, deps)).document.text,
  );
  if (config.kind === "problem") return failedRead(document.digest, config);
  const platform: ImagePlatform = config.platform;
  return { kind: "platform", platform };
}

function failedRead(digest: string, { reason, state }: { readonly reason: string; readonly state: string }): EntryRead {
  return { kind: "failed", reason, message: `${digest}: ${state}.` };
}
