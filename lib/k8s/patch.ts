// JSON Patch (RFC 6902), and JSON as Go writes it: a `test` compares bytes, and Go escapes HTML (`<` is `\u003c`).

export type PatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

export type JsonPatch = readonly PatchOperation[];

/**
 * A JSON Pointer (RFC 6901) from unescaped segments: `pointer("metadata", "labels", "a/b")` → `/metadata/labels/a~1b`.
 */
export function pointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

const ESCAPED = /[<>&\u2028\u2029]/g;

/** Renders a value as JSON, with strings byte for byte like the API server's. */
export function renderJsonBody(value: unknown): string {
  return JSON.stringify(value).replace(ESCAPED, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
