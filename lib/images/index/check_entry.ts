// What is wrong with the entries of an index that exists: images that are not there, or not for the platform that it says.
import type { Descriptor } from "../../oci/image/manifest.ts";
import { isPlatformEntry, renderPlatform } from "../../oci/image/platforms.ts";
import type { Platform } from "../../oci/types.ts";
import type { ImagePlatform } from "./child.ts";

export type EntryKind = "image" | "attestation" | "other";

export interface EntryFinding {
  readonly kind: "Unreadable" | "PlatformMismatch" | "NoPlatform";
  readonly message: string;
}

/** What an entry is, by its own fields: attestations are marked, or have the platform `unknown`. */
export function kindOfEntry(entry: Descriptor): EntryKind {
  if (Object.hasOwn(entry.annotations, "vnd.docker.reference.type")) return "attestation";
  if (entry.platform?.architecture === "unknown") return "attestation";
  return isPlatformEntry(entry) || !entry.isArtifact && /manifest\.v[12]\+/.test(entry.mediaType) ? "image" : "other";
}

/** Compares an entry with what its image's config says. */
export function checkEntry({ digest, platform }: Descriptor, own: ImagePlatform): readonly EntryFinding[] {
  const said = renderPlatform(own);
  if (platform === undefined) {
    return [{ kind: "NoPlatform", message: `${digest} has no platform in the index; its config says ${said}.` }];
  }
  if (isSame(platform, own)) return [];
  const message = `The index says ${renderPlatform(platform)} for ${digest}, its config says ${said}.`;
  return [{ kind: "PlatformMismatch", message }];
}

/** Indexes may say more of the variant than the config does, but nothing else. */
function isSame(named: Platform, own: ImagePlatform): boolean {
  const isVariant = own.variant === undefined || named.variant === undefined || own.variant === named.variant;
  return named.os === own.os && named.architecture === own.architecture && isVariant;
}
