// policy.json: which images may be used at all. Only `reject` and `insecureAcceptAnything` can be judged without reading
// signatures; whatever needs one is refused, and says so.
import * as z from "zod";
import { canonicalName } from "../registry_host.ts";
import { parseAs, parseJson } from "../files/documents.ts";
import { asParsed, type Parsed } from "../../parsed.ts";

type PolicyDemand = "accept" | "reject" | "signature";

/** Demands by scope of the docker transport, and for everything else. All demands of a scope must hold. */
export interface Policy {
  readonly byScope: ReadonlyMap<string, readonly PolicyDemand[]>;
  readonly otherwise: readonly PolicyDemand[];
}

/** Whether an image may be used. `scope`: which entry decided. */
type PolicyVerdict =
  | { readonly kind: "allowed" }
  | { readonly kind: "denied"; readonly scope: string; readonly why: "rejected" | "signature" };

const DEMANDS = {
  insecureAcceptAnything: "accept",
  reject: "reject",
  signedBy: "signature",
  signedBaseLayer: "signature",
  sigstoreSigned: "signature",
} as const satisfies Readonly<Record<string, PolicyDemand>>;

const Requirements = z.array(z.object({
  type: z.enum(["insecureAcceptAnything", "reject", "signedBy", "signedBaseLayer", "sigstoreSigned"]),
}));
const Document = z.object({ default: Requirements, transports: z.record(z.string(), z.unknown()).default({}) });
const Scopes = z.record(z.string(), Requirements);

/** Parses policy.json. Anything that is not understood is a fault: a policy must not be weaker than it reads. */
export function parsePolicy(text: string): Parsed<Policy> {
  const parsed = parseAs(Document, parseJson(text), text, unknownTo);
  if (parsed.kind === "unparsable") return parsed;
  const scopes = parseAs(Scopes, asParsed<unknown>(parsed.value.transports.docker ?? {}), text, unknownTo);
  if (scopes.kind === "unparsable") return scopes;
  const demands = (list: z.infer<typeof Requirements>): readonly PolicyDemand[] =>
    list.map(({ type }) => DEMANDS[type]);
  return asParsed({
    byScope: new Map(Object.entries(scopes.value).map(([scope, list]) => [canonicalName(scope), demands(list)])),
    otherwise: demands(parsed.value.default),
  });
}

/** Judges a logical name: `host[:port]/repository` and its `:tag` or `@digest`. The most specific scope decides (DV-99). */
export function judgeByPolicy(policy: Policy, full: { readonly name: string; readonly suffix: string }): PolicyVerdict {
  const scope = scopesOf(full.name, full.suffix).find((candidate) => policy.byScope.has(candidate));
  const demands = scope === undefined ? policy.otherwise : policy.byScope.get(scope) ?? [];
  const place = scope ?? "default";
  // An empty list is a rejection: nothing accepts.
  if (demands.length === 0 || demands.includes("reject")) return { kind: "denied", scope: place, why: "rejected" };
  if (demands.includes("signature")) return { kind: "denied", scope: place, why: "signature" };
  return { kind: "allowed" };
}

/** Scopes from the whole reference up to `""`: each parent path, the host, then `*.` domains with the port gone. */
function scopesOf(name: string, suffix: string): readonly string[] {
  const segments = name.split("/");
  const paths = segments.map((_, at) => segments.slice(0, segments.length - at).join("/"));
  const labels = (segments[0] ?? "").replace(/:\d+$/, "").split(".");
  const domains = labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join(".")}`);
  return [name + suffix, ...paths, ...domains, ""];
}

function unknownTo(path: string): string {
  return `${path === "" ? "the document" : `"${path}"`} is missing or has a value Archway does not know`;
}
