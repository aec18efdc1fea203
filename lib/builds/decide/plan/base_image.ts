// The base image of a build: one that the configuration names by a tag is what the tag named first, for all architectures.
import type { RenderedConfig } from "../observed.ts";
import { questionKey, type RegistryAnswer } from "../registry.ts";
import type { ArchBuild } from "../types.ts";
import { digestOfReference, repositoryOf } from "./repository.ts";

/** With the base image that images of the build have, or are to have. */
export function withBase(rendered: RenderedConfig, archs: readonly Pick<ArchBuild, "base">[]): RenderedConfig {
  const base = archs.find((one) => one.base !== undefined)?.base;
  return base === undefined ? rendered : { ...rendered, osImageURL: base };
}

/** What a tag names, by its digest; undefined for a base image that has one, and where the registry does not say. */
export function resolveBase(
  { osImageURL }: Pick<RenderedConfig, "osImageURL">,
  answers: ReadonlyMap<string, RegistryAnswer>,
): string | undefined {
  if (digestOfReference(osImageURL) !== "") return undefined;
  const answer = answers.get(questionKey({ kind: "platforms", reference: osImageURL }));
  return answer?.kind === "platforms" ? `${repositoryOf(osImageURL)}@${answer.digest}` : undefined;
}
