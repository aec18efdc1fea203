// What the environment of the process says of registries: whose home it is, and the proxies. Read by lib/config, used where
// planner and transport are opened. Pure.
import { NO_PROXIES, type ProxySettings, readProxySettings } from "../proxy.ts";

/** The environment as far as it matters here. */
export interface Surroundings {
  /** `$HOME`; undefined: nobody's. */
  readonly home: string | undefined;
  /** `$XDG_CACHE_HOME`, else `.cache` in the home. */
  readonly cacheHome: string | undefined;
  readonly proxies: ProxySettings;
}

/** An environment that says nothing. */
export const NO_SURROUNDINGS: Surroundings = { home: undefined, cacheHome: undefined, proxies: NO_PROXIES };

/** Reads the variables. A home that is no absolute path is none. */
export function readSurroundings(env: Readonly<Record<string, string | undefined>>): Surroundings {
  const folder = (path: string | undefined): string | undefined =>
    path?.startsWith("/") ? path.replace(/\/+$/, "") : undefined;
  const home = folder(env.HOME);
  const cacheHome = folder(env.XDG_CACHE_HOME) ?? (home === undefined ? undefined : `${home}/.cache`);
  return { home, cacheHome, proxies: readProxySettings(env) };
}
