// What a validating webhook is asked about, and what it answers.

/** The operation that is asked about. `object` is absent on DELETE, `oldObject` on CREATE. */
export interface AdmissionWrite {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly object: unknown;
  readonly oldObject: unknown;
}

/** The answer. `code` is an HTTP status with its Kubernetes reason. */
export type Validation =
  | { readonly kind: "allow"; readonly message?: string; readonly warnings: readonly string[] }
  | {
    readonly kind: "deny";
    readonly code: number;
    readonly reason: "BadRequest" | "Forbidden" | "Invalid" | "InternalError";
    readonly message: string;
  };
