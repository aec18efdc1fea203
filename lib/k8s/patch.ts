// RFC 6902 JSON Patch as data.

/** One operation. Archway emits only these four. */
export type PatchOperation =
  | { readonly op: "add"; readonly path: string; readonly value: unknown }
  | { readonly op: "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** A whole patch, applied in order, all or nothing. */
export type JsonPatch = readonly PatchOperation[];

/** A JSON Pointer (RFC 6901) from unescaped segments: `pointer("metadata", "labels", "a/b")` → `/metadata/labels/a~1b`. */
export function pointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
