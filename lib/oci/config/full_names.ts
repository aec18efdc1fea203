// Resolves an image as the user wrote it to full names. A short name such as `nginx` may have several.
import { failureOf } from "../errors.ts";
import { type ImageReference, parseReference } from "../reference.ts";
import { DOCKER_HUB } from "../registry_host.ts";
import type { FailureReason, RegistryFailure } from "../types.ts";
import type { FullName } from "./registry_rules.ts";
import type { RegistriesConf } from "./registries_conf.ts";
import type { PullSettings } from "./settings.ts";

type FullNames =
  | { readonly kind: "names"; readonly reference: ImageReference; readonly names: readonly FullName[] }
  | { readonly kind: "refused"; readonly failure: RegistryFailure };

/** Parses and completes an image. A digest wins over a tag; without either it is `latest`. */
export function resolveFullNames(image: string, settings: PullSettings): FullNames {
  const parsed = parseReference(image);
  if (parsed.kind === "unparsable") return refused("InvalidReference", parsed.message);
  const { reference } = parsed;
  const { isShort, identifier, name } = reference;
  const fullOf = ({ domain: host, repository }: ImageReference): FullName => ({ host, repository, identifier });
  if (!isShort) return { kind: "names", reference, names: [fullOf(reference)] };
  const answer = resolveShortName(name, { conf: settings.registries, unsaid: settings.shortNames });
  if (answer.kind === "none") return refused("Misconfigured", answer.message);
  const names = answer.names.flatMap((name): readonly FullName[] => {
    const candidate = parseReference(name);
    return candidate.kind === "unparsable" || candidate.reference.isShort ? [] : [fullOf(candidate.reference)];
  });
  if (names.length > 0) return { kind: "names", reference, names };
  const message = `Cannot resolve short name "${image}": registries.conf leads to nothing that is a full name.`;
  return refused("Misconfigured", message);
}

function refused(reason: FailureReason, message: string): FullNames {
  return { kind: "refused", failure: failureOf(reason, message) };
}

type ShortNameAnswer =
  | { readonly kind: "candidates"; readonly names: readonly string[] }
  | { readonly kind: "none"; readonly message: string };

/** The alias, else each search registry, else the default by `unsaid` (rows DV-111, DV-108, DV-109). */
function resolveShortName(
  name: string,
  options: { readonly conf: RegistriesConf | undefined; readonly unsaid: "usual" | "refuse" },
): ShortNameAnswer {
  const { conf, unsaid } = options;
  const alias = conf?.aliases.get(name);
  if (alias !== undefined) return { kind: "candidates", names: [alias] };
  const configured = conf?.searchRegistries ?? [];
  const registries = configured.length === 0 && unsaid === "usual" ? [DOCKER_HUB] : configured;
  if (registries.length === 0) {
    return noName(name, "registries.conf has no alias for it and no unqualified-search-registries");
  }
  if (registries.length > 1 && conf?.shortNameMode === "enforcing") {
    return noName(name, "several registries may be meant and short-name-mode is enforcing");
  }
  return { kind: "candidates", names: registries.map((registry) => `${registry}/${name}`) };
}

function noName(name: string, state: string): ShortNameAnswer {
  return { kind: "none", message: `Cannot resolve short name "${name}": ${state}. Write the registry into the image.` };
}
