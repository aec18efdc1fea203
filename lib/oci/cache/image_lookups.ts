// Decides when an image is looked up, and which requests share the answer. A request does not share a look-up that
// began too early for it, but waits for the next one. Look-ups of an image keep to a rate, however many pods pull it
// with `Always`.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import { SharedCalls } from "../shared_calls.ts";
import type { Callers } from "../callers.ts";
import type { InspectionReport } from "../inspection_request.ts";
import { atMost } from "../cache_limits.ts";

interface LookupRequest {
  /** The earliest time at which a look-up that answers may have begun (monotonic ms). */
  readonly lookupSinceMs: number;
  readonly callers: Callers;
  readonly signal: AbortSignal;
}

type Lookup = (callers: Callers, signal: AbortSignal) => Promise<InspectionReport>;

export const LOOKUPS_PER_SECOND = 4;
/** How many look-ups of an image may begin at once; later ones begin at this interval (ms). */
const BURST = 2;
const INTERVAL_MS = 1_000 / LOOKUPS_PER_SECOND;
/** Images whose look-ups are counted: pods may name any number of them. */
const MAX_COUNTED = 5_000;

interface LookupState {
  running: { readonly number: number; readonly beganAtMs: number } | undefined;
  /** The number of the planned look-up, which has not begun yet; undefined: none is planned. */
  next: number | undefined;
  /** When the look-ups of the last second began (monotonic ms), oldest first. */
  beginnings: readonly number[];
}

export class ImageLookups {
  readonly #clock: Clock;
  readonly #calls: SharedCalls<InspectionReport>;
  readonly #images = new LRUCache<string, LookupState>(atMost(MAX_COUNTED));
  /** The number of the last look-up of all images. */
  #last = 0;

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
    this.#calls = new SharedCalls({ clock: options.clock });
  }

  /** Gives the answer of a look-up that is recent enough. Rejects as the look-up does, or with the signal's reason. */
  share(key: string, { lookupSinceMs, callers, signal }: LookupRequest, lookUp: Lookup): Promise<InspectionReport> {
    const image: LookupState = this.#images.get(key) ?? { running: undefined, next: undefined, beginnings: [] };
    this.#images.set(key, image);
    const { running } = image;
    const mayJoin = running !== undefined && running.beganAtMs >= lookupSinceMs;
    const number = mayJoin ? running.number : image.next ??= ++this.#last;
    return this.#calls.run(String(number), { callers, signal }, async (allCallers, sharedSignal) => {
      await this.#awaitTurn(image, sharedSignal);
      // A look-up whose callers all left before it began stays planned: the next caller gets it instead of a later one.
      if (image.next === number) image.next = undefined;
      const began = { number, beganAtMs: this.#clock.monotonicMs() };
      image.running = began;
      try {
        return await lookUp(allCallers, sharedSignal);
      } finally {
        if (image.running === began) image.running = undefined;
      }
    });
  }

  /** Waits until a look-up may begin, and counts it. An aborted wait is not counted and delays no other look-up. */
  async #awaitTurn(image: LookupState, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const nowMs = this.#clock.monotonicMs();
      const beginMs = nextBeginning(image.beginnings, nowMs);
      if (beginMs <= nowMs) {
        image.beginnings = [...image.beginnings.filter((atMs) => atMs > nowMs - 1_000), nowMs];
        return;
      }
      await this.#clock.sleep(beginMs - nowMs, signal);
    }
  }
}

/** When the next look-up may begin, after those at `beginnings` (ms, oldest first): within half a second of now. */
export function nextBeginning(beginnings: readonly number[], nowMs: number): number {
  const recent = beginnings.filter((atMs) => atMs > nowMs - 1_000);
  const last = recent.at(-1);
  if (last === undefined || recent.length < BURST) return nowMs;
  const full = recent.at(-LOOKUPS_PER_SECOND);
  return Math.max(nowMs, last + INTERVAL_MS, full === undefined ? 0 : full + 1_000);
}
