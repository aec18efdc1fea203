// From an image as a person wrote it to the full names it may mean. Pure. Called by plan.ts. Reference §3.1, §3.6.
import { failureOf } from "../errors.ts";
import { parseReference } from "../reference.ts";
import type { InspectionFailure } from "../types.ts";
import type { FullName } from "./registry_rules.ts";
import type { PullSettings } from "./settings.ts";
import { resolveShortName } from "./short_names.ts";

/** Names to try in order, tag or digest attached; or why there are none. */
export type FullNames =
  | { readonly kind: "names"; readonly names: readonly FullName[] }
  | { readonly kind: "refused"; readonly failure: InspectionFailure };

/** Parses and completes an image. A digest wins over a tag; without either it is `latest`. */
export function resolveFullNames(image: string, settings: PullSettings): FullNames {
  const parsed = parseReference(image);
  if (parsed.kind === "invalid") return refused(failureOf("InvalidReference", parsed.message));
  const { reference: { isShort, domain, repository, identifier, digest } } = parsed;
  const suffix = `${digest === undefined ? ":" : "@"}${identifier}`;
  if (!isShort) return { kind: "names", names: [{ name: `${domain}/${repository}`, suffix }] };
  const answer = resolveShortName(nameAlone(image), { conf: settings.registries, unsaid: settings.shortNames });
  if (answer.kind === "none") return refused(failureOf("Misconfigured", answer.message));
  const names = answer.names.flatMap((name): readonly FullName[] => {
    const candidate = parseReference(name);
    if (candidate.kind === "invalid" || candidate.reference.isShort) return [];
    return [{ name: `${candidate.reference.domain}/${candidate.reference.repository}`, suffix }];
  });
  if (names.length > 0) return { kind: "names", names };
  const message = `Cannot resolve short name "${image}": registries.conf leads to nothing that is a full name.`;
  return refused(failureOf("Misconfigured", message));
}

/** The name as written, without tag and digest: aliases are keyed by it. */
function nameAlone(image: string): string {
  const [tagged = ""] = image.split("@");
  return tagged.replace(/:[^/:]*$/, "");
}

function refused(failure: InspectionFailure): FullNames {
  return { kind: "refused", failure };
}
