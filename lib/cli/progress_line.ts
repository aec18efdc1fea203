// The progress of a command, in one line of a terminal that is overwritten.
import type { Clock } from "../clock.ts";

/** Least time between two updates (ms), so that users can read them. */
const EVERY_MS = 200;
const ERASE = "\r\x1b[K";

const MIB = 1024 * 1024;

export class ProgressLine {
  readonly #write: (text: string) => void;
  readonly #clock: Clock;
  readonly #startMs: number;
  #shownMs = -Infinity;
  #isShown = false;

  constructor({ write, clock }: { readonly write: (text: string) => void; readonly clock: Clock }) {
    this.#write = write;
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  show(progress: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#shownMs < EVERY_MS) return;
    this.#shownMs = nowMs;
    this.#isShown = true;
    const seconds = Math.round((nowMs - this.#startMs) / 1_000);
    this.#write(`${ERASE}${progress}, ${seconds} s`);
  }

  clear(): void {
    if (this.#isShown) this.#write(ERASE);
    this.#isShown = false;
  }
}

/** `Copying registry/app:v1-arm64: 12.5 of 60.0 MiB (20 %)`. Pure. */
export function renderProgress(
  { image, doneBytes, totalBytes }: {
    readonly image: string;
    readonly doneBytes: number;
    readonly totalBytes: number;
  },
): string {
  const percent = totalBytes === 0 ? 100 : Math.floor(doneBytes / totalBytes * 100);
  return `Copying ${image}: ${renderMib(doneBytes)} of ${renderMib(totalBytes)} MiB (${percent} %)`;
}

/** Bytes as MiB with one digit: `0.1`. */
export function renderMib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
