// Reads an index and its images, and compares each entry with the image's own config.
import pLimit from "p-limit";
import { RegistryError, registryError } from "../../oci/errors.ts";
import type { Platform } from "../../oci/inspection.ts";
import type { Descriptor } from "../../oci/image/manifest.ts";
import { renderReference } from "../../oci/reference.ts";
import type { OpenImage } from "../../oci/repositories.ts";
import { checkEntry, type EntryFinding, type EntryKind, kindOfEntry } from "../decide/child.ts";
import { type AssembleProblem, problemOf } from "./problem.ts";
import type { Annotations } from "../decide/plan_index.ts";
import { parseObject, textMapAt } from "../../json.ts";
import { renderPlatform } from "../../oci/image/platforms.ts";
import { type LeftOut, type ReadDeps, readJoinableConfig } from "./read_child.ts";

export interface InspectedEntry extends Pick<Descriptor, "platform" | "digest" | "mediaType" | "size"> {
  readonly kind: EntryKind;
  readonly findings: readonly EntryFinding[];
}

export type InspectedIndex =
  | {
    readonly kind: "index" | "image";
    readonly resolved: string;
    readonly digest: string;
    readonly mediaType: string;
    readonly size: number;
    readonly entries: readonly InspectedEntry[];
  }
  | { readonly kind: "failed"; readonly problem: AssembleProblem };

type ListedIndex =
  | {
    readonly kind: "listed";
    readonly images: readonly { readonly image: string; readonly platform: string }[];
    readonly leftOut: readonly LeftOut[];
    readonly annotations: Annotations;
  }
  | { readonly kind: "failed"; readonly problem: AssembleProblem };

/** Lists an index at its own registry. A single image reads as an index of one. Rejects like {@link inspectIndex}. */
export async function listIndex(index: string, { repositories, signal }: ReadDeps): Promise<ListedIndex> {
  try {
    const endpoints = [repositories.targetOf(index)];
    return await repositories.read({ image: index, retries: "bounded", endpoints }, ({ top, endpoint }) => {
      const { manifest, digest, text } = top;
      const named = (digest: string, platform?: Platform) => ({
        image: renderReference(endpoint, digest),
        platform: platform === undefined ? "" : renderPlatform(platform),
      });
      if (manifest.kind !== "index") {
        return { kind: "listed", images: [named(digest)], leftOut: [], annotations: {} };
      }
      const entries = manifest.entries.map((entry) => ({ ...entry, kind: kindOfEntry(entry) }));
      return {
        kind: "listed",
        images: entries.filter(({ kind }) => kind === "image").map(({ digest, platform }) => named(digest, platform)),
        leftOut: entries.filter(({ kind }) => kind !== "image"),
        annotations: textMapAt(parseObject(text) ?? {}, "annotations") ?? {},
      };
    });
  } catch (error) {
    const problem = problemOf(error, signal, index);
    return { kind: "failed", problem };
  }
}

const MAX_PARALLEL_READS = 4;

/** Rejects only with the signal's reason, or for faults outside of registries. */
export async function inspectIndex(image: string, { repositories, signal }: ReadDeps): Promise<InspectedIndex> {
  try {
    return await repositories.read({ image, retries: "bounded" }, (opened) => inspectOpened(opened, signal));
  } catch (error) {
    const problem = problemOf(error, signal, image);
    return { kind: "failed", problem };
  }
}

async function inspectOpened({ top, documents, endpoint }: OpenImage, signal: AbortSignal): Promise<InspectedIndex> {
  const { manifest, digest, bytes } = top;
  const resolved = renderReference(endpoint);
  if (manifest.kind === "unparsable") {
    throw registryError("Malformed", `Cannot read "${resolved}": ${manifest.fault.message}.`);
  }
  const { mediaType } = manifest;
  const own = { digest, mediaType, size: bytes.byteLength };
  if (manifest.kind === "index") {
    const limit = pLimit(MAX_PARALLEL_READS);
    const read = async (entry: Descriptor): Promise<InspectedEntry> => {
      const { digest, mediaType, size, platform } = entry;
      const kind = kindOfEntry(entry);
      const findings = kind === "image" ? await findingsOf(entry, documents, signal) : [];
      return { kind, platform, digest, mediaType, size, findings };
    };
    const entries = await Promise.all(manifest.entries.map((entry) => limit(() => read(entry))));
    return { kind: "index", resolved, ...own, entries };
  }
  const config = await readJoinableConfig(documents, manifest);
  const [platform, findings] = config.kind === "problem"
    ? [undefined, [unreadable(`${digest}: ${config.state}.`)]]
    : [config.platform, []];
  return { kind: "image", resolved, ...own, entries: [{ kind: "image", platform, ...own, findings }] };
}

async function findingsOf(
  entry: Descriptor,
  documents: OpenImage["documents"],
  signal: AbortSignal,
): Promise<readonly EntryFinding[]> {
  try {
    const { manifest } = await documents.child(entry.digest);
    const config = await readJoinableConfig(documents, manifest);
    return config.kind === "problem"
      ? [unreadable(`${entry.digest}: ${config.state}.`)]
      : checkEntry(entry, config.platform);
  } catch (error) {
    // A transient failure is not a finding about the index.
    if (signal.aborted || !(error instanceof RegistryError) || error.failure.kind === "transient") throw error;
    return [unreadable(error.message)];
  }
}

function unreadable(message: string): EntryFinding {
  return { kind: "Unreadable", message };
}
