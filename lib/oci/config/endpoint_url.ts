// Parses URLs of mirrors, as containerd and k3s write them, into the parts of an Endpoint.

/** A mirror's address, and the parts of its paths before and after the API root `/v2`. */
export interface EndpointUrl {
  readonly scheme: "https" | "http";
  readonly host: string;
  readonly pathPrefix: string;
  readonly repositoryPrefix: string;
}

/** `path`: `api` when the URL's path holds the API root (`override_path`). Undefined when it cannot be requested. */
export function parseEndpointUrl(text: string, options: { readonly path: "api" | "root" }): EndpointUrl | undefined {
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(withScheme)) return undefined;
  const { protocol, host, pathname, search, hash, username } = new URL(withScheme);
  const scheme = protocol === "https:" ? "https" : protocol === "http:" ? "http" : undefined;
  if (scheme === undefined || host === "" || search !== "" || hash !== "" || username !== "") return undefined;
  const path = pathname.replace(/\/+/g, "/").replace(/\/$/, "");
  const [, before = "", after] = /^(.*?)\/v2(?:\/(.*))?$/.exec(path) ?? [];
  const holdsRoot = /\/v2(\/|$)/.test(path);
  if (options.path === "api") {
    if (!holdsRoot) return undefined;
    return { scheme, host, pathPrefix: before, repositoryPrefix: after === undefined ? "" : `${after}/` };
  }
  return { scheme, host, pathPrefix: path.replace(/\/v2$/, ""), repositoryPrefix: "" };
}
