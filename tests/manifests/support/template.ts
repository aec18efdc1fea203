// Enough of Helm's template language for the chart of manifests/helm: if, range, eq, not, or, toJson, values. Anything else
// throws.

/** What a template may ask for: `.Values.x`, `.Release.Namespace`. */
export interface TemplateScope {
  readonly values: Readonly<Record<string, unknown>>;
  readonly namespace: string;
}

type Frame = { readonly kind: "if"; readonly holds: boolean } | {
  readonly kind: "range";
  readonly items: readonly unknown[];
};

/** Renders a template whose actions stand alone on their lines, or are values within one. */
export function renderTemplate(text: string, scope: TemplateScope): string {
  const out: string[] = [];
  const frames: Frame[] = [];
  for (const line of text.split("\n")) {
    const action = /^\{\{- (.*) \}\}$/.exec(line)?.[1];
    if (action === undefined) {
      if (frames.some((frame) => frame.kind === "if" && !frame.holds)) continue;
      const range = frames.find((frame) => frame.kind === "range");
      if (range?.kind !== "range") out.push(fill(line, scope));
      else out.push(...range.items.map((item) => fill(line.replace("{{ . }}", String(item)), scope)));
    } else if (action === "end") {
      if (frames.pop() === undefined) throw new Error("Cannot render: an end too many");
    } else if (action.startsWith("if ")) {
      frames.push({ kind: "if", holds: truth(evaluate(action.slice(3), scope)) });
    } else if (action.startsWith("range ")) {
      const items = evaluate(action.slice(6), scope);
      frames.push({ kind: "range", items: Array.isArray(items) ? items : [] });
    } else throw new Error(`Cannot render "${action}": not in the subset`);
  }
  if (frames.length > 0) throw new Error("Cannot render: an end is missing");
  return out.join("\n");
}

function fill(line: string, scope: TemplateScope): string {
  return line.replaceAll(/\{\{ (".*?"|[^{}"]+) \}\}/g, (_, expression: string) => String(evaluate(expression, scope)));
}

/** Evaluates `word argument …`, where an argument may be bracketed. */
function evaluate(expression: string, scope: TemplateScope): unknown {
  const [head, ...rest] = split(expression);
  const values = rest.map((part) => evaluate(part, scope));
  if (head === "not") return !truth(values[0]);
  if (head === "or") return values.some(truth);
  if (head === "toJson") return JSON.stringify(values[0]);
  if (head === "eq") return values[0] === values[1];
  if (rest.length > 0 || head === undefined) throw new Error(`Cannot evaluate "${expression}": not in the subset`);
  if (head.startsWith("(")) return evaluate(head.slice(1, -1), scope);
  if (head.startsWith('"')) return head.slice(1, -1);
  if (head === ".Release.Namespace") return scope.namespace;
  const name = /^\.Values\.(\w+)$/.exec(head)?.[1];
  if (name === undefined || !(name in scope.values)) throw new Error(`Cannot evaluate "${head}": no such value`);
  return scope.values[name];
}

function split(expression: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const character of expression) {
    if (character === " " && depth === 0) {
      parts.push(part);
      part = "";
      continue;
    }
    if (character === "(") depth++;
    if (character === ")") depth--;
    part += character;
  }
  return [...parts, part];
}

function truth(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return value !== false && value !== "" && value !== undefined && value !== null && value !== 0;
}
