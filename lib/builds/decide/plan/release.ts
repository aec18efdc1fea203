// The OpenShift version that a rendered configuration is of.
import type { RenderedConfig } from "../parse/machine_config.ts";
import { McoAnnotation } from "../names.ts";

export function isAtLeast423({ annotations }: RenderedConfig["meta"]): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(annotations[McoAnnotation.releaseVersion] ?? "") ?? [];
  return Number(major) > 4 || Number(major) === 4 && Number(minor) >= 23;
}
