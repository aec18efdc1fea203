// What a validating webhook is asked about, and what it answers.

/** What is to be done to an object. `object` is absent on DELETE, `oldObject` on CREATE. */
export interface AdmissionWrite {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** Empty for an object of the cluster. */
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
