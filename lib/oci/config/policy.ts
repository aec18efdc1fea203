// policy.json: which images are rejected. The node's container runtime verifies signatures.
import * as z from "zod";
import { renderReference } from "../reference.ts";
import { canonicalName } from "../host_names.ts";
import { parseAs, parseJson } from "../files/formats.ts";
import { asParsed, type Parsed } from "../../parsed.ts";
import type { FullName } from "./registry_rules.ts";

export interface Policy {
  readonly byScope: ReadonlyMap<string, boolean>;
  readonly rejectsOthers: boolean;
}

export const ACCEPT_ALL: Policy = { byScope: new Map(), rejectsOthers: false };

const Requirements = z.array(z.object({
  type: z.enum(["insecureAcceptAnything", "reject", "signedBy", "signedBaseLayer", "sigstoreSigned"]),
}));
const Document = z.object({ default: Requirements, transports: z.record(z.string(), z.unknown()).default({}) });
const Scopes = z.record(z.string(), Requirements);

/** Parses policy.json. Anything unknown is a fault, since ignoring it could weaken the policy. */
export function parsePolicy(text: string): Parsed<Policy> {
  const parsed = parseAs(Document, parseJson(text), text, unknownTo);
  if (parsed.kind === "unparsable") return parsed;
  const scopes = parseAs(Scopes, asParsed<unknown>(parsed.value.transports.docker ?? {}), text, unknownTo);
  if (scopes.kind === "unparsable") return scopes;
  // An empty list rejects: nothing accepts the image.
  const rejects = (list: z.infer<typeof Requirements>): boolean =>
    list.length === 0 || list.some(({ type }) => type === "reject");
  return asParsed({
    byScope: new Map(Object.entries(scopes.value).map(([scope, list]) => [canonicalName(scope), rejects(list)])),
    rejectsOthers: rejects(parsed.value.default),
  });
}

/** The scope that rejects an image; the most specific one decides. Undefined: accepted. */
export function rejectingScope({ byScope, rejectsOthers }: Policy, full: FullName): string | undefined {
  const scope = scopesOf(full).find((candidate) => byScope.has(candidate));
  const isRejected = scope === undefined ? rejectsOthers : byScope.get(scope) === true;
  return isRejected ? scope ?? "default" : undefined;
}

/** Scopes from the whole reference up to `""`: each parent path, the host, then `*.` domains without the port. */
function scopesOf(full: FullName): readonly string[] {
  const segments = [full.host, ...full.repository.split("/")];
  const paths = segments.map((_, at) => segments.slice(0, segments.length - at).join("/"));
  const labels = full.host.replace(/:\d+$/, "").split(".");
  const domains = labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join(".")}`);
  return [renderReference(full), ...paths, ...domains, ""];
}

function unknownTo(path: string): string {
  return `${path === "" ? "the document" : `"${path}"`} is missing or has a value Archway does not know`;
}
