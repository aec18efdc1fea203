// When published images are checked in the registry again: when something changed that a plan is made of, and when this
// replica sees a configuration for the first time.
import type { BuildWatches } from "../../lib/building/watches.ts";
import type { MachineOSConfig } from "../../lib/image_builds/observed.ts";

/** Whether to check, and that it was done. */
export interface ImageCheck {
  readonly isDue: boolean;
  done(): void;
}

/** What was checked. */
export interface ImageChecks {
  due(config: MachineOSConfig, watches: Pick<BuildWatches, "pools" | "nodes">): ImageCheck;
  forget(config: string): void;
}

/** Opens it empty: everything is checked once. */
export function openImageChecks(): ImageChecks {
  const seen = new Map<string, string>();
  return {
    due: (config, watches) => {
      const { name } = config.meta;
      const now = fingerprintOf(config, watches);
      return { isDue: seen.get(name) !== now, done: () => void seen.set(name, now) };
    },
    forget: (config) => void seen.delete(config),
  };
}

function fingerprintOf(
  { meta: { uid, generation, annotations }, pool }: MachineOSConfig,
  { pools, nodes }: Pick<BuildWatches, "pools" | "nodes">,
): string {
  const architectures = [...new Set([...nodes.values()].map(({ reported }) => reported))].sort();
  return JSON.stringify([uid, generation, annotations, pools.get(pool)?.configuration, architectures]);
}
