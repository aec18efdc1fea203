// Resolves an image as the user wrote it to full names. A short name such as `nginx` may have several.
import { asParsed, type Parsed, type Unparsable, unparsable } from "../../parsed.ts";
import { failureOf, type FailureReason, type RegistryFailure } from "../errors.ts";
import { type ImageReference, parseReference } from "../reference.ts";
import type { FullName } from "./registry_rules.ts";
import type { RegistriesConf } from "./registries_conf.ts";
import type { PullSettings } from "./settings.ts";

type FullNames =
  | { readonly kind: "names"; readonly reference: ImageReference; readonly names: readonly FullName[] }
  | { readonly kind: "refused"; readonly failure: RegistryFailure };

/** Parses and completes an image. A digest wins over a tag; without either it is `latest`. */
export function resolveFullNames(image: string, settings: PullSettings): FullNames {
  const parsed = parseReference(image);
  if (parsed.kind === "unparsable") return refused("InvalidReference", parsed.fault.message);
  const { value: reference } = parsed;
  const { isShort, identifier, name } = reference;
  const fullOf = ({ domain: host, repository }: ImageReference): FullName => ({ host, repository, identifier });
  if (!isShort) return { kind: "names", reference, names: [fullOf(reference)] };
  const found = resolveShortName(name, settings.registries);
  if (found.kind === "unparsable") return refused("Misconfigured", found.fault.message);
  const names = found.value.flatMap((name): readonly FullName[] => {
    const candidate = parseReference(name);
    return candidate.kind === "unparsable" || candidate.value.isShort ? [] : [fullOf(candidate.value)];
  });
  if (names.length > 0) return { kind: "names", reference, names };
  const message = `Cannot resolve short name "${image}": registries.conf leads to nothing that is a full name.`;
  return refused("Misconfigured", message);
}

function refused(reason: FailureReason, message: string): FullNames {
  return { kind: "refused", failure: failureOf(reason, message) };
}

/** Gives the alias, else a name in each search registry (rows DV-111, DV-108, DV-109). */
function resolveShortName(
  name: string,
  { aliases, searchRegistries: registries, shortNameMode }: RegistriesConf,
): Parsed<readonly string[]> {
  const alias = aliases.get(name);
  if (alias !== undefined) return asParsed([alias]);
  if (registries.length === 0) {
    return noName(name, "registries.conf has no alias for it and no unqualified-search-registries");
  }
  if (registries.length > 1 && shortNameMode === "enforcing") {
    return noName(name, "several registries may be meant and short-name-mode is enforcing");
  }
  return asParsed(registries.map((registry) => `${registry}/${name}`));
}

function noName(name: string, state: string): Unparsable {
  return unparsable(`Cannot resolve short name "${name}": ${state}. Write the registry into the image.`);
}
