// What a search for planted secrets needs: every form a secret may hide in, and ears for all that is said and stored.
import assert from "node:assert/strict";
import type { KeyValueStore } from "../../lib/kv/store.ts";
import type { LogFields, Logger } from "../../lib/log.ts";

/** Fails when any of the secrets stands in what was said, in any encoding it could have taken. */
export function assertSilent(said: string, secrets: readonly string[]): void {
  for (const secret of secrets) {
    for (const form of formsOf(secret)) if (said.includes(form)) assert.fail(`found ${form} in ${said}`);
  }
}

/** Every form in which a text could hide in another one. */
function formsOf(secret: string): readonly string[] {
  const quoted = JSON.stringify(secret).slice(1, -1);
  const bytes = new TextEncoder().encode(secret);
  return [secret, quoted, encodeURIComponent(secret), bytes.toHex(), bytes.toBase64()];
}

/** A logger that keeps all lines. */
export function openListeningLogger(lines: string[]): Logger {
  const keep = (message: string, fields: LogFields = {}): void => void lines.push(JSON.stringify([message, fields]));
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep, with: () => logger };
  return logger;
}

/** Keys and values of a store as text. */
export async function contentOf(kv: KeyValueStore): Promise<string> {
  const entries: unknown[] = [];
  for await (const { key, value } of kv.list([])) entries.push(key, value);
  return JSON.stringify(entries);
}
