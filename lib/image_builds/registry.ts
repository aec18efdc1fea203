// The questions of decisions to registries, and their answers.
/** The questions of a decision to registries. */
export type RegistryQuestion =
  /** The image behind a reference that must be of one architecture: its digest and what its own config says. */
  | { readonly kind: "image"; readonly reference: string }
  /** The platforms of a base image, read with the pull secret. */
  | { readonly kind: "platforms"; readonly reference: string }
  /** What a tag names, without resolving an index: its digest and its children's. */
  | { readonly kind: "tag"; readonly reference: string }
  /** Whether the push secret may push there: `registry/repository`. */
  | { readonly kind: "push"; readonly repository: string };

/** What a registry answered. Unknown is never taken for absent. */
export type RegistryAnswer =
  | {
    readonly kind: "image";
    readonly digest: string;
    readonly mediaType: string;
    readonly size: number;
    readonly os: string;
    readonly architecture: string;
    readonly labels: Readonly<Record<string, string>>;
  }
  | { readonly kind: "platforms"; readonly isIndex: boolean; readonly architectures: readonly string[] }
  | { readonly kind: "tag"; readonly digest: string; readonly children: readonly string[] }
  | { readonly kind: "granted" }
  | { readonly kind: "absent" }
  | { readonly kind: "denied"; readonly message: string }
  /** It is there, but it is no image of one architecture, or one that cannot be read for good. */
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string; readonly retryAtMs?: number | undefined };

/** One text for each question. */
export function questionKey(question: RegistryQuestion): string {
  return `${question.kind} ${question.kind === "push" ? question.repository : question.reference}`;
}
