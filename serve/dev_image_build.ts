// `archway dev --scenario image-build`: a pool of two architectures and its image builds.
import type { Printed } from "../lib/cli/output.ts";
import { ImageBuildsSchema } from "../lib/config/image_builds.ts";
import type { Config } from "../lib/config/parse.ts";
import { Resource } from "../lib/k8s/types.ts";
import { silentLogger } from "../lib/log.ts";
import { openImageBuilder } from "../playground/image_build/builder.ts";
import {
  type BuildEvidence,
  isBuildOver,
  readBuildOutcome,
  renderBuildTable,
} from "../playground/image_build/outcome.ts";
import {
  createImageBuildSample,
  SAMPLE_ARCHITECTURES,
  SAMPLE_BUILDER,
  SAMPLE_POOL,
} from "../playground/image_build/sample.ts";
import type { Playground } from "../playground/playground.ts";
import { waitFor } from "../playground/store.ts";

/** How long a simulated build takes (ms): long enough to be visible. */
const BUILD_MS = 500;

export interface ImageBuildDemo extends AsyncDisposable {
  readonly config: Pick<Config, "only" | "imageBuilds">;
  /** Waits until the image is published or a build has failed. Rejects when the signal aborts. */
  waitUntilOver(signal: AbortSignal): Promise<void>;
  outcome(): Printed & { readonly ok: boolean };
}

export async function openImageBuildDemo({ cluster, registry }: Playground): Promise<ImageBuildDemo> {
  await using stack = new AsyncDisposableStack();
  const builder = stack.use(openImageBuilder(cluster, { registry, buildMs: BUILD_MS, log: silentLogger }));
  await createImageBuildSample(cluster, registry);
  const { store } = cluster;
  const evidence = (): BuildEvidence => ({
    config: store.get(Resource.machineOsConfigs, SAMPLE_POOL) ?? { metadata: { name: SAMPLE_POOL } },
    builds: store.list(Resource.machineOsBuilds),
    simulated: builder.simulated(),
    manifestOf: registry.manifestOf,
    wanted: SAMPLE_ARCHITECTURES,
  });
  const owned = stack.move();
  return {
    config: { only: "image-builds", imageBuilds: ImageBuildsSchema.parse({ builderImage: SAMPLE_BUILDER }) },
    waitUntilOver: (signal) => waitFor(store, () => isBuildOver(evidence()), signal),
    outcome: () => {
      const outcome = readBuildOutcome(evidence());
      return { ok: outcome.ok, document: outcome, text: () => renderBuildTable(outcome) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
