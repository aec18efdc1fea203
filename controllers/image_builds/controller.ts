// Image builds: brings every pool with a MachineOSConfig to one node image for all of its architectures.
//
//   watches ─▶ name of a MachineOSConfig ─▶ read the facts ─▶ decide ─┬─ questions ─▶ ask the registries, decide again
//                                                                     └─ effects ─▶ carry out in order ─▶ events, view, log
//
// Nothing is kept between two reconciles but what was last shown: every step can be done by another replica.
import { answerQuestions, type BuildRegistries } from "../../lib/building/answer_questions.ts";
import { openBuildRegistries } from "../../lib/building/build_registries.ts";
import { withImage } from "../../lib/building/build_settings.ts";
import { carryOut, type Done } from "../../lib/building/carry_out.ts";
import { resultOf } from "../../lib/building/outcome.ts";
import { leftBehind } from "../../lib/building/clean_up_config.ts";
import { readFacts } from "../../lib/building/read_facts.ts";
import { type BuildWatches, openBuildWatches } from "../../lib/building/watches.ts";
import { decideBuild } from "../../lib/image_builds/decide.ts";
import type { PoolBuildView, ReconcileDecision } from "../../lib/image_builds/effects.ts";
import type { MachineOSConfig } from "../../lib/image_builds/observed.ts";
import type { BuildSettings } from "../../lib/image_builds/settings.ts";
import type { BuildFacts } from "../../lib/image_builds/facts.ts";
import { isConflict } from "../../lib/k8s/errors.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { type Controller, DONE, openController, requeueAfter } from "../controller.ts";
import type { ImageBuildsDeps } from "./deps.ts";
import { type ImageChecks, openImageChecks } from "./image_checks.ts";
import { Deletions } from "./deletions.ts";
import { cleanUp } from "./clean_up.ts";
import { recordEvents } from "./record_events.ts";

/** The controller, and what it last made of each pool. */
export interface ImageBuilds extends Controller {
  views(): readonly PoolBuildView[];
  /** Whether everything was listed once. */
  hasSynced(): boolean;
}

/** MachineOSConfigs reconciled at a time: each mostly waits for a registry. */
const PARALLEL = 4;
/** Rounds of questions; more mean that decisions do not come to an end. */
const MAX_ROUNDS = 8;
/** Until the watches have caught up, and after another client wrote first (ms). */
const SYNC_MS = 200;
const CONFLICT_MS = 100;

/** Makes the controller. No request is sent to the API server before `run`. */
export function openImageBuilds(deps: ImageBuildsDeps): ImageBuilds {
  const { api, clock, log, settings: { namespace }, queueMetrics } = deps;
  const views = new Map<string, PoolBuildView>();
  const checks = openImageChecks();
  const watches = openBuildWatches({ api, clock, log, namespace, onChange: (config) => wake(config) });
  const controller = openController({
    name: "image-builds",
    watches: [watches],
    parallel: PARALLEL,
    clock,
    log,
    queueMetrics,
    reconcile: async (name, signal): Promise<ReconcileResult> => {
      if (!watches.hasSynced()) return requeueAfter(SYNC_MS);
      const config = watches.configs.get(name);
      if (config === undefined) {
        checks.forget(name);
        return await cleanUp(name, { ...deps, watches, wasKnown: views.delete(name), signal });
      }
      return await new Reconcile(deps, { watches, checks, signal }).run(config, (view) => {
        deps.metrics.show(view, views.get(name));
        views.set(name, view);
      });
    },
  });
  const wake = (config: string | undefined): void => {
    if (config !== undefined) controller.enqueue(config);
    else {
      for (const { meta } of watches.configs.values()) controller.enqueue(meta.name);
      for (const name of leftBehind(watches)) controller.enqueue(name);
    }
  };
  return {
    enqueue: controller.enqueue,
    run: (signal) => controller.run(signal),
    views: () => [...views.values()].toSorted((left, right) => left.pool < right.pool ? -1 : 1),
    hasSynced: () => watches.hasSynced(),
  };
}

/** One reconcile. */
class Reconcile {
  readonly #deps: ImageBuildsDeps;
  readonly #watches: BuildWatches;
  readonly #checks: ImageChecks;
  readonly #signal: AbortSignal;

  constructor(
    deps: ImageBuildsDeps,
    { watches, checks, signal }: {
      readonly watches: BuildWatches;
      readonly checks: ImageChecks;
      readonly signal: AbortSignal;
    },
  ) {
    this.#deps = deps;
    this.#watches = watches;
    this.#checks = checks;
    this.#signal = signal;
  }

  async run(config: MachineOSConfig, show: (view: PoolBuildView) => void): Promise<ReconcileResult> {
    const { api, access, clock, events } = this.#deps;
    const settings = await this.#settings();
    const nowMs = clock.nowMs();
    const check = this.#checks.due(config, this.#watches);
    const deps = { api, watches: this.#watches, settings, nowMs, checksImages: check.isDue, signal: this.#signal };
    const { facts, secrets } = await readFacts(config, deps);
    const registries = openBuildRegistries(secrets, { access, clock, signal: this.#signal });
    const decision = await this.#decide(facts, registries);
    const deletions = new Deletions();
    const isCarriedOut = await this.#carryOut(decision, facts, { registries, deletions });
    this.#report(config, decision);
    deletions.report(events, config.meta);
    if (!isCarriedOut) return requeueAfter(CONFLICT_MS);
    check.done();
    recordEvents(events, facts, decision.events);
    show(decision.view);
    const { wakeAtMs } = decision;
    return wakeAtMs === undefined ? DONE : requeueAfter(Math.max(0, wakeAtMs - clock.nowMs()));
  }

  async #settings(): Promise<BuildSettings> {
    const { settings, findBuilder } = this.#deps;
    return settings.builder.image === "" ? withImage(settings, await findBuilder(this.#signal)) : settings;
  }

  async #decide(facts: BuildFacts, registries: BuildRegistries): Promise<ReconcileDecision> {
    const { clock } = this.#deps;
    let answers = facts.answers;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const decision = decideBuild({ ...facts, answers });
      if (decision.questions.length === 0) return decision;
      const more = await answerQuestions(decision.questions, { registries, clock, signal: this.#signal });
      answers = new Map([...answers, ...more]);
    }
    throw new Error(`Cannot decide about "${facts.config.meta.name}": the questions have no end.`);
  }

  /** False when another client wrote first: what was decided no longer holds. */
  async #carryOut(
    { effects }: ReconcileDecision,
    facts: BuildFacts,
    { registries, deletions }: { readonly registries: BuildRegistries; readonly deletions: Deletions },
  ): Promise<boolean> {
    const { api, clock, settings: { namespace } } = this.#deps;
    const onDone = (done: Done): void => {
      this.#noteDone(facts, done);
      if (done.kind === "deletion of an image") deletions.note(done.reference, done.result);
    };
    const deps = { api, registries, namespace, clock, signal: this.#signal, onDone, records: new Map() };
    try {
      for (const effect of effects) {
        await carryOut(effect, facts, deps);
      }
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  #noteDone({ config: { pool } }: BuildFacts, done: Done): void {
    const { log, metrics } = this.#deps;
    if (done.kind === "assembled") metrics.indexPublished(pool, { result: resultOf(done.outcome), ms: done.ms });
    log.info(`image builds: ${done.kind}`, { pool, ...done });
  }

  #report({ meta: { name } }: MachineOSConfig, { reason, effects, view: { state, problem } }: ReconcileDecision): void {
    const { log } = this.#deps;
    const fields = { config: name, reason, state, problem: problem?.reason, effects: effects.map(({ kind }) => kind) };
    if (effects.length > 0) log.info("image builds: decided", fields);
    else log.debug("image builds: nothing to do", fields);
  }
}
