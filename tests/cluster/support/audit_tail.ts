// Follows an audit log as it grows: each line is read and parsed once, however often a test looks at it.
import { readUses, type Use } from "./rights.ts";

const NEWLINE = 10;

export class AuditTail {
  readonly #file: string;
  readonly #username: string;
  readonly #uses: Use[] = [];
  #offset = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(file: string, username: string) {
    this.#file = file;
    this.#username = username;
  }

  async uses(): Promise<readonly Use[]> {
    const reading = this.#reading.catch(() => {}).then(() => this.#readOn());
    this.#reading = reading;
    await reading;
    return this.#uses;
  }

  async #readOn(): Promise<void> {
    using file = await Deno.open(this.#file);
    await file.seek(this.#offset, Deno.SeekMode.Start);
    const bytes = await new Response(file.readable).bytes();
    // The last line may still be half written.
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    this.#uses.push(...readUses(new TextDecoder().decode(bytes.subarray(0, end)), this.#username));
    this.#offset += end;
  }
}
