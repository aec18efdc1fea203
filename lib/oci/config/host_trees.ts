// Configuration by host: containerd's tree, certs.d trees, registries.yaml.
import type { Parsed } from "../../parsed.ts";
import type { FileReader } from "../files/read_files.ts";
import { canonicalHost } from "../host_names.ts";
import { type HostTls, readHostDirectory, readHostTls } from "./host_tls.ts";
import { type HostsFile, parseHostsToml } from "./hosts_toml.ts";
import { parseRancherRegistries } from "./rancher_registries.ts";
import type { RancherSettings } from "./settings.ts";

/** `<dir>/<host>/hosts.toml`. Without that file, the directory may hold certificates, as in certs.d. */
export function loadHosts(dir: string | undefined, files: FileReader): ReadonlyMap<string, Parsed<HostsFile>> {
  const hosts = new Map<string, Parsed<HostsFile>>();
  for (const name of dir === undefined ? [] : hostNames(dir, files)) {
    const host = canonicalHost(name);
    if (hosts.has(host) && host !== name) continue;
    const folder = `${dir}/${name}`;
    const found = files.read(
      `${folder}/hosts.toml`,
      (text) => parseHostsToml(text, (tls) => readHostTls(tls, folder, files)),
    ) ?? hostsOfCertificates(readCertificates(folder, files));
    if (found !== undefined) hosts.set(host, found);
  }
  return hosts;
}

/** `<dir>/<host>/*.crt` and client pairs. The first tree with the host counts, even if its directory is empty. */
export function loadCerts(dirs: readonly string[], files: FileReader): ReadonlyMap<string, Parsed<HostTls>> {
  const hosts = new Map<string, Parsed<HostTls> | undefined>();
  for (const dir of dirs) {
    const names = hostNames(dir, files).filter((name) => !hosts.has(canonicalHost(name)));
    for (const name of names) hosts.set(canonicalHost(name), readCertificates(`${dir}/${name}`, files));
  }
  return new Map([...hosts].flatMap(([host, tls]) => tls === undefined ? [] : [[host, tls]]));
}

/** Loads registries.yaml. Nothing of a missing or broken file is used. */
export function loadRancher(path: string | undefined, files: FileReader): RancherSettings {
  const found = path === undefined ? undefined : files.readRequired(path, parseRancherRegistries);
  if (path === undefined || found?.kind !== "parsed") return { mirrors: new Map(), tls: new Map(), credentials: [] };
  const { mirrors, tls, credentials } = found.value;
  const folder = path.replace(/\/[^/]*$/, "");
  const loaded = [...tls].map(([host, entry]) =>
    [host, files.settle(`${path} (${host})`, readHostTls(entry, folder, files))] as const
  );
  return { mirrors, tls: new Map(loaded), credentials };
}

/** Undefined for a folder without certificates. */
function readCertificates(folder: string, files: FileReader): Parsed<HostTls> | undefined {
  const found = files.settle(folder, readHostDirectory(folder, files));
  if (found.kind === "unparsable") return found;
  const { caCertificates, clientCertificates } = found.value;
  return caCertificates.length + clientCertificates.length === 0 ? undefined : found;
}

/** The hosts file of a folder with certificates alone: the same as with an empty hosts.toml. */
function hostsOfCertificates(tls: Parsed<HostTls> | undefined): Parsed<HostsFile> | undefined {
  return tls?.kind === "parsed" ? parseHostsToml("", () => tls) : tls;
}

function hostNames(dir: string, files: FileReader): readonly string[] {
  return files.list(dir).filter((name) => !name.startsWith(".."));
}
