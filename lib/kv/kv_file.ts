// The file of the local database: its folder is made, and a damaged one is set aside for inspection.
import { dirname } from "node:path";
import { errorText, type Logger } from "../log.ts";
import { PROBE_KEY } from "./keys.ts";

const BROKEN = /not a database|malformed|disk image|unsupported file format/i;
/** The database and the files that SQLite keeps beside it; a journal left behind would be applied to the new file. */
const SUFFIXES = ["", "-wal", "-shm", "-journal"] as const;

/** One file, opened again and again; at most one handle at a time, since two handles lock each other out. */
export class KvFile {
  readonly #path: string;
  readonly #log: Logger;
  #damage: string | undefined;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** Notes a fault in use. When it means damage, the next {@link open} starts with a new file. */
  note(error: unknown): void {
    const reason = errorText(error);
    if (BROKEN.test(reason)) this.#damage = reason;
  }

  /** Opens and tries the file; a damaged one is replaced. Rejects when it cannot be used at all. */
  async open(): Promise<Deno.Kv> {
    if (this.#damage !== undefined) await this.#setAside(this.#damage);
    try {
      return await this.#openOnce();
    } catch (error) {
      this.note(error);
      if (this.#damage === undefined) throw error;
      await this.#setAside(this.#damage);
      return await this.#openOnce();
    }
  }

  async #openOnce(): Promise<Deno.Kv> {
    await Deno.mkdir(dirname(this.#path), { recursive: true });
    const kv = await Deno.openKv(this.#path);
    try {
      await kv.get([...PROBE_KEY]);
      return kv;
    } catch (error) {
      kv.close();
      throw error;
    }
  }

  async #setAside(reason: string): Promise<void> {
    // Always one name, so that a failing disk does not fill itself with damaged files.
    const aside = `${this.#path}.broken`;
    for (const suffix of SUFFIXES) await moveIfThere(this.#path + suffix, aside + suffix);
    this.#damage = undefined;
    this.#log.warn("the cache file is damaged; set aside, starting a new one", { path: this.#path, aside, reason });
  }
}

async function moveIfThere(from: string, to: string): Promise<void> {
  try {
    await Deno.rename(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
