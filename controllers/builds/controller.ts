// Image builds: gives every pool with a MachineOSConfig one node image for all of its architectures.
//
//   watches ─▶ name of a MachineOSConfig ─▶ read the facts ─▶ decide ─┬─ questions ─▶ ask the registries, decide again
//                                                                     └─ effects ─▶ carry out in order ─▶ events, view, log
//
// Only views and checks are kept between reconciles, so that another replica can do the next step.
import {
  answerQuestions,
  type BuildRegistries,
  openBuildRegistries,
  type RegistrySecrets,
} from "../../lib/builds/cluster/answer_questions.ts";
import { type AppliedEffect, applyEffect } from "../../lib/builds/cluster/apply.ts";
import { cleanUpConfig, deletedConfigsWithMaps, type DeletionResult } from "../../lib/builds/cluster/delete_images.ts";
import { readFacts } from "../../lib/builds/cluster/read_facts.ts";
import { type BuildWatches, openBuildWatches } from "../../lib/builds/cluster/watches.ts";
import { decideBuild, type ReconcileDecision } from "../../lib/builds/decide/decide.ts";
import type { BuildEvent, PoolBuildView } from "../../lib/builds/decide/effects.ts";
import type { BuildFacts } from "../../lib/builds/decide/facts.ts";
import type { MachineOSConfig } from "../../lib/builds/decide/parse/machine_os_config.ts";
import type { BuildMetrics } from "../../lib/builds/metrics.ts";
import { jitter } from "../../lib/clock.ts";
import type { BuildSettings } from "../../lib/config/image_builds.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { isConflict } from "../../lib/k8s/api_error.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { Resource, type ResourceType } from "../../lib/k8s/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import type { RepositoriesDeps } from "../../lib/oci/repositories.ts";
import { type Controller, type ControllerDeps, DONE, openController, requeueAfter } from "../controller.ts";

interface ImageBuildsDeps extends ControllerDeps {
  readonly api: KubeApi;
  readonly access: RepositoriesDeps["access"];
  readonly events: EventRecorder;
  readonly metrics: BuildMetrics;
  /** `builderImage` is empty if {@link findBuilder} must find it. */
  readonly settings: BuildSettings;
  /** The image of the machine config operator; empty when not found. */
  readonly findBuilder: (signal: AbortSignal) => Promise<string>;
}

/** Parallel MachineOSConfigs: each mostly waits for a registry. */
const PARALLEL = 4;
/** Most rounds of questions; more mean that decisions do not converge. */
const MAX_ROUNDS = 8;
/** Longest interval of checks of published images (ms); the shortest is half of it. */
const CHECK_MS = 60 * 60_000;
/** Waits (ms): for watches to sync, after a conflict with another client, and between refused deletions. */
const SYNC_MS = 200;
const CONFLICT_MS = 100;
const DELETE_AGAIN_MS = 5 * 60_000;

const KINDS: Readonly<Record<BuildEvent["on"], ResourceType>> = {
  config: Resource.machineOsConfigs,
  build: Resource.machineOsBuilds,
  pool: Resource.machineConfigPools,
};

export class ImageBuilds implements Controller {
  readonly #deps: ImageBuildsDeps;
  readonly #watches: BuildWatches;
  readonly #controller: Controller;
  readonly #views = new Map<string, PoolBuildView>();
  /** By config: what its last check of published images covered, and until when it is valid. */
  readonly #checked = new Map<string, { readonly changeKey: string; readonly untilMs: number }>();

  constructor(deps: ImageBuildsDeps) {
    const { api, clock, log, settings: { namespace } } = deps;
    this.#deps = deps;
    this.#watches = openBuildWatches({ api, clock, log, namespace, onChange: (config) => this.#wake(config) });
    this.#controller = openController({
      ...deps,
      name: "image-builds",
      watches: [this.#watches],
      parallel: PARALLEL,
      reconcile: (name, signal) => this.#reconcile(name, signal),
    });
  }

  enqueue(key: string): void {
    this.#controller.enqueue(key);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  views(): readonly PoolBuildView[] {
    return [...this.#views.values()].toSorted((left, right) => left.pool < right.pool ? -1 : 1);
  }

  hasSynced(): boolean {
    return this.#watches.hasSynced();
  }

  #wake(config: string | undefined): void {
    if (config !== undefined) return this.enqueue(config);
    for (const { meta } of this.#watches.configs.values()) this.enqueue(meta.name);
    for (const name of deletedConfigsWithMaps(this.#watches)) this.enqueue(name);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    if (!this.hasSynced()) return requeueAfter(SYNC_MS);
    const config = this.#watches.configs.get(name);
    if (config === undefined) return await this.#cleanUp(name, signal);
    const { api, clock, events, metrics } = this.#deps;
    const watches = this.#watches;
    const settings = await this.#settings(signal);
    const changeKey = changeKeyOf(config, watches);
    const last = this.#checked.get(name);
    const nowMs = clock.nowMs();
    const checksImages = last?.changeKey !== changeKey || nowMs >= last.untilMs;
    const { facts, secrets } = await readFacts(config, {
      api,
      watches,
      settings,
      nowMs,
      checksImages,
      signal,
    });
    const registries = this.#registries(secrets, signal);
    const decision = await this.#decide(facts, registries, signal);
    const deletions = new Deletions();
    const isApplied = await this.#apply(decision, facts, { registries, deletions, signal });
    this.#log(name, decision);
    deletions.report(events, config.meta);
    if (!isApplied) return requeueAfter(CONFLICT_MS);
    const againMs = nowMs + jitter(CHECK_MS);
    // Retry sooner if a registry gave no answer.
    const untilMs = checksImages ? Math.min(decision.wakeAtMs ?? againMs, againMs) : last.untilMs;
    this.#checked.set(name, { changeKey, untilMs });
    for (const event of decision.events) this.#record(event, facts);
    metrics.count(decision.view, this.#views.get(name));
    this.#views.set(name, decision.view);
    return requeueAfter(Math.max(0, Math.min(decision.wakeAtMs ?? untilMs, untilMs) - clock.nowMs()));
  }

  async #settings(signal: AbortSignal): Promise<BuildSettings> {
    const { settings, findBuilder } = this.#deps;
    return settings.builderImage === "" ? { ...settings, builderImage: await findBuilder(signal) } : settings;
  }

  #registries(secrets: RegistrySecrets, signal: AbortSignal): BuildRegistries {
    const { access, clock } = this.#deps;
    return openBuildRegistries(secrets, { access, clock, signal });
  }

  async #decide(facts: BuildFacts, registries: BuildRegistries, signal: AbortSignal): Promise<ReconcileDecision> {
    const { clock } = this.#deps;
    let answers = facts.answers;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const decision = decideBuild({ ...facts, answers });
      if (decision.questions.length === 0) return decision;
      const more = await answerQuestions(decision.questions, { registries, clock, signal });
      answers = new Map([...answers, ...more]);
    }
    throw new Error(`Cannot decide about "${facts.config.meta.name}": the questions have no end.`);
  }

  /** False if another client wrote first, which invalidates the decision. */
  async #apply(
    { effects }: ReconcileDecision,
    facts: BuildFacts,
    work: { readonly registries: BuildRegistries; readonly deletions: Deletions; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const { api, clock, log, metrics, settings: { namespace } } = this.#deps;
    const { pool } = facts.config;
    const onDone = (done: AppliedEffect): void => {
      if (done.kind === "publishing ended") metrics.published(pool, done.outcome, done.ms);
      if (done.kind === "deletion of an image") work.deletions.note(done.reference, done.result);
      log.info(`image builds: ${done.kind}`, { pool, ...done });
    };
    const deps = { ...work, api, namespace, clock, onDone, records: new Map() };
    try {
      for (const effect of effects) await applyEffect(effect, facts, deps);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  #log(config: string, { reason, effects, view: { state, problem } }: ReconcileDecision): void {
    const { log } = this.#deps;
    const kinds = Map.groupBy(effects, ({ kind }) => kind).entries();
    const counts = kinds.map(([kind, { length }]) => length === 1 ? kind : `${kind} (${length})`);
    const fields = { config, reason, state, problem: problem?.reason, effects: [...counts].join(", ") };
    if (effects.length > 0) log.info("image builds: decided", fields);
    else log.debug("image builds: nothing to do", fields);
  }

  #record({ on, name, type, reason, message }: BuildEvent, { config, pool, builds }: BuildFacts): void {
    const build = builds.find(({ meta }) => meta.name === name);
    const uid = { config: config.meta.uid, pool: pool?.uid, build: build?.meta.uid }[on];
    const object = eventObjectOf(KINDS[on], { name, ...uid === undefined ? {} : { uid } });
    this.#deps.events.record({ object, type, reason, message });
  }

  async #cleanUp(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { api, events, log, settings: { namespace } } = this.#deps;
    this.#checked.delete(name);
    if (this.#views.delete(name)) {
      const message = "Its builds go, and their images once no node runs them.";
      const object = eventObjectOf(Resource.machineOsConfigs, { name });
      events.record({ object, type: "Normal", reason: "ConfigDeleted", message });
    }
    const deletions = new Deletions();
    const outcome = await cleanUpConfig(name, {
      api,
      watches: this.#watches,
      namespace,
      signal,
      openRegistries: (secrets) => this.#registries(secrets, signal),
      onImage: (reference, result) => {
        const fields = { config: name, reference, result: result.kind };
        if (result.kind === "unknown") {
          return log.warn("image builds: cannot delete an image, trying again", { ...fields, error: result.message });
        }
        log.info("image builds: deletion of an image", fields);
        deletions.note(reference, result);
      },
    });
    deletions.report(events, { name });
    return outcome === "done" ? DONE : requeueAfter(DELETE_AGAIN_MS);
  }
}

function changeKeyOf(
  { meta: { uid, generation, annotations }, pool }: MachineOSConfig,
  { pools, nodes }: BuildWatches,
): string {
  const architectures = [...new Set([...nodes.values()].map((node) => node.reportedArchitecture))].sort();
  return JSON.stringify([uid, generation, annotations, pools.get(pool)?.configuration, architectures]);
}

const WHY_KEPT: Readonly<Partial<Record<DeletionResult["kind"], string>>> = {
  denied: "the push secret may not delete there",
  unsupported: "the registry deletes nothing",
  unknown: "the registry did not answer as it should",
};

export class Deletions {
  /** References by the reason why they are kept. */
  readonly #kept = new Map<string, string[]>();

  note(reference: string, result: DeletionResult): void {
    const why = whyKept(result);
    if (why !== undefined) this.#kept.set(why, [...this.#kept.get(why) ?? [], reference]);
  }

  report(events: EventRecorder, { name, uid }: { readonly name: string; readonly uid?: string | undefined }): void {
    if (this.#kept.size === 0) return;
    const kept = [...this.#kept].map(([why, references]) => `${references.join(", ")} (${why})`);
    const message = `Images stay in the registry: ${kept.join(", ")}. Delete them there.`;
    const object = eventObjectOf(Resource.machineOsConfigs, { name, ...uid === undefined ? {} : { uid } });
    events.record({ object, type: "Warning", reason: "ImageNotDeleted", message });
  }
}

/** Undefined when the image is not kept, or belongs to others. */
function whyKept(result: DeletionResult): string | undefined {
  if (result.kind !== "forbidden") return WHY_KEPT[result.kind];
  const right = "delete imagestreamtags.image.openshift.io";
  return `the account of image builds lacks the right to ${right} in the namespace "${result.namespace}"`;
}
