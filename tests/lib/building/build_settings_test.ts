// The settings of image builds: what the file says, and the defaults for the rest.
import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../../lib/image_builds/settings.ts";
import { buildSettings } from "../../../lib/building/build_settings.ts";

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
