// One spelling for each registry host, because limits, logins, certificates and configuration are looked up by host.

export const DOCKER_HUB = "docker.io";

export const DOCKER_HUB_HOST = "registry-1.docker.io";

const DOCKER_HUB_NAMES: readonly string[] = [DOCKER_HUB, "index.docker.io", DOCKER_HUB_HOST];

/** A `host[:port]` in lower case. The port is a plain number, and is left out when it is 443. */
export function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  const [, name = lower, port] = /^(.+):(\d+)$/.exec(lower) ?? [];
  const plainName = name.startsWith("[") && URL.canParse(`https://${name}`) ? new URL(`https://${name}`).host : name;
  return port === undefined || Number(port) === 443 ? plainName : `${plainName}:${Number(port)}`;
}

/** A `host[:port]` or `host[:port]/path…` with its host in canonical spelling. A text with a scheme stays as it is. */
export function canonicalName(name: string): string {
  if (name.includes("://")) return name;
  const slash = name.indexOf("/");
  return slash < 0 ? canonicalHost(name) : canonicalHost(name.slice(0, slash)) + name.slice(slash);
}

/** The form in which hosts are compared: canonical, with Docker Hub's names made one. */
export function hostKey(host: string): string {
  const canonical = canonicalHost(host);
  return DOCKER_HUB_NAMES.includes(canonical) ? DOCKER_HUB : canonical;
}

/** Whether a text is `HOST` or `HOST:PORT`, as flags take it. The host may have underscores, and a dot at its end. */
export function isRegistryHost(text: string): boolean {
  return /^(\w([\w.-]*\w)?\.?|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/.test(text);
}
