// Advice on the workloads after a migration. It reads within bounds, since it runs in a small process in an upgrade.
import type { PodImageInspector } from "../../placement/images/pod_image_inspector.ts";
import { adviseAfterMigration } from "../decide/migration_advice.ts";
import { readSupport, type SupportOptions } from "./report_read.ts";

/** The most workloads, images and bytes that are read. */
const LIMITS = { workloads: 2_000, images: 500, bytes: 16 * 2 ** 20 } as const;
const PARALLEL = 8;
/** Inspections that have not begun within this time are left out. */
const BEGUN_WITHIN_MS = 2 * 60_000;

/** The advice in sentences. Kinds that may not be read are left out and named. Rejects on other API errors. */
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
