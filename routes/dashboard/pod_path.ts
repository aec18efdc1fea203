// Where the page of a pod is.

export const POD_PAGE = "/pods/:namespace/:pod";

export function podPath(namespace: string, pod: string): string {
  return `/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
}
