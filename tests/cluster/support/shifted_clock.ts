// A wall clock that a test shifts for one child process, by Debian's libfaketime. Timers go on: only the date jumps, as when
// an administrator or a time daemon sets it.
import { replaceFile } from "../../support/replace_file.ts";

const LIBRARY = "/faketime/libfaketimeMT.so.1";

/** Where the library is; undefined where `faketime` is not installed. */
export function findFaketime(): string | undefined {
  const folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
  return folders.map((folder) => `${folder}${LIBRARY}`).find((file) => {
    try {
      return Deno.statSync(file).isFile;
    } catch {
      return false;
    }
  });
}

export class ShiftedClock implements AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  readonly #file: string;

  private constructor(library: string, file: string) {
    this.#file = file;
    this.env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** A clock that goes right until it is shifted. Throws where the library is missing. */
  static async open(): Promise<ShiftedClock> {
    const library = findFaketime();
    if (library === undefined) throw new Error("Cannot shift a clock: libfaketime is missing. Install faketime.");
    const clock = new ShiftedClock(library, await Deno.makeTempFile({ prefix: "archway-clock-" }));
    await clock.shift(0);
    return clock;
  }

  async shift(seconds: number): Promise<void> {
    // A half-written file would be another date.
    await replaceFile(this.#file, `${seconds < 0 ? "" : "+"}${seconds}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#file);
  }
}
