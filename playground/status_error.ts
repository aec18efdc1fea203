// The API server's refusals: thrown anywhere in the playground, rendered as Kubernetes Status objects by the API
// server.
import type { JsonObject } from "../lib/json.ts";
import type { ResourceType } from "../lib/k8s/types.ts";

export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export function renderStatus({ status: code, reason, message }: StatusError): JsonObject {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}

/** `pods`, `deployments.apps`: how messages name a kind. */
function qualified(name: string, { group }: ResourceType): string {
  return group === "" ? name : `${name}.${group}`;
}

export function notFound(type: ResourceType, name: string): StatusError {
  const message = `${qualified(type.plural, type)} "${name}" not found`;
  return new StatusError(404, "NotFound", message);
}

export function unknownPath(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource");
}

export function alreadyExists(type: ResourceType, name: string): StatusError {
  const message = `${qualified(type.plural, type)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message);
}

const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 409: another client wrote first, or a precondition names another object. */
export function conflict(type: ResourceType, name: string, why = MODIFIED): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(type.plural, type)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message);
}

export function nameless(type: ResourceType): StatusError {
  const why = "metadata.name: Required value: name or generateName is required";
  return new StatusError(422, "Invalid", `${qualified(type.kind, type)} "" is invalid: ${why}`);
}

/** 422 without causes: a JSON Patch whose `test` failed or whose path does not exist. */
export function unapplicablePatch(): StatusError {
  return new StatusError(422, "Invalid", "the server rejected our request due to an error in our request");
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

/** 410: a resourceVersion from before the kept history. */
export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", message);
}

export function methodNotAllowed(): StatusError {
  return new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}
