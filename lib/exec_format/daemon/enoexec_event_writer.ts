// Writes ENoExecEvents, one after the other: the object, then its status, as the MTO's tools read it.
import { backoffMs, type Clock, orAborted } from "../../clock.ts";
import { ignoring, type KubeApi } from "../../k8s/api.ts";
import { classifyWriteFailure, isConflict, isNotFound } from "../../k8s/api_error.ts";
import { Resource, type ResourceTarget } from "../../k8s/types.ts";
import { errorText, type Logger } from "../../log.ts";
import { ExecFormatMonitor } from "../../names.ts";
import { buildEnoexecEvent, type EventOwner, type ExecFailure } from "../decide/enoexec_event.ts";

export type WriteOutcome = "reported" | "repeated" | "overflow" | "refused";

interface EventWriterDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly observe: (outcome: WriteOutcome) => void;
}

/** Most failures that wait to be written, a few hundred bytes each. */
const MAX_WAITING = 1_000;
/** Attempts for one failure: with this backoff the last one is made 31 to 62 s after the first. */
const MAX_ATTEMPTS = 8;
const BACKOFF = { baseMs: 500, capMs: 30_000 } as const;

export class EnoexecEventWriter {
  readonly #deps: EventWriterDeps;
  readonly #waiting: ExecFailure[] = [];
  #wake: (() => void) | undefined;
  #owner: EventOwner | undefined;

  constructor(deps: EventWriterDeps) {
    this.#deps = deps;
  }

  get pending(): number {
    return this.#waiting.length;
  }

  add(failure: ExecFailure): void {
    if (this.#waiting.length >= MAX_WAITING) return this.#deps.observe("overflow");
    this.#waiting.push(failure);
    this.#wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [failure] = this.#waiting;
      if (failure === undefined) {
        await this.#waitForFailure(signal);
        continue;
      }
      const outcome = await this.#write(failure, signal);
      if (outcome === undefined) return;
      this.#waiting.shift();
      this.#deps.observe(outcome);
    }
  }

  async #waitForFailure(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await orAborted(promise, signal).catch(() => {});
    this.#wake = undefined;
  }

  /** Undefined when the signal aborted before the outcome was known. */
  async #write(failure: ExecFailure, signal: AbortSignal): Promise<WriteOutcome | undefined> {
    const { clock, log } = this.#deps;
    for (let attempt = 1;; attempt++) {
      try {
        const written = await this.#writeOnce(failure, signal);
        // An event that a retry finds is of an earlier attempt: its answer was lost, or its status was not written.
        return attempt > 1 ? "reported" : written;
      } catch (error) {
        if (signal.aborted) return undefined;
        const isLast = attempt >= MAX_ATTEMPTS || classifyWriteFailure(error) === "refused";
        const { podNamespace, podName, containerId } = failure;
        const fields = { pod: `${podNamespace}/${podName}`, containerId, error: errorText(error) };
        if (isLast) {
          log.warn("an exec format error could not be reported", fields);
          return "refused";
        }
        log.debug("an exec format error could not be reported yet", fields);
        await clock.sleep(backoffMs(attempt, BACKOFF), signal);
        if (signal.aborted) return undefined;
      }
    }
  }

  async #writeOnce(failure: ExecFailure, signal: AbortSignal): Promise<WriteOutcome> {
    const { api, log, namespace } = this.#deps;
    this.#owner ??= await this.#readOwner(signal);
    const { object, status } = buildEnoexecEvent(failure, this.#owner);
    const target = { namespace, name: object.metadata.name };
    const created = await ignoring(isConflict, api.create(Resource.enoexecEvents, object, { ...target, signal }));
    await this.#writeStatus(target, { status, signal });
    // An earlier event of this container is not handled yet, perhaps because its status was not written.
    if (created === undefined) return "repeated";
    const { podNamespace, podName, containerId, command } = failure;
    log.info("reported an exec format error", { pod: `${podNamespace}/${podName}`, containerId, command });
    return "reported";
  }

  async #writeStatus(
    target: ResourceTarget,
    { status, signal }: { readonly status: unknown; readonly signal: AbortSignal },
  ): Promise<void> {
    const { api } = this.#deps;
    const body = { kind: "merge", document: { status } } as const;
    try {
      await api.patch(Resource.enoexecEvents, { ...target, subresource: "status" }, { body, signal });
    } catch (error) {
      // The event was deleted meanwhile.
      if (isNotFound(error)) return;
      if (classifyWriteFailure(error) === "refused") {
        await api.delete(Resource.enoexecEvents, target, { signal }).catch(() => {});
      }
      throw error;
    }
  }

  /** The owner is read once, since this process ends with its DaemonSet. */
  async #readOwner(signal: AbortSignal): Promise<EventOwner> {
    const { api, namespace } = this.#deps;
    const name = ExecFormatMonitor.daemon;
    const { metadata: { uid = "" } } = await api.get(Resource.daemonSets, { namespace, name }, signal);
    return { namespace, name, uid };
  }
}
