// ConversionReview in and out: each object through lib/operator/decide/convert.ts, order preserved. Mounted at
// /convert.
//
// | what arrives                          | what leaves                                          |
// |---------------------------------------|------------------------------------------------------|
// | a review                              | 200, Success with every object converted             |
// | a review with an inconvertible object | 200, Failure with the reason; nothing half-converted |
// | anything else                         | undefined: the caller answers 400                    |
import { convertObject } from "../lib/operator/decide/convert.ts";
import { listAt, objectAt, textAt } from "../lib/json.ts";

export function convertReview(body: unknown): Readonly<Record<string, unknown>> | undefined {
  const request = objectAt(body, "request");
  const uid = textAt(request, "uid");
  const objects = listAt(request, "objects");
  if (uid === "" || objects === undefined) return undefined;
  const conversions = objects.map((object) => convertObject(object, textAt(request, "desiredAPIVersion")));
  const failed = conversions.find((conversion) => conversion.kind === "failed");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: failed?.kind === "failed"
      ? { uid, convertedObjects: [], result: { status: "Failure", message: failed.message } }
      : {
        uid,
        convertedObjects: conversions.flatMap((conversion) => conversion.kind === "ok" ? [conversion.object] : []),
        result: { status: "Success" },
      },
  };
}
