// Which failures are reported: a container once a minute, and in all no more than the API server is to bear.

type ReportVerdict = "report" | "repeated" | "limited";

interface ReportLimits {
  readonly windowMs: number;
  /** Containers that are remembered; beyond that the oldest is forgotten, and may be reported again. */
  readonly maxContainers: number;
  /** Reports a second over a long time; `burst`: reports at once after a quiet one. */
  readonly perSecond: number;
  readonly burst: number;
}

/** A node has a few hundred containers at most, and one that restarts without end does so every five minutes. */
export const REPORT_LIMITS: ReportLimits = { windowMs: 60_000, maxContainers: 4_096, perSecond: 10, burst: 100 };

/** Times are monotonic (ms). Memory is bounded by `maxContainers`. */
export class ReportFilter {
  readonly #limits: ReportLimits;
  /** When each container was last reported, the oldest first. */
  readonly #reportedMs = new Map<string, number>();
  #tokens: number;
  #filledMs = -Infinity;

  constructor(limits: ReportLimits) {
    this.#limits = limits;
    this.#tokens = limits.burst;
  }

  judge(containerId: string, nowMs: number): ReportVerdict {
    const { windowMs, maxContainers } = this.#limits;
    const lastMs = this.#reportedMs.get(containerId);
    if (lastMs !== undefined && nowMs - lastMs < windowMs) return "repeated";
    if (!this.#takeToken(nowMs)) return "limited";
    this.#reportedMs.delete(containerId);
    this.#reportedMs.set(containerId, nowMs);
    const [oldest] = this.#reportedMs.keys();
    if (oldest !== undefined && this.#reportedMs.size > maxContainers) this.#reportedMs.delete(oldest);
    return "report";
  }

  #takeToken(nowMs: number): boolean {
    const { perSecond, burst } = this.#limits;
    const filled = this.#tokens + (nowMs - this.#filledMs) * perSecond / 1_000;
    this.#tokens = Math.min(burst, filled);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
