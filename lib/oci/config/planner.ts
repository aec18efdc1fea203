// Makes pull plans from configuration files and flags.
//
//   files   ─ settings_files, host_trees ─▶ PullSettings     at the start, and when a file has changed
//   image   ─ full_names ─▶ FullName         nginx → docker.io/library/nginx; a short name may have several
//           ─ pull_sources ─▶ PullSource     mirrors, then the registry itself
//           ─ plan_pull ─▶ Endpoint          what policy and rules leave of them, and how each is reached
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import type { Credential } from "../credential.ts";
import { type FileProblem, FileReader, haveChanged, renderProblem } from "../files/read_files.ts";
import { atMost } from "../cache_limits.ts";
import { planPull, type PullPlan } from "./plan_pull.ts";
import type { PullSettings } from "./settings.ts";
import { loadSettings, type SettingsPaths } from "./settings_files.ts";

/** Plans pulls by configuration files and flags. A broken file leaves the last good settings in force. */
export interface PullPlanner {
  /** Synchronous, because every inspection needs it. Image names of pods are parsed here and nowhere else. */
  plan(image: string): PullPlan;
  credentials(): readonly Credential[];
  credentialHelpers(): readonly string[];
}

/**
 * Plans that are kept. Each admission needs one for each image, which takes 4 to 9 µs, longer with hundreds of mirrors.
 */
const MAX_PLANS = 10_000;

/** The least time between two looks at the files (ms). A look at the files of a node takes about 0.1 ms. */
const LOOK_MS = 1_000;

interface Loaded {
  readonly settings: PullSettings;
  readonly files: FileReader;
}

/** Never throws. A problem is logged once, with the line. A broken edit changes nothing: the settings in force stay. */
export function openPullPlanner(
  options: SettingsPaths & { readonly log: Logger; readonly clock: Clock },
): PullPlanner {
  const { log, clock, ...paths } = options;
  let latest = load(paths, { log, before: [] });
  let inForce = latest;
  let lookedMs = clock.monotonicMs();
  const plans = new LRUCache<string, PullPlan>(atMost(MAX_PLANS));
  const look = (): void => {
    if (clock.monotonicMs() < lookedMs + LOOK_MS) return;
    lookedMs = clock.monotonicMs();
    if (!haveChanged(latest.files.touched)) return;
    latest = load(paths, { log, before: latest.files.problems });
    // Settings that were broken from the start are replaced by any later ones.
    if (latest.files.hasFaults && !inForce.files.hasFaults) return;
    inForce = latest;
    plans.clear();
    log.info("reloaded the registry configuration", { problems: latest.files.problems.length });
  };
  const settings = (): PullSettings => {
    look();
    return inForce.settings;
  };
  return {
    plan: (image) => {
      look();
      const known = plans.get(image);
      if (known !== undefined) return known;
      const plan = planPull(image, inForce.settings);
      if (plan.kind === "endpoints") plans.set(image, plan);
      return plan;
    },
    credentials: () => settings().rancher.credentials,
    credentialHelpers: () => settings().registries.credentialHelpers,
  };
}

/** Reads every file, and logs the problems that are new. */
function load(
  paths: SettingsPaths,
  { log, before }: { readonly log: Logger; readonly before: readonly FileProblem[] },
): Loaded {
  const files = new FileReader();
  const settings = loadSettings(paths, files);
  const logged = new Set(before.map(renderProblem));
  for (const problem of files.problems) {
    if (!logged.has(renderProblem(problem))) {
      log.warn("cannot use a registry configuration file as it is", { ...problem });
    }
  }
  return { settings, files };
}
