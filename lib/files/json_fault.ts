// Where a text stops being JSON. The engine's own message quotes the text, which may be a password; this one does not.

const TOKEN =
  /\s+|"(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[^"\\\p{Cc}])*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/uy;

type Want = "value" | "value or ]" | "key" | "key or }" | ":" | ", or ]" | ", or }" | "end";

/** Finds the first token that cannot stand where it stands. Linear in the text, without recursion. */
export function findJsonFault(text: string): { readonly message: string; readonly line: number } {
  const open: ("[" | "{")[] = [];
  let want: Want = "value";
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return { message: `unreadable text where ${want} should be`, line: lineAt(text, at) };
    if (/^\s/.test(token)) continue;
    const next = step(want, token, open);
    if (next === undefined) return { message: `expected ${want}`, line: lineAt(text, at) };
    want = next;
  }
  return { message: "ends too early", line: lineAt(text, text.length) };
}

/** What may follow once `token` stood where `want` was expected; undefined when it may not stand there. */
function step(want: Want, token: string, open: ("[" | "{")[]): Want | undefined {
  const isString = token.startsWith('"');
  const closes = (token === "]" && (want === "value or ]" || want === ", or ]")) ||
    (token === "}" && (want === "key or }" || want === ", or }"));
  if (closes) {
    open.pop();
    return afterValue(open);
  }
  if (want === ":") return token === ":" ? "value" : undefined;
  if (want === ", or ]") return token === "," ? "value" : undefined;
  if (want === ", or }") return token === "," ? "key" : undefined;
  if (want === "key" || want === "key or }") return isString ? ":" : undefined;
  if (want === "end" || "]},:".includes(token)) return undefined;
  if (token === "[" || token === "{") {
    open.push(token);
    return token === "[" ? "value or ]" : "key or }";
  }
  return afterValue(open);
}

function afterValue(open: readonly ("[" | "{")[]): Want {
  const container = open.at(-1);
  if (container === undefined) return "end";
  return container === "[" ? ", or ]" : ", or }";
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}
