// The questions of decisions to registries, and their answers.
import type { Platform } from "../../oci/types.ts";

export type RegistryQuestion =
  /** The image behind a reference that must be of one architecture: its digest and what its own config says. */
  | { readonly kind: "image"; readonly reference: string }
  /** The platforms of a base image, read with the pull secret. */
  | { readonly kind: "platforms"; readonly reference: string }
  /** What a tag names. */
  | { readonly kind: "tag"; readonly reference: string }
  /** Whether the push secret may push there: `registry/repository`. */
  | { readonly kind: "push"; readonly repository: string };

/** The answer of a registry. Unknown is never taken for absent: it must cause neither a build nor a deletion. */
export type RegistryAnswer =
  | {
    readonly kind: "image";
    readonly digest: string;
    readonly mediaType: string;
    readonly size: number;
    /** As its config has it. */
    readonly platform: Platform;
    readonly labels: Readonly<Record<string, string>>;
  }
  /** Those of Linux; the digest of what names them. */
  | { readonly kind: "platforms"; readonly architectures: readonly string[]; readonly digest: string }
  /** The tag names this. */
  | { readonly kind: "there"; readonly digest: string }
  /** It is granted. */
  | { readonly kind: "yes" }
  | { readonly kind: "absent" }
  /** The registry refuses every login. */
  | { readonly kind: "denied"; readonly message: string }
  /** There, but no image of one architecture, or one that cannot be read for good. */
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string; readonly retryAfterMs?: number | undefined };

/** No answer now, and why. */
export interface RegistryWait {
  readonly kind: "wait";
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

/** One text for each question. */
export function questionKey(question: RegistryQuestion): string {
  return `${question.kind} ${question.kind === "push" ? question.repository : question.reference}`;
}
