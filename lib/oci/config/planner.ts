// Configuration files and flags to pull plans, reloaded when a file changes; plans are kept until then.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import type { Credential } from "../credential.ts";
import type { PullPlan, PullPlanner } from "../pull_plan.ts";
import { MAX_REFERENCE_LENGTH } from "../reference.ts";
import { atMost } from "../weights.ts";
import { planPull } from "./plan.ts";
import type { Problem } from "../files/last_good.ts";
import { type LoadedSettings, SettingsFiles, type SettingsPaths } from "./settings_files.ts";
import { watchPaths } from "../files/watch_paths.ts";

export interface PullPlannerHandle extends PullPlanner {
  credentials(): readonly Credential[];
  credentialHelpers(): readonly string[];
  problems(): readonly Problem[];
  watch(signal: AbortSignal): Promise<void>;
}

const MAX_PLANS = 10_000;

/** Never throws: what is broken is logged once, with its line; the last good content of a file stays in force. */
export function openPullPlanner(
  options: SettingsPaths & { readonly log: Logger; readonly clock: Clock },
): PullPlannerHandle {
  const { log, clock, ...paths } = options;
  const files = new SettingsFiles(paths);
  const plans = new LRUCache<string, PullPlan>(atMost(MAX_PLANS));
  const load = openLoader(files, { log, clock });
  let loaded = load();
  return {
    plan: (image) => {
      const known = plans.get(image);
      if (known !== undefined) return known;
      const plan = planPull(image, loaded.settings);
      if (image.length <= MAX_REFERENCE_LENGTH) plans.set(image, plan);
      return plan;
    },
    credentials: () => loaded.settings.rancher?.credentials ?? [],
    credentialHelpers: () => loaded.settings.registries?.credentialHelpers ?? [],
    problems: () => loaded.problems,
    watch: (signal) =>
      watchPaths({
        paths: () => loaded.paths,
        onChange: () => {
          loaded = load();
          plans.clear();
          log.info("reloaded the registry configuration", { problems: loaded.problems.length });
        },
        clock,
      }, signal),
  };
}

/** A load of the files; each call logs the problems that the call before did not find. */
function openLoader(
  files: SettingsFiles,
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
): () => LoadedSettings {
  let logged: ReadonlySet<string> = new Set();
  return () => {
    const loaded = files.load(clock.nowMs());
    const keys = loaded.problems.map(({ file, line, message }) => JSON.stringify([file, line, message]));
    loaded.problems.forEach((problem, at) => {
      if (!logged.has(keys[at] ?? "")) log.warn("cannot use a registry configuration file as it is", { ...problem });
    });
    logged = new Set(keys);
    return loaded;
  };
}
