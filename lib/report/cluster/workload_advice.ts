// Advice on the workloads after a migration. It reads within bounds, since a small process does it during an upgrade.
import type { PodImageInspector } from "../../placement/images/pod_image_inspector.ts";
import { adviseAfterMigration } from "../decide/migration_advice.ts";
import { readSupport, type SupportOptions } from "./report_read.ts";

/** Most that is read. */
const LIMITS = { workloads: 2_000, images: 500, bytes: 16 * 2 ** 20 } as const;
const PARALLEL = 8;
/** Inspections that have not begun within this time are left out. */
const BEGUN_WITHIN_MS = 2 * 60_000;

/** One sentence each. What may not be read is left out and named. Rejects when the API server cannot be read. */
export async function adviseOnWorkloads(
  deps: Pick<SupportOptions, "api" | "images" | "clock" | "settings" | "signal">,
): Promise<readonly string[]> {
  const { clock, images } = deps;
  const endMs = clock.monotonicMs() + BEGUN_WITHIN_MS;
  const bounded: Pick<PodImageInspector, "inspect"> = {
    inspect: async (request, ending) => clock.monotonicMs() > endMs ? [] : await images.inspect(request, ending),
  };
  const { workloads, ...leftOut } = await readSupport({ ...deps, images: bounded, limits: LIMITS, parallel: PARALLEL });
  return adviseAfterMigration(workloads, leftOut);
}
