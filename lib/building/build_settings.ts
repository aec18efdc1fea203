// The settings of image builds: what the configuration file says, and the defaults for the rest. Pure.
import type { Config } from "../config/parse.ts";
import { type BuildSettings, DEFAULT_SETTINGS } from "../image_builds/settings.ts";

/** What the file of `--config` says, and the defaults for the rest. */
export function buildSettings({ imageBuilds }: Pick<Config, "imageBuilds">): BuildSettings {
  const { builderImage = "", builderCommand = [], digestImage = builderImage, digestCommand = [], ...rest } =
    imageBuilds;
  const { jobDeadline, schedulingTimeout: schedulingTimeoutMs, retainArchitectures: retainMs, ...named } = rest;
  const jobDeadlineSeconds = jobDeadline === undefined ? undefined : jobDeadline / 1_000;
  return {
    ...withDefaults({ ...named, jobDeadlineSeconds, schedulingTimeoutMs, retainMs }, DEFAULT_SETTINGS),
    builder: { image: builderImage, command: builderCommand },
    digestWriter: { image: digestImage, command: digestCommand },
  };
}

/** The settings with the image that was found where they name none; everything that they name stays. */
export function withImage(settings: BuildSettings, found: string): BuildSettings {
  const filled = ({ image, command }: BuildSettings["builder"]): BuildSettings["builder"] => ({
    image: image === "" ? found : image,
    command,
  });
  return { ...settings, builder: filled(settings.builder), digestWriter: filled(settings.digestWriter) };
}

function withDefaults<T extends object>(given: { readonly [K in keyof T]?: T[K] | undefined }, defaults: T): T {
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(named) };
}
