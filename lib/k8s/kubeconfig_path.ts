// Which kubeconfig file is read, by the rules of kubectl.

/** The path that was given, and the home folder with the default file. */
export interface KubeconfigPlaces {
  /** Of the flag or KUBECONFIG: one path, or several with colons between them. */
  readonly given: string | undefined;
  /** Home of the user; undefined where no default file is to be looked for, as in a pod. */
  readonly home: string | undefined;
  /** Whether there is a file of this path. */
  readonly exists: (path: string) => boolean;
}

/**
 * The file to read; undefined when nothing names one and the home has none. Of several the first that is there counts:
 * kubectl merges them. What was given and is not there is answered as it is, for the error to name it.
 */
export function kubeconfigPath({ given, home, exists }: KubeconfigPlaces): string | undefined {
  if (given !== undefined) return [given, ...given.split(":")].find((path) => path !== "" && exists(path)) ?? given;
  const path = `${home ?? ""}/.kube/config`;
  return home !== undefined && exists(path) ? path : undefined;
}
