// Which tests may be skipped in continuous integration, and why. Pure: the caller says what the machine has.
import type { Need } from "../support/needs.ts";

/** Tests that need something which a CI machine may lack. */
export interface AllowedSkip {
  /** The beginnings of their names. */
  readonly tests: readonly string[];
  readonly need: Need;
  readonly reason: string;
}

/** Everything else that is skipped fails the run of `.ci/run`, which brings kubectl, skopeo, chromium and faketime. */
export const ALLOWED_SKIPS: readonly AllowedSkip[] = [
  {
    tests: [
      "openDenoKv() lets replicas share what one of them has learnt",
      "ImageCache works through the loss of the server",
      "openDenoKv() goes on with misses when its token is wrong",
      "registry cache: import into a KV Connect server and export from it",
      "chaos: KV: remote gone",
    ],
    need: "denokv",
    reason: "denokv is built with cargo, which the machine may not have",
  },
  {
    tests: [
      "openDenoKv() on a full disk loses writes only",
      "openDenoKv() starts on a full disk with its memory alone",
      "the bundle runs on the libraries of distroless/cc alone, as uid 65532, and places its samples",
      "chaos: KV: disk full",
    ],
    need: "root",
    reason: "a small disk is mounted and a bare root folder entered by root alone",
  },
  {
    tests: ["index assemble: images that buildah"],
    need: "root",
    reason: "buildah keeps its images in a folder of root's and mounts them",
  },
  {
    tests: ["ha: behind its Service, with its own certificates"],
    need: "address",
    reason: "an EndpointSlice takes no loopback address, and the machine may have no other",
  },
  {
    tests: [
      "run.json is of a clean commit",
      "deno task release refuses tests of rows",
      "what is compared was measured",
    ],
    need: "history",
    reason: "the sources may come without the commits before them",
  },
  {
    tests: ["node: exec format errors"],
    need: "traceableKernel",
    reason: "the kernel may have no type information (BTF) or no tracefs",
  },
  {
    tests: ["node: "],
    need: "nodeHost",
    reason: "kubelets need Linux on amd64, root and cgroup v1",
  },
];

export type SkipVerdict =
  | { readonly kind: "allowed"; readonly test: string; readonly reason: string }
  | { readonly kind: "forbidden"; readonly test: string };

/** A skip is allowed when it is listed and the machine really lacks what the test needs. */
export function judgeSkip(
  test: string,
  { allowed, lacks }: { readonly allowed: readonly AllowedSkip[]; readonly lacks: (need: Need) => boolean },
): SkipVerdict {
  const entry = allowed.find(({ tests, need }) => lacks(need) && tests.some((beginning) => test.startsWith(beginning)));
  return entry === undefined ? { kind: "forbidden", test } : { kind: "allowed", test, reason: entry.reason };
}

export interface Counts {
  readonly failed: number;
  readonly forbidden: number;
  /** Files and folders that were left out as a whole. */
  readonly left: number;
}

/**
 * What counts as failed: in a strict run also what was skipped without leave, and parts that were left out; these in any run that
 * names them.
 */
export function countFailed(
  { failed, forbidden, left }: Counts,
  { isStrict, chosen }: { readonly isStrict: boolean; readonly chosen: readonly string[] },
): number {
  return failed + (isStrict ? forbidden : 0) + (isStrict || chosen.length > 0 ? left : 0);
}
