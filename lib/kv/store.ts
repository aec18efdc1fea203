// A key-value store as its users see it: one that may lose any entry, and never makes them wait for long.

export type StoreKey = readonly (string | number)[];

/** One entry of a listing. The value is unknown: another version may have written it. */
export interface StoreEntry {
  readonly key: StoreKey;
  readonly value: unknown;
  readonly bytes: number;
}

/** Never rejects, never hangs: a fault is a miss when reading, `false` when writing. Any entry may be lost. */
export interface KeyValueStore {
  get(key: StoreKey): Promise<unknown>;
  /** Whether the value, plain data, was acknowledged; then it survives the end of the process. */
  set(key: StoreKey, value: unknown): Promise<boolean>;
  create(key: StoreKey, value: unknown): Promise<boolean>;
  delete(key: StoreKey): Promise<boolean>;
  /** All entries below the prefix, in order of their keys. Ends early on a fault: compare {@link cutListingCount}. */
  list(prefix: StoreKey): AsyncIterable<StoreEntry>;
  cutListingCount(): number;
  faultCount(): number;
  close(): Promise<void>;
}
