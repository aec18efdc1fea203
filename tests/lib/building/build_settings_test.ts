// The settings of image builds: what the file says, and the defaults for the rest.
import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../../lib/image_builds/settings.ts";
import { buildSettings, withImage } from "../../../lib/building/build_settings.ts";
import type { Config } from "../../../lib/config/parse.ts";

Deno.test("buildSettings() is the defaults where the file says nothing", () => {
  const none = { image: "", command: [] };
  assert.deepEqual(buildSettings({ imageBuilds: {} }), { ...DEFAULT_SETTINGS, builder: none, digestWriter: none });
});

Deno.test("buildSettings() takes every setting of the file", () => {
  const same = {
    ...{ namespace: "builds", serviceAccount: "builder", requests: { cpu: "2" }, retainImages: 5, maxParallel: 1 },
    ...{ alwaysIndex: true, tolerateDedicated: false, cancelSiblings: true, autoResume: true },
  };
  const settings = buildSettings({
    imageBuilds: {
      ...same,
      builderImage: "registry.test/builder:v1",
      builderCommand: ["build"],
      digestCommand: ["hand-over"],
      jobDeadline: 60_000,
      schedulingTimeout: 30_000,
      retainArchitectures: 0,
    },
  });
  assert.deepEqual(settings, {
    ...same,
    builder: { image: "registry.test/builder:v1", command: ["build"] },
    digestWriter: { image: "registry.test/builder:v1", command: ["hand-over"] },
    jobDeadlineSeconds: 60,
    schedulingTimeoutMs: 30_000,
    retainMs: 0,
  });
  assert.deepEqual(Object.keys(settings).sort(), [...Object.keys(DEFAULT_SETTINGS), "builder", "digestWriter"].sort());
});

type Named = Config["imageBuilds"];
type Shown = readonly [image: string, command: readonly string[]];

/** What the file names, with the image of the machine config operator "mco" where it names none: builder, and digest writer. */
const IMAGES: readonly (readonly [named: Named, builder: Shown, digestWriter: Shown])[] = [
  [{}, ["mco", []], ["mco", []]],
  [{ builderCommand: ["build"] }, ["mco", ["build"]], ["mco", []]],
  [{ digestCommand: ["hand-over"] }, ["mco", []], ["mco", ["hand-over"]]],
  [{ digestImage: "mine" }, ["mco", []], ["mine", []]],
  [{ digestImage: "mine", digestCommand: ["hand-over"] }, ["mco", []], ["mine", ["hand-over"]]],
  [{ builderImage: "mine" }, ["mine", []], ["mine", []]],
  [{ builderImage: "mine", digestImage: "other" }, ["mine", []], ["other", []]],
  [{ builderImage: "mine", builderCommand: ["build"] }, ["mine", ["build"]], ["mine", []]],
];

for (const [named, builder, digestWriter] of IMAGES) {
  Deno.test(`withImage() fills in only what is not named: ${JSON.stringify(named)}`, () => {
    const settings = withImage(buildSettings({ imageBuilds: named }), "mco");
    const shown = [settings.builder, settings.digestWriter].map(({ image, command }) => [image, command]);
    assert.deepEqual(shown, [builder, digestWriter]);
  });
}
