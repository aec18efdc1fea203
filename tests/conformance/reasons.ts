// Why a row has no test that carries its id. Read by the generator; a test that carries the id counts first.

/** One reason for some rows. */
export type Reason =
  | {
    /** Ids as at the head of a test's name; ranges as `UT-01..13` or `47-59`. */
    readonly ids: readonly string[];
    readonly status: "different" | "not yet";
    readonly why: string;
  }
  | {
    readonly ids: readonly string[];
    /** The test named by `by` proves these rows although its name does not carry them. */
    readonly status: "covered";
    readonly why: string;
    readonly by: string;
  };

/** Looked through in order; the first that names a row speaks for it. */
export const REASONS: readonly Reason[] = [];
