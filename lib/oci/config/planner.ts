// Makes pull plans from configuration files and flags. Plans are kept until a use finds a file changed.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import type { Credential } from "../credential.ts";
import type { PullPlan, PullPlanner } from "../pull_plan.ts";
import { MAX_REFERENCE_LENGTH } from "../reference.ts";
import { atMost } from "../weights.ts";
import { planPull } from "./plan.ts";
import type { FileProblem } from "../files/last_good.ts";
import { haveChanged } from "../files/read_files.ts";
import { type LoadedSettings, SettingsFiles, type SettingsPaths } from "./settings_files.ts";

export interface PullPlannerHandle extends PullPlanner {
  credentials(): readonly Credential[];
  credentialHelpers(): readonly string[];
  problems(): readonly FileProblem[];
}

const MAX_PLANS = 10_000;

/** The least time between two looks at the files (ms). A look at those of a node takes about 0.1 ms. */
const LOOK_MS = 1_000;

/** Never throws. A broken file is logged once, with the line, and its last good content stays in force. */
export function openPullPlanner(
  options: SettingsPaths & { readonly log: Logger; readonly clock: Clock },
): PullPlannerHandle {
  const { log, clock, ...paths } = options;
  const files = new SettingsFiles(paths);
  const plans = new LRUCache<string, PullPlan>(atMost(MAX_PLANS));
  const load = openLoader(files, { log, clock });
  let loaded = load();
  let lookedMs = clock.monotonicMs();
  const current = (): LoadedSettings => {
    if (clock.monotonicMs() < lookedMs + LOOK_MS) return loaded;
    lookedMs = clock.monotonicMs();
    if (!haveChanged(loaded.paths)) return loaded;
    loaded = load();
    plans.clear();
    log.info("reloaded the registry configuration", { problems: loaded.problems.length });
    return loaded;
  };
  return {
    plan: (image) => {
      const { settings } = current();
      const known = plans.get(image);
      if (known !== undefined) return known;
      const plan = planPull(image, settings);
      if (image.length <= MAX_REFERENCE_LENGTH) plans.set(image, plan);
      return plan;
    },
    credentials: () => current().settings.rancher?.credentials ?? [],
    credentialHelpers: () => current().settings.registries?.credentialHelpers ?? [],
    problems: () => current().problems,
  };
}

/** Loads the files. Each call logs the problems that the previous one did not find. */
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
