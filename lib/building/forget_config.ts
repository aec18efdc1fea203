// What is left of a MachineOSConfig that is gone. Builds, Jobs and records have owners, and the garbage collector takes them; the
// digests that pods handed over have none.
import type { KubeApi } from "../k8s/api.ts";
import { isConflict, isNotFound } from "../k8s/errors.ts";
import { Resource } from "../k8s/types.ts";
import { BuildLabel } from "../image_builds/words.ts";
import type { BuildWatches } from "./watches.ts";

/** Deletes it. Throws ApiError. */
export async function forgetConfig(
  config: string,
  { api, watches, namespace, signal }: {
    readonly api: KubeApi;
    readonly watches: Pick<BuildWatches, "maps">;
    readonly namespace: string;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const left = [...watches.maps.values()].filter(({ child: { labels, owners } }) =>
    labels[BuildLabel.config] === config && owners.length === 0
  );
  for (const { child: { name, uid } } of left) {
    try {
      await api.delete(Resource.configMaps, { namespace, name }, { uid, signal });
    } catch (error) {
      // Gone, or another one by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
