// Configuration by host: containerd's tree, certs.d trees, registries.yaml.
import { type HostTls, type LoadContext, readHostDirectory, readHostTls } from "./host_files.ts";
import { type HostsFile, parseHostsToml } from "./hosts_toml.ts";
import { type FileValue, LastGood, renderProblem } from "../files/last_good.ts";
import type { HostCertificates, LoadedTls } from "./pem.ts";
import type { Parsed } from "../../parsed.ts";
import { parseRancherRegistries, type RancherRegistries } from "./rancher_registries.ts";
import type { FileReader } from "../files/read_files.ts";
import { canonicalHost } from "../registry_host.ts";
import type { HostsDirectory, RancherSettings } from "./settings.ts";

export class HostTrees {
  readonly #hosts = new LastGood<HostsFile>();
  readonly #certs = new LastGood<HostCertificates>();
  readonly #tls = new LastGood<HostCertificates>();
  readonly #rancher = new LastGood<RancherRegistries>();

  /** `<dir>/<host>/hosts.toml`. Without that file, the directory may hold certificates, as in certs.d. */
  loadHosts(dir: string | undefined, context: LoadContext): ReadonlyMap<string, HostsDirectory> {
    const hosts = new Map<string, HostsDirectory>();
    for (const name of dir === undefined ? [] : hostNames(dir, context.files)) {
      const folder = `${dir}/${name}`;
      const parse = (text: string): Parsed<HostsFile> =>
        parseHostsToml(text, (tls) => readHostTls(tls, folder, context));
      const found = this.#hosts.read(`${folder}/hosts.toml`, { ...context, parse, origin: "named" });
      const known = found.kind === "missing" ? this.#hostsOfCertificates(folder, context) : found;
      const host = canonicalHost(name);
      if (hosts.has(host) && host !== name) continue;
      if (known.kind === "value") hosts.set(host, known.value);
      if (known.kind === "unparsable") hosts.set(host, { kind: "unparsable", message: renderProblem(known.problem) });
    }
    return hosts;
  }

  /** `<dir>/<host>/*.crt` and client pairs. The first tree with the host counts, even if its directory is empty. */
  loadCerts(dirs: readonly string[], context: LoadContext): ReadonlyMap<string, LoadedTls> {
    const tls = new Map<string, LoadedTls>();
    const seen = new Set<string>();
    for (const dir of dirs) {
      const names = hostNames(dir, context.files).filter((name) => !seen.has(canonicalHost(name)));
      for (const name of names) {
        const host = canonicalHost(name);
        seen.add(host);
        const found = this.#readCertificates(`${dir}/${name}`, context);
        if (!isEmpty(found)) tls.set(host, loadedTls(found, false));
      }
    }
    return tls;
  }

  /** Loads registries.yaml. If it was never readable, the problem is logged and its mirrors are not used. */
  loadRancher(path: string | undefined, context: LoadContext): RancherSettings | undefined {
    if (path === undefined) return undefined;
    const found = this.#rancher.read(path, { ...context, parse: parseRancherRegistries, origin: "named" });
    if (found.kind === "missing") context.problems.push({ file: path, message: "is missing" });
    if (found.kind !== "value") return undefined;
    const { mirrors, tls, credentials } = found.value;
    const loaded = [...tls].map(([host, entry]): readonly [string, LoadedTls] => {
      const parsed = readHostTls(entry, folderOf(path), context);
      return [host, loadedTls(this.#tls.settle(`${path} (${host})`, parsed, context.problems), entry.skipVerify)];
    });
    return { mirrors, tls: new Map(loaded), credentials };
  }

  #readCertificates(folder: string, context: LoadContext): FileValue<HostCertificates> {
    return this.#certs.settle(folder, readHostDirectory(folder, context), context.problems);
  }

  #hostsOfCertificates(folder: string, context: LoadContext): FileValue<HostsFile> {
    const found = this.#readCertificates(folder, context);
    if (found.kind !== "value") return found;
    if (isEmpty(found)) return { kind: "missing" };
    return {
      kind: "value",
      value: {
        kind: "parsed",
        mirrors: [],
        server: undefined,
        serverTls: loadedTls(found, false),
        serverCapabilities: { resolves: true, pulls: true },
        serverHeaders: {},
      },
    };
  }
}

function loadedTls(found: FileValue<HostCertificates>, skipVerify: HostTls["skipVerify"]): LoadedTls {
  if (found.kind === "value") return { kind: "parsed", skipVerify, certificates: found.value };
  return {
    kind: "unparsable",
    message: found.kind === "unparsable" ? renderProblem(found.problem) : "certificates are missing",
  };
}

function isEmpty(found: FileValue<HostCertificates>): boolean {
  return found.kind === "value" && found.value.caCertificates.length === 0 &&
    found.value.clientCertificates.length === 0;
}

function hostNames(dir: string, files: FileReader): readonly string[] {
  return files.list(dir).filter((name) => !name.startsWith(".."));
}

function folderOf(path: string): string {
  return path.replace(/\/[^/]*$/, "") || "/";
}
