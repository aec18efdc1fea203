// The environment variables for registries: the home folder, proxies, and where container tools keep logins.
import { NO_PROXIES, type ProxySettings, readProxySettings } from "../http/proxy.ts";

export interface RegistryEnvironment {
  readonly home: string | undefined;
  readonly cacheHome: string | undefined;
  readonly proxies: ProxySettings;
}

export interface SystemPaths {
  readonly registriesConf: string;
  readonly policy: string;
  /** certs.d trees; the first tree with a host counts for it. */
  readonly certsDirs: readonly string[];
  /** Files with short-name aliases; the first that exists counts. */
  readonly aliasCaches: readonly string[];
}

export function systemPaths({ home, cacheHome }: Omit<RegistryEnvironment, "proxies">): SystemPaths {
  return {
    registriesConf: "/etc/containers/registries.conf",
    policy: "/etc/containers/policy.json",
    certsDirs: [
      ...home === undefined ? [] : [`${home}/.config/containers/certs.d`],
      "/etc/containers/certs.d",
      "/etc/docker/certs.d",
    ],
    aliasCaches: [
      ...cacheHome === undefined ? [] : [`${cacheHome}/containers/short-name-aliases.conf`],
      "/var/cache/containers/short-name-aliases.conf",
    ],
  };
}

export const NO_REGISTRY_ENVIRONMENT: RegistryEnvironment = {
  home: undefined,
  cacheHome: undefined,
  proxies: NO_PROXIES,
};

export function readRegistryEnvironment(env: Readonly<Record<string, string | undefined>>): RegistryEnvironment {
  const folder = (path: string | undefined): string | undefined =>
    path?.startsWith("/") ? path.replace(/(?<!\/)\/+$/, "") : undefined;
  const home = folder(env.HOME);
  const cacheHome = folder(env.XDG_CACHE_HOME) ?? (home === undefined ? undefined : `${home}/.cache`);
  return { home, cacheHome, proxies: readProxySettings(env) };
}

/** REGISTRY_AUTH_FILE, even if that file is missing; else docker's file, in DOCKER_CONFIG or the home. */
export function loginFile(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): string | undefined {
  const { REGISTRY_AUTH_FILE: named, DOCKER_CONFIG: docker } = env;
  if (named) return named;
  const { home } = readRegistryEnvironment(env);
  const folder = docker || (home === undefined ? undefined : `${home}/.docker`);
  return folder !== undefined && exists(`${folder}/config.json`) ? `${folder}/config.json` : undefined;
}
