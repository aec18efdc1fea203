// JSON as Go's encoding/json writes it. The API server compares the strings of a `test` operation by their bytes, and its
// own copy of the object has Go's HTML escapes: a `<` that is written as itself never equals the `\u003c` that it holds.

const ESCAPED = /[<>&\u2028\u2029]/g;

/** Renders a value as JSON whose strings have the same bytes as those that the API server renders. */
export function renderJsonBody(value: unknown): string {
  return JSON.stringify(value).replace(ESCAPED, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
