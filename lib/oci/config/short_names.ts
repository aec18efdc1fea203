// Which full names a short name such as `nginx` may mean. Pure. Called by plan.ts. Reference §3.6.
import type { RegistriesConf } from "./registries_conf.ts";

/** The names to try, in order; or why there are none. */
export type ShortNameAnswer =
  | { readonly kind: "candidates"; readonly names: readonly string[] }
  | { readonly kind: "none"; readonly message: string };

/** The registry that container runtimes mean when nobody says anything about short names. */
const USUAL_REGISTRY = "docker.io";

/**
 * Resolves a short name without tag and digest. An alias stands alone (DV-111); otherwise one candidate for each search
 * registry (DV-108). `unsaid`: what holds when no file names search registries: the usual registry, or a refusal (DV-109).
 */
export function resolveShortName(
  name: string,
  options: { readonly conf: RegistriesConf | undefined; readonly unsaid: "usual" | "refuse" },
): ShortNameAnswer {
  const { conf, unsaid } = options;
  const alias = conf?.aliases.get(name);
  if (alias !== undefined) return { kind: "candidates", names: [alias] };
  const configured = conf?.searchRegistries ?? [];
  const registries = configured.length === 0 && unsaid === "usual" ? [USUAL_REGISTRY] : configured;
  if (registries.length === 0) {
    return refuse(name, "registries.conf has no alias for it and no unqualified-search-registries");
  }
  if (registries.length > 1 && conf?.shortNameMode === "enforcing") {
    return refuse(name, "several registries may be meant and short-name-mode is enforcing");
  }
  return { kind: "candidates", names: registries.map((registry) => `${registry}/${name}`) };
}

function refuse(name: string, state: string): ShortNameAnswer {
  return { kind: "none", message: `Cannot resolve short name "${name}": ${state}. Write the registry into the image.` };
}
