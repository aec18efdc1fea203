// How pods of the walk end, by name.
import { archIn, type Expected } from "./scenario.ts";

export const FOUR = ["amd64", "arm64", "ppc64le", "s390x"];
export const A50 = `${archIn("amd64")}:50`;

/** Placed by its images: the labels of success, one term, and these preferences. */
export function placed(architectures: readonly string[], weights: readonly string[] = [A50]): Expected {
  const kind = architectures.length === 1 ? "single-arch" : "multi-arch";
  return {
    gate: "removed",
    required: "set",
    preferred: "set",
    architectures: [kind, ...architectures],
    terms: [archIn(...architectures)],
    weights,
  };
}

/** Placed by a big image. */
export const M4 = placed(FOUR);
/** Never gated. */
export const NEVER: Expected = { gate: "not-set", required: "not-set", preferred: "not-set" };
/** Released after the images could not be inspected. */
export const GIVEN_UP: Expected = {
  gate: "removed",
  required: "not-set",
  preferred: "set",
  weights: [A50],
  labels: { "image-inspect-error-count": "5" },
};
/** Placed by the user, scored by the config. */
export const PREFERRED_ONLY: Expected = { gate: "removed", required: "not-set", preferred: "set", weights: [A50] };
