// Decides which failures are reported: one a minute per container, and in all no more than the API server should bear.
import { TokenBucket, type TokenRate } from "../../server/token_bucket.ts";

type FilterResult = "report" | "repeated" | "limited";

interface ReportLimits extends TokenRate {
  readonly windowMs: number;
  /** Containers that are remembered; beyond that the oldest is forgotten, and may be reported again. */
  readonly maxContainers: number;
}

/** A node has a few hundred containers at most, and one that restarts without end does so every five minutes. */
export const REPORT_LIMITS: ReportLimits = { windowMs: 60_000, maxContainers: 4_096, perSecond: 10, burst: 100 };

/** Times are monotonic (ms). Memory is bounded by `maxContainers`. */
export class ReportFilter {
  readonly #limits: ReportLimits;
  /** When each container was last reported, the oldest first. */
  readonly #reportedMs = new Map<string, number>();
  readonly #tokens: TokenBucket;

  constructor(limits: ReportLimits) {
    this.#limits = limits;
    this.#tokens = new TokenBucket(limits);
  }

  judge(containerId: string, nowMs: number): FilterResult {
    const { windowMs, maxContainers } = this.#limits;
    const lastMs = this.#reportedMs.get(containerId);
    if (lastMs !== undefined && nowMs - lastMs < windowMs) return "repeated";
    if (this.#tokens.left(nowMs) < 1) return "limited";
    this.#tokens.add(-1);
    this.#reportedMs.delete(containerId);
    this.#reportedMs.set(containerId, nowMs);
    const [oldest] = this.#reportedMs.keys();
    if (oldest !== undefined && this.#reportedMs.size > maxContainers) this.#reportedMs.delete(oldest);
    return "report";
  }
}
