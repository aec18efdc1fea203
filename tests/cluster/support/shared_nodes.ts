// The nodes of most tests.
import type { NodeSpec } from "./cluster_access.ts";

export const SHARED_NODES: readonly NodeSpec[] = ["amd64", "arm64", "ppc64le", "s390x"].flatMap((arch) =>
  [1, 2].map((number) => ({ name: `${arch}-${number}`, arch }))
);
