// The questions of decisions to registries, and their answers.
import type { Platform } from "../../oci/types.ts";

export type RegistryQuestion =
  /** The image behind a reference that must be of one architecture: its digest and what its own config says. */
  | { readonly kind: "image"; readonly reference: string }
  | { readonly kind: "platforms"; readonly reference: string }
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
  | { readonly kind: "there"; readonly digest: string }
  | { readonly kind: "yes" }
  | { readonly kind: "absent" }
  | { readonly kind: "denied"; readonly message: string }
  /** There, but no image of one architecture, or one that cannot be read for good. */
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string; readonly retryAfterMs?: number | undefined };

export interface RegistryWait {
  readonly kind: "wait";
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

export function questionKey(question: RegistryQuestion): string {
  return `${question.kind} ${question.kind === "push" ? question.repository : question.reference}`;
}
