import assert from "node:assert/strict";
import { kubeconfigPath } from "../../../lib/k8s/cluster_access.ts";

const CASES: readonly {
  readonly given?: string;
  readonly home?: string;
  readonly files: readonly string[];
  readonly path: string | undefined;
}[] = [
  { given: "/a", home: "/h", files: ["/a", "/h/.kube/config"], path: "/a" },
  { given: "/a", home: "/h", files: ["/h/.kube/config"], path: "/a" },
  { given: "/a:/b", files: ["/b"], path: "/b" },
  { given: "/a:/b", files: ["/a", "/b"], path: "/a" },
  { given: ":/b", files: ["/b"], path: "/b" },
  { given: "/a:b", files: ["/a:b", "/a"], path: "/a:b" },
  { given: "/a:/b", home: "/h", files: ["/h/.kube/config"], path: "/a:/b" },
  { home: "/h", files: ["/h/.kube/config"], path: "/h/.kube/config" },
  { home: "/h", files: [], path: undefined },
  { files: ["/.kube/config"], path: undefined },
];

Deno.test("kubeconfigPath() takes the first file that is there, else that of the home, else none", () => {
  for (const { given, home, files, path } of CASES) {
    const exists = (file: string): boolean => files.includes(file);
    assert.equal(kubeconfigPath({ given, home, exists }), path, JSON.stringify({ given, home, files }));
  }
});
