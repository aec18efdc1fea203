// The API server's refusals: thrown anywhere in the playground, rendered as Kubernetes Status objects by the API server.
import type { ResourceType } from "../k8s/types.ts";
import type { JsonObject } from "./json_value.ts";

/** A field that was refused. */
export interface FieldCause {
  /** `FieldValueForbidden`, `FieldValueInvalid`, `FieldValueRequired`… */
  readonly reason: string;
  /** Path of the field: `spec.nodeSelector`. */
  readonly field: string;
  /** For users. */
  readonly message: string;
}

/** A refusal: HTTP status, Status reason and, where fields were judged, their causes. */
export class StatusError extends Error {
  /** Distinguishes it from other errors in logs. */
  override readonly name = "StatusError";
  /** HTTP status. */
  readonly status: number;
  /** `NotFound`, `Conflict`, `Invalid`… */
  readonly reason: string;
  /** Empty when there are none. */
  readonly details: JsonObject;

  /** `message` is for users. */
  constructor(status: number, reason: string, rest: { readonly message: string; readonly details?: JsonObject }) {
    super(rest.message);
    this.status = status;
    this.reason = reason;
    this.details = rest.details ?? {};
  }
}

/** The Status object that goes on the wire. */
export function renderStatus(error: StatusError): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: error.message,
    reason: error.reason,
    ...(Object.keys(error.details).length === 0 ? {} : { details: error.details }),
    code: error.status,
  };
}

/** `pods`, `deployments.apps`: how messages name a kind. */
function groupResource(type: ResourceType): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}

function detailsOf(type: ResourceType, name: string): JsonObject {
  return { name, ...(type.group === "" ? {} : { group: type.group }), kind: type.plural };
}

/** 404: no such object. */
export function notFound(type: ResourceType, name: string): StatusError {
  const message = `${groupResource(type)} "${name}" not found`;
  return new StatusError(404, "NotFound", { message, details: detailsOf(type, name) });
}

/** 404: no such path. */
export function unknownPath(): StatusError {
  return new StatusError(404, "NotFound", { message: "the server could not find the requested resource" });
}

/** 409: an object of that name exists. */
export function alreadyExists(type: ResourceType, name: string): StatusError {
  const message = `${groupResource(type)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", { message, details: detailsOf(type, name) });
}

/** 409: another client wrote first, or a precondition names another object. */
export function conflict(type: ResourceType, name: string, why = ""): StatusError {
  const modified = "the object has been modified; please apply your changes to the latest version and try again";
  const message = `Operation cannot be fulfilled on ${groupResource(type)} "${name}": ${why === "" ? modified : why}`;
  return new StatusError(409, "Conflict", { message, details: detailsOf(type, name) });
}

/** 422 with the refused fields. */
export function invalid(type: ResourceType, name: string, causes: readonly FieldCause[]): StatusError {
  const listed = causes.map((cause) => `${cause.field}: ${cause.message}`).join(", ");
  const qualified = type.group === "" ? type.kind : `${type.kind}.${type.group}`;
  return new StatusError(422, "Invalid", {
    message: `${qualified} "${name}" is invalid: ${listed}`,
    details: { ...detailsOf(type, name), kind: type.kind, causes },
  });
}

/** 422 without causes: a JSON Patch whose `test` failed or whose path does not exist. */
export function unapplicablePatch(): StatusError {
  return new StatusError(422, "Invalid", {
    message: "the server rejected our request due to an error in our request",
  });
}

/** 400: the request itself makes no sense. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", { message });
}

/** 410: a resourceVersion or continue token from before the kept history. */
export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", { message });
}

/** 405: the kind has no such verb. */
export function methodNotAllowed(): StatusError {
  return new StatusError(405, "MethodNotAllowed", {
    message: "the server does not allow this method on the requested resource",
  });
}
